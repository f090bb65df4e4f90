"""The timeline page of one run in a real browser: drawn, looked closer at, and read on a phone and at night."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.browser.tab import Tab

RANGE = "document.getElementById('range').textContent"
CHART = "document.getElementById('chart')"


def test_a_run_is_drawn_without_error_or_request(tab: Tab, timeline: Path) -> None:
    """Lanes, bars and lines are there; looking closer, moving and unfolding all of it draws no complaint."""
    tab.open(timeline)
    assert tab.run(f"{CHART}.querySelectorAll('text.label').length") >= 6
    for button in ("closer", "later", "earlier", "wider", "whole"):
        tab.click(f"document.getElementById('{button}')")
    tab.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert tab.complaints == []
    assert [unquote(url) for url in tab.requests] == [f"file://{timeline}"]


def test_a_violation_leads_to_its_moment(tab: Tab, timeline: Path) -> None:
    """A click on when it was puts that moment into the picture; a click on its evidence unfolds the event."""
    tab.open(timeline)
    tab.click("document.querySelector('a[href^=\"#verdict-\"]')")
    tab.click("document.querySelector('[data-jump]')")
    assert tab.run(f"{CHART}.querySelector('line.moment') !== null")
    tab.run("document.querySelector('a[href=\"#event-5\"]').scrollIntoView({ block: 'center' })")
    tab.click("document.querySelector('a[href=\"#event-5\"]')")
    assert tab.run("probes.isShown(document.getElementById('event-5'))")
    assert tab.run("document.getElementById('event-5').classList.contains('found')")


def test_dragging_looks_closer_and_a_button_looks_at_all(tab: Tab, timeline: Path) -> None:
    """What was dragged across fills the picture; the whole run comes back by a button, also by key."""
    tab.open(timeline)
    whole = tab.run(RANGE)
    tab.run(f"{CHART}.scrollIntoView()")
    x, y, width = tab.run(f"(({{x, y, width}}) => [x, y, width])({CHART}.getBoundingClientRect())")
    tab.drag((x + width * 0.4, y + 60), (x + width * 0.6, y + 60))
    assert tab.run(RANGE) != whole
    tab.run("document.getElementById('whole').focus()")
    tab.press("Enter")
    assert tab.run(RANGE) == whole


def test_pointing_tells_what_it_is(tab: Tab, timeline: Path) -> None:
    """Over a bar the tip says more than the bar could."""
    tab.open(timeline)
    tab.run(f"{CHART}.scrollIntoView()")
    x, y = tab.run(f"(({{x, y}}) => [x + 2, y + 5])({CHART}.querySelector('rect.fault').getBoundingClientRect())")
    tab.drag((x, y), (x, y))
    assert "witnessed: its process is gone" in tab.run("document.getElementById('tip').textContent")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_everything_can_be_read(tab: Tab, timeline: Path, colours: str) -> None:
    """Every text has the contrast that WCAG 2 (AA) asks for, those upon bars too."""
    tab.prefer(colours)
    tab.open(timeline)
    tab.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert tab.run("probes.texts()") > 40
    assert tab.run("probes.pale()") == []


def test_a_phone_is_wide_enough(tab: Tab, timeline: Path) -> None:
    """At 390 px nothing moves sideways, and the names of lanes stand above them."""
    tab.be_phone()
    tab.open(timeline)
    tab.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert tab.run("probes.overflowing()") == []
    assert tab.run(f"{CHART}.querySelector('text.label').getBoundingClientRect().x") < 20


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_legend_shows_the_marks_as_they_are_drawn(tab: Tab, timeline: Path, colours: str) -> None:
    """Glyph by glyph in the colour of the picture, and every glyph of the picture is there."""
    tab.prefer(colours)
    tab.open(timeline)
    legend = tab.run("[...document.querySelectorAll('.legend b')].map(e => [e.textContent, getComputedStyle(e).color])")
    drawn = tab.run(f"[...{CHART}.querySelectorAll('text.mark')].map(e => [e.textContent, getComputedStyle(e).fill])")
    assert drawn
    assert [mark for mark in drawn if mark not in legend] == []


def test_states_have_different_colours(tab: Tab, timeline: Path) -> None:
    """One colour a value, none of them black; the same value has the same colour wherever it comes again."""
    tab.open(timeline)
    bars = tab.run(
        f"[...{CHART}.querySelectorAll('rect.state')].map(e => [e.className.baseVal, getComputedStyle(e).fill])"
    )
    colours = dict(bars)
    assert len(colours) >= 6
    assert len(set(colours.values())) == len(colours)
    assert "rgb(0, 0, 0)" not in colours.values()


OWNED = "[...document.querySelectorAll('#chart rect[class^=m]')].filter(e => e.getBoundingClientRect().height < 10)"


def test_owners_of_sixty_partitions_are_seen_at_once(tab: Tab, group_timeline: Path) -> None:
    """No taller than a window, a row each, every member in a colour of its own; pointing at one names its owner."""
    tab.open(group_timeline)
    rows = tab.run(f"{OWNED}.map(e => e.getBoundingClientRect().y)")
    assert len(set(rows)) == 60
    assert max(rows) - min(rows) < 600
    assert tab.run(f"new Set({OWNED}.map(e => getComputedStyle(e).fill)).size") == 12
    tab.run(f"{CHART}.scrollIntoView()")
    x, y = tab.run(f"(({{x, y}}) => [x + 2, y + 3])({OWNED}.at(-1).getBoundingClientRect())")
    tab.drag((x, y), (x, y))
    assert "orders-59: MEZKCC-" in tab.run("document.getElementById('tip').textContent")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_group_can_be_read(tab: Tab, group_timeline: Path, colours: str) -> None:
    """Every text upon bars has the contrast that WCAG 2 (AA) asks for, and nothing complains or asks the network."""
    tab.prefer(colours)
    tab.open(group_timeline)
    assert tab.run("probes.texts()") > 40
    assert tab.run("probes.pale()") == []
    assert tab.complaints == []


def test_a_group_fits_a_phone(tab: Tab, group_timeline: Path) -> None:
    """At 390 px nothing moves sideways."""
    tab.be_phone()
    tab.open(group_timeline)
    assert tab.run("probes.overflowing()") == []


@pytest.mark.parametrize("device", ["be_desktop", "be_phone"])
def test_the_picture_is_on_the_first_screen(tab: Tab, timeline: Path, device: str) -> None:
    """Chart first: a reader need not scroll past lists; charts have an axis, and no label is smaller than 11 px."""
    getattr(tab, device)()
    tab.open(timeline)
    assert tab.run(f"{CHART}.getBoundingClientRect().top < innerHeight * 0.6")
    assert tab.run(f"{CHART}.querySelectorAll('text.scale').length") >= 3
    sizes = tab.run("[...document.querySelectorAll('svg text')].map(e => parseFloat(getComputedStyle(e).fontSize))")
    assert min(sizes) >= 11
