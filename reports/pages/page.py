"""The page: one self-contained HTML file, a site of its own with a view per question. No network, no library.

All views are in the file; a script shows the one that the address names (``#flakes``). Without a script they stand one
below the other, and every link still leads somewhere.
"""

from collections.abc import Callable, Sequence
from importlib import resources
from string import Template

from pytest_kmigrate.reports.pages.drawing import amount, goto, text
from pytest_kmigrate.reports.site import (
    causes,
    chaos,
    code,
    comparing,
    consistency,
    environment,
    failures,
    flakes,
    glossary,
    growth,
    logs,
    nights,
    overview,
    requirements,
    tests,
    trends,
)
from pytest_kmigrate.reports.site.views import Site, View
from pytest_kmigrate.reports.summary.summary import Summary

_STYLES = ("page.css", "tables.css")
_SCRIPTS = ("page.js", "search.js")

_VIEWS: tuple[tuple[str, Callable[[Site], View]], ...] = (
    ("Overview", overview.overview),
    ("Requirements", requirements.requirements),
    ("Tests", tests.tests),
    ("Flakes", flakes.flakes),
    ("Consistency", consistency.consistency),
    ("Causes", causes.causes),
    ("Chaos", chaos.chaos),
    ("Failures", failures.failures),
    ("Log lines", logs.logs),
    ("Trends", trends.trends),
    ("Growth", growth.growth),
    ("Code of Kafka", code.code),
    ("Infra nights", nights.nights),
    ("Compare", comparing.comparing),
    ("Set aside", nights.aside),
    ("Environment", environment.environment),
    ("Glossary", glossary.glossary),
)
_PAGES: tuple[Callable[[Site], list[View]], ...] = (
    requirements.requirement_pages,
    tests.test_pages,
    failures.cluster_pages,
)


def page(summary: Summary) -> str:
    """The whole site."""
    site = Site(summary)
    views = [(label, draw(site)) for label, draw in _VIEWS]
    pages = [each for draw in _PAGES for each in draw(site)]
    return _filled(summary["headline"], _navigation(summary, views), [view for _, view in views] + pages)


def site_of(title: str, views: Sequence[tuple[str, View]]) -> str:
    """A site of these views, each with its label in the navigation; the address of the first is ``overview``."""
    navigation = "".join(f"<li>{goto(view.address, text(label))}</li>" for label, view in views)
    return _filled(title, navigation, [view for _, view in views])


def _filled(title: str, navigation: str, views: Sequence[View]) -> str:
    return Template(_read("page.html")).substitute(
        title=text(f"{title} · pytest-kmigrate"),
        style="\n".join(_read(name) for name in _STYLES),
        script="\n".join(_read(name) for name in _SCRIPTS),
        navigation=navigation,
        views="\n".join(map(_drawn, views)),
    )


def _read(name: str) -> str:
    return (resources.files("pytest_kmigrate.reports") / "templates" / name).read_text(encoding="utf-8").rstrip()


def _navigation(summary: Summary, views: Sequence[tuple[str, View]]) -> str:
    """One link per view, with how much is in it."""
    counts = {
        "overview": sum(1 for row in summary["attention"] if row["level"] != "DEPARTURE"),
        "flakes": sum(1 for row in summary["flakiness"] if row["standing"] == "FLAKY"),
        "failures": len(summary["failure_clusters"]),
        "nights": len(summary["infra_nights"]),
        "aside": len(summary["set_aside"]),
    }
    return "".join(
        f"<li>{goto(view.address, text(label) + _count(counts.get(view.address, 0)))}</li>" for label, view in views
    )


def _count(shown: int) -> str:
    return f' <span class="count">{amount(shown)}</span>' if shown else ""


def _drawn(view: View) -> str:
    back = f'<p class="over">{goto(view.parent, f"&larr; {view.parent.capitalize()}")}</p>' if view.parent else ""
    lead = f'<p class="lead">{text(view.lead)}</p>' if view.lead else ""
    name = text(view.address)
    return (
        f'<section class="view" id="{name}" data-parent="{text(view.parent)}" aria-label="{text(view.title)}">'
        f'{back}<h1 tabindex="-1">{text(view.title)}</h1>{lead}{view.content}</section>'
    )
