"""The site in a real browser: nothing fails or is fetched, and it can be used, by hand, by keys and on a phone."""

from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.tab import Tab

VIEWS = (
    "overview", "requirements", "tests", "flakes", "consistency", "causes", "chaos", "failures", "logs", "trends",
    "growth", "code", "nights", "compare", "aside", "environment", "glossary",
)  # fmt: skip
LINKS = "[...document.querySelectorAll('.bar nav a')]"
HEADS = "document.querySelectorAll('#tests thead button')"
PASS_RATE = 4


def _go(tab: Tab, view: str) -> None:
    """Click the view's link, as a reader would, until a screen reader would say its title.

    That it is shown would not do: the first view is, before the page has seen the click.
    """
    tab.click(f"""{LINKS}.find((link) => link.getAttribute('href') === '#{view}')""")
    shown = f"probes.shownViews().join() === '{view}'"
    tab.until(f"{shown} && document.activeElement === document.querySelector('#{view} h1')", f"{view} alone, read out")


def _unfold(tab: Tab) -> None:
    """Show what is shown only when asked for."""
    tab.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


def _pass_rates(tab: Tab) -> list[float]:
    """Of all rows of the tests' table, as a reader sees them, from top to bottom."""
    cells: list[str] = tab.run("[...document.querySelectorAll('#tests td.rate')].map((cell) => cell.innerText)")
    return [float(each.strip("<> ").partition("%")[0]) for each in cells]


def test_nothing_fails_and_nothing_is_asked_for(tab: Tab, site: Path) -> None:
    """Over all views, sorted, searched and recoloured: no error, no warning, and no request but for the page itself."""
    tab.open(site)
    for view in VIEWS:
        _go(tab, view)
        tab.run("document.querySelectorAll('.view:not([hidden]) thead button').forEach((head) => head.click())")
    tab.run("document.getElementById('query').focus()")
    tab.write("record")
    tab.until("probes.shownViews().join() === 'found'", "search results")
    tab.click("document.getElementById('theme')")
    assert tab.complaints == []
    assert [unquote(url) for url in tab.requests] == [f"file://{site}"]


def test_every_view_is_reached_by_its_link(tab: Tab, site: Path) -> None:
    """A click shows this view and no other, marks its link, and puts the focus on its title; back leads back."""
    tab.open(site)
    assert tab.run(f"{LINKS}.map((link) => link.hash.slice(1))") == list(VIEWS)
    for view in VIEWS:
        _go(tab, view)
        assert tab.run("document.querySelector('.bar a[aria-current]').hash") == f"#{view}"
        assert tab.run("scrollY") == 0
    tab.run("history.back()")
    tab.until(f"probes.shownViews().join() === '{VIEWS[-2]}'", "the view before")


def test_every_link_inside_leads_to_a_view_or_a_file(tab: Tab, site: Path) -> None:
    """Each address of the page shows one view; each other link is relative, and its file is there."""
    tab.open(site)
    links: list[list[str]] = tab.run("[...document.links].map((link) => [link.getAttribute('href'), link.href])")
    for address in sorted({href for href, _ in links if href.startswith("#")}):
        tab.run("(address) => { location.hash = address; }", address)
        tab.until(f"probes.shownViews().join() === '{address[1:]}'", f"the view of {address}")
    outside = {href: url for href, url in links if not href.startswith("#")}
    assert len(outside) > 50
    assert [href for href in outside if urlsplit(href).scheme or href.startswith("/")] == []
    assert [href for href, url in outside.items() if not Path(unquote(urlsplit(url).path)).is_file()] == []


def test_a_link_to_a_timeline_opens_it(tab: Tab, site: Path) -> None:
    """From the first concern of the overview to the drawn picture of a run, without an error on the way."""
    tab.open(site)
    tab.follow("document.querySelector('.concern a[href$=\"timeline.html\"]')")
    assert tab.run("location.pathname.endsWith('/timeline.html')")
    assert tab.run("document.querySelector('#chart svg') !== null")
    assert tab.complaints == []


