"""The pages of one report agree: what the overview calls known, or lost, is called the same wherever a link leads."""

import re
from html import escape

import pytest

from pytest_kmigrate.catalogue import find_bug
from pytest_kmigrate.reports.pages.page import page
from pytest_kmigrate.reports.site.causes import causes
from pytest_kmigrate.reports.site.nights import nights
from pytest_kmigrate.reports.site.overview import overview
from pytest_kmigrate.reports.site.requirements import requirements
from pytest_kmigrate.reports.site.tests import test_pages as pages_of_tests
from pytest_kmigrate.reports.site.tests import tests as list_of_tests
from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.rows import Row
from tests.unit.reports.single_rows import CONDITION, attempted, listed, site_of

DEFECT = "kmigrate-7"
DEPARTURE = "former-controller-notifies"


def _seen(bug: str) -> Row:
    of_runs: Row = {"runs": 1, "kinds": ["LIVENESS"], "checks": ["c"], "requirements": [], "tests": [], "example": "e"}
    return {"bug": bug, "kafka": CONDITION["kafka"], **of_runs}


def _violating(*bugs: str) -> Site:
    red = attempted("x.py::test_red", "VIOLATES", "LIVENESS", known_bugs=list(bugs))
    return site_of(attempts=[red], tests=[listed("x.py::test_red", "VIOLATES")], bugs=[_seen(each) for each in bugs])


def _silent() -> Site:
    lost = attempted("x.py::test_lost", "INCONCLUSIVE", "INFRA")
    return site_of(attempts=[lost], tests=[listed("x.py::test_lost", "INCONCLUSIVE")])


def _chips(content: str) -> list[str]:
    return re.findall(r'<span class="chip"[^>]*>([^<]+)</span>', content)


def _tile(site: Site, label: str) -> str:
    (address,) = re.findall(
        rf'<a class="tile" href="#([a-z]+)"[^>]*><b>[0-9]+</b><span>{label}</span>', overview(site).content
    )
    return str(address)


@pytest.mark.parametrize(("bug", "word"), [(DEFECT, "known defect"), (DEPARTURE, "departure")])
def test_a_test_that_violates_as_known_is_not_red(bug: str, word: str) -> None:
    """Neither in the list nor on its page, where the overview says that nothing is new."""
    site = _violating(bug)

    (own,) = pages_of_tests(site)

    assert _chips(list_of_tests(site).content) == [word]
    assert _chips(own.content) == [word, bug, word]


def test_a_test_with_a_new_violation_beside_a_known_one_is_red() -> None:
    """What is known excuses its own runs alone."""
    runs = [
        attempted("t", "VIOLATES", "LIVENESS", known_bugs=known, seed=seed) for known, seed in (([], 1), ([DEFECT], 2))
    ]
    site = site_of(attempts=runs, tests=[listed("t", "VIOLATES")], bugs=[_seen(DEFECT)])

    assert _chips(list_of_tests(site).content) == ["violates"]


def test_lost_runs_lead_to_what_was_lost() -> None:
    """Without a night that stands out, to the tests; and no page says in green that nothing was lost."""
    assert _tile(_silent(), "inconclusive") == "tests"
    content = nights(_silent()).content
    assert "1 run of 1 ended without an answer" in content
    assert 'class="fine nothing"' in content


def test_nights_without_anything_lost_are_well() -> None:
    """With all answers there is nothing that could have been lost."""
    content = nights(site_of(attempts=[attempted("t", "CONFORMS")], tests=[listed("t", "CONFORMS")])).content

    assert 'class="fine"' in content


def test_a_departure_needs_no_human() -> None:
    """It is neither counted beside the overview nor called a defect in the headline; one defect is."""
    departed, broken = _violating(DEPARTURE), _violating(DEFECT, DEPARTURE)

    assert "Nothing: no defect and no new violation was met." in overview(departed).content
    assert overview(departed).title == "No new violation in 1 run: 1 met known departures of Kafka"
    counts = [re.findall(r'Overview <span class="count">(.)</span>', page(each.summary)) for each in (departed, broken)]
    assert counts == [[], ["1"]]


def test_a_known_bug_says_what_it_is_where_its_tile_leads() -> None:
    """A departure is there too, and is not called a bug."""
    content = causes(_violating(DEFECT, DEPARTURE)).content

    known = (find_bug(DEFECT), find_bug(DEPARTURE))
    assert all(bug and escape(bug.symptom) in content for bug in known)
    assert "Kafka bugs" not in content


def test_a_tile_has_its_noun_in_the_number_it_shows() -> None:
    """One known defect, no known defects."""
    assert _tile(_violating(DEFECT), "known defect") == "causes"
    assert _tile(_violating(DEPARTURE), "known defects") == "causes"


def test_where_no_requirement_was_asked_none_is_called_other() -> None:
    """There is nothing that the rest would be other than."""
    ledger: Row = {"id": "R", "profile": "p", "level": "MUST", "statement": "s", "covered_by": []}
    site = site_of()
    site.summary["ledger"] = [ledger]
    content = requirements(site).content

    assert "about 1 requirement of" in content
