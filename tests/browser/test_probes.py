"""What the other tests look with sees what it is for: each planted defect is reported, and a sound page is not."""

from pathlib import Path

import pytest

from tests.browser.chromium import BrowserError
from tests.browser.tab import Tab

SOUND = "<p>black on white</p>"


def _opened(tab: Tab, folder: Path, body: str) -> Tab:
    page = folder / "page.html"
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>*{margin:0}</style>'
    page.write_text(f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>')
    tab.open(page)
    return tab


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("<script>nowhere.at.all</script>", "nowhere is not defined"),
        ("<script>console.error('bad', 7)</script>", "bad 7"),
        ("<script>Promise.reject(new Error('unheard'))</script>", "unheard"),
        ('<img src="missing.png">', "ERR_FILE_NOT_FOUND"),
    ],
)
def test_what_fails_in_a_page_is_told(tab: Tab, tmp_path: Path, body: str, reported: str) -> None:
    """Errors of scripts, of promises, of the console, and files that are not there."""
    assert reported in " ".join(_opened(tab, tmp_path, body).complaints)


def test_every_request_is_told(tab: Tab, tmp_path: Path) -> None:
    """Of tags, of styles and of scripts, also those that lead nowhere."""
    asked = '<img src="http://a.invalid/"><p style="background:url(http://b.invalid/)">b</p>'
    _opened(tab, tmp_path, f"{asked}<script>fetch('http://c.invalid/').catch(() => {{ window.over = true; }})</script>")
    tab.until("window.over", "the end of the request")
    assert {url for url in tab.requests if url.startswith("http")} == {
        f"http://{name}.invalid/" for name in ("a", "b", "c")
    }


@pytest.mark.parametrize(
    ("body", "is_pale"),
    [
        (SOUND, False),
        ('<p style="color:#777">4.48 on white</p>', True),
        ('<p style="color:#767676">4.54 on white</p>', False),
        ('<p style="color:#888;font-size:24px">3.5, but large</p>', False),
        ('<p style="opacity:.4">black, but faint</p>', True),
        ('<p style="background:black"><span style="color:rgb(0 0 0/90%)">black on black</span></p>', True),
        ('<p style="color:#767676"><i style="background:color-mix(in srgb,red 30%,transparent)">on red</i></p>', True),
        ('<svg><rect width="200" height="40" fill="black"/><text x="5" y="20">on a bar</text></svg>', True),
        ('<svg><rect width="2" height="40" fill="black"/><text x="5" y="20">beside a bar</text></svg>', False),
        ('<style>p::before{content:"label";color:#aaa}</style><p data-label>said</p>', True),
        ('<p style="color:#eee" hidden>not to be seen</p>', False),
    ],
)
def test_pale_text_is_told(tab: Tab, tmp_path: Path, body: str, *, is_pale: bool) -> None:
    """By the colours as they are blended, of text, drawings and labels; what is hidden need not be read."""
    assert bool(_opened(tab, tmp_path, body).run("probes.pale()")) is is_pale


def test_what_moves_the_page_sideways_is_told(tab: Tab, tmp_path: Path) -> None:
    """A block that is too wide is named; one that scrolls in itself is fine."""
    tab.be_phone()
    wide = '<p id="wide" style="width:600px">wide</p>'
    assert _opened(tab, tmp_path, SOUND).run("probes.overflowing()") == []
    assert _opened(tab, tmp_path, f'<div style="overflow-x:auto">{wide}</div>').run("probes.overflowing()") == []
    assert 'id="wide"' in " ".join(_opened(tab, tmp_path, wide).run("probes.overflowing()"))


def test_a_click_on_what_lies_below_something_else_is_told(tab: Tab, tmp_path: Path) -> None:
    """A person could not click it either."""
    cover = '<div id="cover" style="position:fixed;inset:0"></div>'
    _opened(tab, tmp_path, f'<button id="below">go</button>{cover}')
    with pytest.raises(BrowserError, match="cover"):
        tab.click("document.getElementById('below')")