def test_a_click_sorts_a_column_and_another_one_turns_it_round(tab: Tab, site: Path) -> None:
    """Ascending, descending, ascending again; no row is lost, the page stays where it is, one head shows the order."""
    tab.open(site)
    _go(tab, "tests")
    before = _pass_rates(tab)
    assert len(set(before)) > 4
    assert before not in (sorted(before), sorted(before, reverse=True))
    head = f"{HEADS}[{PASS_RATE}]"
    for order in ("ascending", "descending", "ascending"):
        tab.click(head)
        place = tab.run("scrollY")
        assert _pass_rates(tab) == sorted(before, reverse=order == "descending")
        assert tab.run(f"{head}.parentElement.getAttribute('aria-sort')") == order
        assert tab.run("scrollY") == place
    tab.click(f"{HEADS}[0]")
    assert not tab.run(f"{head}.parentElement.hasAttribute('aria-sort')")


def test_every_table_is_sorted_by_every_column(tab: Tab, site: Path) -> None:
    """No head of any table is dead: the rows are then in another order, or were in this one before."""
    tab.open(site)
    dead: list[str] = tab.run("""[...document.querySelectorAll('thead button')].filter((button) => {
      const body = button.closest('table').tBodies[0], column = button.parentElement.cellIndex;
      const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
      const orders = [1, 2].map(() => { button.click(); return [...body.rows].map(key); });
      return new Set(orders[0].filter(Boolean)).size > 1 && orders[0].join() === orders[1].join();
    }).map((button) => button.closest('.view').id + ': ' + button.textContent)""")
    assert dead == []
    assert tab.run("document.querySelectorAll('thead button').length") > 60


def test_keys_reach_and_work_what_sorts(tab: Tab, site: Path) -> None:
    """Tab from the title comes to the first head, with a ring around it; Enter sorts, Space turns it round."""
    tab.open(site, "#tests")
    tab.run("document.querySelector('#tests h1').focus()")
    tab.press("Tab")
    assert tab.run("document.activeElement === document.querySelector('#tests thead button')")
    style = "getComputedStyle(document.activeElement)"
    assert tab.run(f"[{style}.outlineStyle, {style}.outlineWidth]") == ["solid", "2px"]
    for key, order in (("Enter", "ascending"), (" ", "descending")):
        tab.press(key)
        assert tab.run("document.activeElement.parentElement.getAttribute('aria-sort')") == order


def test_what_is_missing_is_last_however_it_is_sorted(tab: Tab, site: Path) -> None:
    """An empty cell is neither the least nor the most."""
    tab.open(site, "#aside")
    for _ in range(2):
        tab.click("document.querySelectorAll('#aside thead button')[2]")
        assert tab.run("[...document.querySelectorAll('#aside tbody tr')].map((row) => row.cells[2].textContent)") == [
            "91",
            "",
        ]


def test_search_narrows_and_says_how_many(tab: Tab, site: Path) -> None:
    """More words, fewer hits, as many as it says; none is said too; Escape brings the view back."""
    tab.open(site, "#tests")
    tab.press("/")
    counts, sought = [], ""
    for more in ("lost", " 3.9.1", " zzz"):
        tab.write(more)
        sought += more
        reported = f"document.querySelector('#found h1')?.textContent.endsWith('“{sought}”')"
        tab.until(reported, f"what there is for {sought}")
        said: str = tab.run("document.querySelector('#found h1').textContent")
        counts.append(0 if said.startswith("Nothing") else int(said.partition(" ")[0]))
    assert counts[0] > counts[1] > counts[2] == 0
    tab.press("Escape")
    tab.until("probes.shownViews().join() === 'tests'", "the view before the search")


