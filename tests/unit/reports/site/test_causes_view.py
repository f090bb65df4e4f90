"""Facts about the page of causes, and what pages of failures show of them: what is sure, and what may be chance."""

import math
import re
from collections.abc import Sequence

from pytest_kmigrate.reports.pages.markdown import report_markdown
from pytest_kmigrate.reports.site.causes import causes
from pytest_kmigrate.reports.site.failures import cluster_pages
from pytest_kmigrate.reports.summary.rows import Row
from tests.unit.reports.single_rows import BEGIN, site_of

LOST: Row = {"cluster": "c1", "representative": "lost", "tests": [], "kafka": [], "checks": []}
LOST |= {"failures": 1, "runs": 1, "first_at": BEGIN, "last_at": BEGIN}


def _cause(failure: str, level: str, lift: float, q_value: float, inseparable: Sequence[str] = ()) -> Row:
    counts = {"with_failures": 4, "with_runs": 8, "without_failures": 1, "without_runs": 80}
    lifts = {"lift": lift, "lift_low": 2.0, "lift_high": 8.0, "p_value": q_value, "q_value": q_value, "rank": 1}
    named = {"what": "check", "failure": failure, "factor": "fault", "level": level, "inseparable": [*inseparable]}
    return {**named, **counts, **lifts, "tests_compared": 2, "only_in": None}


def test_the_surest_cause_comes_first() -> None:
    """Failures are in the order of their least q; what no count can distinguish is named beside it."""
    reported = [_cause("alpha", "kill", 4.0, 0.9), _cause("beta", "kill", 4.0, 1e-9, ["phase HYBRID"])]

    content = causes(site_of(causes=reported)).content

    assert re.findall(r"<h3><code>(\w+)</code></h3>", content) == ["beta", "alpha"]
    assert content.count("always together with phase HYBRID") == 1


def _levels(content: str) -> list[str]:
    return re.findall(r'data-label="With" class="name" data-sort="(\w+)"', content)


def test_what_may_be_chance_is_folded_away() -> None:
    """What is sure stands open, in colour; the rest of its failure, and failures of which nothing is, are folded."""
    reported = [
        _cause("beta", "kill", 4.0, 0.05),
        _cause("beta", "pause", 4.0, 0.051),
        _cause("alpha", "cut", 9.0, 0.11),
    ]

    content = causes(site_of(causes=reported)).content.partition("<h2>")[0]

    opened, *folded = content.split("<details>")
    assert (_levels(opened), [_levels(each) for each in folded]) == (["kill"], [["pause"], ["cut"]])
    assert "1 failure of which nothing is sure" in content
    assert "Nothing is sure:" not in content
    assert ["var(--VIOLATES)" in each for each in (opened, *folded)] == [True, False, False]


def test_that_nothing_is_sure_is_said() -> None:
    """On the page of causes and on that of the failure, before what may be chance."""
    site = site_of(failure_clusters=[LOST], causes=[_cause("c1", "kill", 13.0, 0.38)])

    for content in (causes(site).content, *[view.content for view in cluster_pages(site)]):
        opened, _, folded = content.partition("<details>")
        assert "Nothing is sure:" in opened
        assert (_levels(opened), _levels(folded)) == ([], ["kill"])


def test_what_no_count_tells_apart_takes_one_row() -> None:
    """Three that were in force in the same runs are one row, the first, and leave the place to a fourth."""
    names = [f"fault {level}" for level in ("kill", "pause", "cut")]
    reported = [
        _cause("alpha", name.split()[1], 4.0, 0.01, [other for other in names if other != name]) for name in names
    ]

    content = causes(
        site_of(causes=[*reported, _cause("alpha", "late", 2.0, 0.02), _cause("beta", "cut", 2.0, 0.02)])
    ).content

    assert _levels(content) == ["kill", "late", "cut"]
    assert content.count("always together with fault pause, fault cut") == 1


def test_what_does_not_raise_a_failure_is_on_no_page() -> None:
    """Neither where causes are listed nor on the page of the failure: no failures with it, fewer, and as many."""
    lifts = {"never": 0.0, "seldom": 0.3, "alike": 1.0, "often": 4.0, "alone": math.inf}
    site = site_of(failure_clusters=[LOST], causes=[_cause("c1", *each, 1e-9) for each in lifts.items()])

    for content in (causes(site).content, *[view.content for view in cluster_pages(site)]):
        assert _levels(content) == ["often", "alone"]
        assert "only with it" in content


def test_what_no_test_tells_apart_says_so() -> None:
    """Beside the circumstance: the one test it was ever seen in, or that no test was run both ways; else nothing."""
    apart = {"alone": {"tests_compared": 0, "only_in": "suite.py::test_<a>"}, "pure": {"tests_compared": 0}, "both": {}}
    reported = [{**_cause("alpha", level, 4.0, 0.01), **changed} for level, changed in apart.items()]

    content = causes(site_of(causes=reported)).content

    said = dict(zip(_levels(content), content.split("<tr")[2:], strict=False))
    assert "only ever seen in suite.py::test_&lt;a&gt;: cannot be distinguished from that test" in said["alone"]
    assert "no test that failed so was run both with and without it" in said["pure"]
    assert content.count("cannot be distinguished") == content.count("no test that failed so was run both") == 1


def test_the_comment_says_what_no_test_tells_apart() -> None:
    """In the line of the cause, behind how sure it is."""
    alone = {**_cause("alpha", "cut", 4.0, 0.01), "tests_compared": 0, "only_in": "test_a"}
    pure = {**_cause("beta", "cut", 4.0, 0.01), "tests_compared": 0}

    reported = report_markdown(site_of(causes=[alone, pure, _cause("gamma", "cut", 4.0, 0.01)]).summary)

    said = sorted(re.findall(r"\(q 0.01(.*)\)", reported))
    assert said == ["", "; by tests, none was run both ways", "; only ever seen in `test_a`"]
