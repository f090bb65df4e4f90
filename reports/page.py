"""The page: one self-contained HTML file that says first what needs a human. No network, no library."""

from importlib import resources
from string import Template

from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports import sections
from pytest_kmigrate.reports.drawing import amount, share_bar, text
from pytest_kmigrate.reports.summary import Summary, Totals


def page(summary: Summary) -> str:
    """The whole page."""
    templates = resources.files("pytest_kmigrate.reports") / "templates"
    style, script, frame = (
        (templates / name).read_text(encoding="utf-8").rstrip() for name in ("page.css", "page.js", "page.html")
    )
    body = "\n".join(
        [
            _opening(summary),
            sections.attention(summary),
            sections.tests(summary),
            sections.requirements(summary),
            sections.consistency(summary),
            sections.faults(summary),
            sections.durations(summary),
            sections.set_aside(summary),
            sections.environment(summary),
        ]
    )
    title = f"{_headline(summary)} · pytest-kmigrate"
    return Template(frame).substitute(title=text(title), style=style, script=script, body=body)


def _opening(summary: Summary) -> str:
    totals = summary["totals"]
    shares = [(outcome.name, totals["outcomes"][outcome.name]) for outcome in sorted(Outcome, reverse=True)]
    versions = ", ".join(totals["kafka"])
    return (
        f'<header><p class="over">pytest-kmigrate · Kafka {text(versions)} · {text(_days(totals))}</p>'
        f"<h1>{text(_headline(summary))}</h1>{share_bar(shares)}{_tiles(summary)}</header>"
    )


def _headline(summary: Summary) -> str:
    """The one sentence to take away."""
    totals = summary["totals"]
    runs = f"{totals['runs']} run{'s' * (totals['runs'] != 1)}"
    outcomes = totals["outcomes"]
    if totals["safety_violations"]:
        return f"{totals['safety_violations']} of {runs} broke a safety requirement"
    if outcomes["VIOLATES"]:
        return f"{outcomes['VIOLATES']} of {runs} violated a requirement"
    if outcomes["INCONCLUSIVE"]:
        return f"No violation in {runs}; {outcomes['INCONCLUSIVE']} could not be decided"
    if outcomes["CONFORMS"]:
        return f"Everything conforms in {runs}" if totals["runs"] > 1 else "The run conforms"
    return f"Nothing in {runs} applied to this cluster"


def _tiles(summary: Summary) -> str:
    totals, outcomes = summary["totals"], summary["totals"]["outcomes"]
    tiles = [
        ("runs", totals["runs"], ""),
        ("conform", outcomes["CONFORMS"], "CONFORMS"),
        ("violate", outcomes["VIOLATES"], "VIOLATES"),
        ("of these safety", totals["safety_violations"], "SAFETY"),
        ("inconclusive", outcomes["INCONCLUSIVE"], "INCONCLUSIVE"),
        ("flaky tests", totals["flaky_tests"], "FLAKY"),
        ("known Kafka bugs", totals["known_bugs"], "BUG"),
        ("set aside", totals["set_aside"], ""),
    ]
    drawn = "".join(
        f'<div class="tile"{_colour(colour, count)}><b>{amount(count)}</b><span>{label}</span></div>'
        for label, count, colour in tiles
    )
    return f'<div class="tiles">{drawn}</div>'


def _colour(name: str, count: int) -> str:
    """A zero stays grey: colour is for what is there."""
    if not count:
        return ' style="--colour: var(--NOT_APPLICABLE)"'
    return f' style="--colour: var(--{name})"' if name else ""


def _days(totals: Totals) -> str:
    first, last = ((started_at or "")[:10] for started_at in (totals["first_started_at"], totals["last_started_at"]))
    return first if first == last else f"{first} to {last}"