def test_search_counts_what_it_lists_and_leads_to_it(tab: Tab, site: Path) -> None:
    """Runs by their seeds: every hit is in a list, and a click opens the view with the row marked and in sight."""
    tab.open(site)
    tab.press("/")
    tab.write("kmigrate-seed 23")
    said: str = tab.until("document.querySelector('#found h1')?.textContent", "results")
    listed: list[int] = tab.run("[...document.querySelectorAll('#found ul')].map((list) => list.children.length)")
    assert int(said.partition(" ")[0]) == sum(listed) > len(listed) > 1
    tab.click("document.querySelector('#found .hits a')")
    tab.until("document.querySelector('.view:not([hidden]) .found') !== null", "the row that was found")
    found: str = tab.run("document.querySelector('.found').textContent")
    assert [word for word in ("kmigrate-seed", "23") if word not in found] == []
    box: dict[str, float] = tab.run("document.querySelector('.found').getBoundingClientRect().toJSON()")
    assert 0 <= box["top"] < tab.run("innerHeight")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_everything_can_be_read(tab: Tab, site: Path, colours: str) -> None:
    """Every text of every view has the contrast that WCAG 2 (AA) asks for, on large screens and on phones."""
    tab.prefer(colours)
    tab.open(site)
    _unfold(tab)
    pale: dict[str, list[str]] = {}
    for screen, shown in ((tab.be_desktop, tab.run("views.map((view) => view.id)")), (tab.be_phone, VIEWS)):
        screen()
        for view in shown:
            tab.run("(id) => show(document.getElementById(id), false)", view)
            found: list[str] = tab.run("probes.pale()")
            pale |= {view: found} if found else {}
    assert pale == {}
    background: int = tab.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
    assert (background < 60) is (colours == "dark")


def test_colours_follow_the_system_until_somebody_chooses(tab: Tab, site: Path) -> None:
    """The button goes from the system's to light to dark and back, and what was chosen is remembered."""
    tab.prefer("dark")
    tab.open(site)
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = tab.run(colour)
    tab.click("document.getElementById('theme')")
    light = tab.run(colour)
    assert light != dark
    tab.open(site)
    assert tab.run(colour) == light
    for expected in (dark, dark):
        tab.click("document.getElementById('theme')")
        assert tab.run(colour) == expected


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no-scripts"])
def test_a_phone_is_wide_enough(tab: Tab, site: Path, *, has_scripts: bool) -> None:
    """At 390 px no view moves sideways: not the whole, not with everything unfolded, not without scripts."""
    tab.be_phone()
    if not has_scripts:
        tab.be_without_scripts()
    tab.open(site)
    _unfold(tab)
    if not has_scripts:
        assert len(tab.run("probes.shownViews()")) > len(VIEWS)
        assert tab.run("probes.overflowing()") == []
        return
    wide: dict[str, list[str]] = {}
    for view in tab.run("views.map((view) => view.id)"):
        tab.run("(id) => show(document.getElementById(id), false)", view)
        found: list[str] = tab.run("probes.overflowing()")
        wide |= {view: found} if found else {}
    assert wide == {}


def test_a_phone_can_sort_too(tab: Tab, site: Path) -> None:
    """Where rows become cards the heads stay, to be tapped."""
    tab.be_phone()
    tab.open(site, "#tests")
    before = _pass_rates(tab)
    tab.click(f"{HEADS}[{PASS_RATE}]")
    assert _pass_rates(tab) == sorted(before) != before


def test_points_of_trends_can_be_seen_and_told(tab: Tab, site: Path) -> None:
    """Each is some pixels wide, and dates stand at both ends of a panel without touching each other."""
    tab.open(site, "#trends")
    assert tab.run("document.querySelectorAll('#trends .panels .point title').length") > 0
    widths = tab.run(
        "[...document.querySelectorAll('#trends .panels .points.few')]"
        ".map(e => parseFloat(getComputedStyle(e).strokeWidth) * e.getScreenCTM().a)"
    )
    assert min(widths) >= 3
    dates = tab.run(
        "[...document.querySelectorAll('#trends .panels .date')]"
        ".map(e => (({left, right, top}) => [left, right, top])(e.getBoundingClientRect()))"
    )
    assert len(dates) > 2
    line = sorted(dates, key=lambda date: (date[2], date[0]))
    touching = [(a, b) for a, b in pairwise(line) if a[2] == b[2] and a[1] > b[0]]
    assert touching == []


def test_the_order_of_log_lines_shows_and_turns(tab: Tab, site: Path) -> None:
    """The head of the column by which they come sorted says so; a click turns the order."""
    tab.open(site, "#logs")
    head = "document.querySelector('#logs th[aria-sort]')"
    assert tab.run(f"[{head}.textContent, {head}.getAttribute('aria-sort')]") == ["Runs", "descending"]
    tab.click(f"{head}.querySelector('button')")
    assert tab.run(f"{head}.getAttribute('aria-sort')") == "ascending"
