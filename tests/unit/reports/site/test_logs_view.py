"""Facts about the page of log lines, and what pages of failures show of them."""

import datetime as dt
import re
from collections.abc import Sequence

from pytest_kmigrate.reports.site.failures import cluster_pages
from pytest_kmigrate.reports.site.logs import logs
from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT

AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
LOST: Row = {"cluster": "c1", "representative": "lost", "tests": [], "kafka": [], "checks": []}
LOST |= {"failures": 1, "runs": 1, "first_at": AT, "last_at": AT}


def _site(signs: Sequence[Row], names: Sequence[str] = ("alpha", "beta", "gamma")) -> Site:
    spread = {"levels": ["ERROR"], "roles": ["broker", "controller"], "lines": 9, "runs": 4, "tests": ["t"]}
    spread |= {"kafka": ["3.9.1"], "first_at": AT, "last_at": AT + dt.timedelta(days=3)}
    example = {"example_folder": "run 1", "example_node": "broker-2", "example_line": 812, "example_timeline": None}
    templates: list[Row] = [{"template": name, "representative": f"<{name}>", **spread, **example} for name in names]
    return Site(summary_of({"log_templates": templates, "log_signs": [*signs], "failure_clusters": [LOST]}, ABOUT))


def _sign(template: str, rank: int, q_value: float, lift: float = 4.0, failure: str = "") -> Row:
    counts = {"with_failures": 4, "with_runs": 8, "without_failures": 1, "without_runs": 80}
    lifts = {"lift": lift, "lift_low": 2.0, "lift_high": 8.0, "p_value": q_value, "q_value": q_value, "rank": rank}
    what = {"what": "cluster", "failure": failure} if failure else {"what": "run", "failure": "VIOLATES"}
    return {**what, "template": template, **counts, **lifts, "tests_compared": 2, "only_in": None}


def _lines(content: str) -> list[str]:
    return re.findall(r"&lt;(\w+)&gt;</code>", content)


def test_the_surest_line_comes_first_and_chance_is_folded_away() -> None:
    """Above all lines: what goes with violations, by rank; a line that prevents them is not among it."""
    reported = [_sign("gamma", 3, 0.2), _sign("beta", 1, 1e-9), _sign("alpha", 4, 1e-9, lift=0.2)]

    ranking, _, every = logs(_site(reported)).content.partition("<h2>All of them</h2>")

    opened, _, folded = ranking.partition("<details>")
    assert (_lines(opened), _lines(folded)) == (["beta"], ["gamma"])
    assert _lines(every) == ["alpha", "beta", "gamma"]


def test_lines_of_one_accident_take_one_row() -> None:
    """Equally sure ones share a rank: the first is shown, the others on request, and the next has a row of its own."""
    reported = [_sign("alpha", 1, 1e-9), _sign("beta", 1, 1e-9), _sign("gamma", 2, 1e-5)]

    content = logs(_site(reported)).content.partition("<h2>All of them</h2>")[0]

    assert content.count("<tr>") == 1 + 2
    shown, _, others = content.partition("<summary>1 line as surely</summary>")
    assert (_lines(shown), _lines(others)) == (["alpha"], ["beta", "gamma"])


def test_that_no_line_is_sure_is_said() -> None:
    """Before what may be chance; and not of violations that there were none of."""
    opened, _, folded = logs(_site([_sign("beta", 1, 0.4)])).content.partition("<details>")
    assert "No line is sure" in opened
    assert _lines(folded)[:1] == ["beta"]
    assert "Go with runs that violate" not in logs(_site([])).content


def test_a_failure_has_its_own_lines() -> None:
    """On its page: those that go with it, and not those that go with violations of any sort."""
    (page,) = cluster_pages(_site([_sign("beta", 1, 1e-9, failure="c1"), _sign("alpha", 1, 1e-9)]))
    assert _lines(page.content) == ["beta"]


def test_a_line_says_who_where_and_when() -> None:
    """How loud it was, by which roles, in how many runs and tests, of which versions, and where an example stands."""
    ranking, _, every = logs(_site([_sign("beta", 1, 1e-9)])).content.partition("<h2>All of them</h2>")
    assert "broker, controller · 4 runs of 1 test · Kafka 3.9.1 · 2026-01-01 to 2026-01-04" in ranking
    assert ">error</span>" in ranking
    assert every.count("run 1<br>") == 3
    assert "broker-2, line 812" in every


def test_more_is_said_only_of_what_has_something_before_it() -> None:
    """Where nothing is sure the lines that may be chance are not "more" of anything."""
    unsure = _sign("gamma", 3, 0.2)

    assert ">1 that may be chance<" in logs(_site([unsure])).content
    assert ">1 more that may be chance<" in logs(_site([_sign("beta", 1, 1e-9), unsure])).content


def test_the_order_of_lines_is_visible() -> None:
    """In words, and at the head of the column by which they are sorted."""
    content = logs(_site([])).content

    assert "Those of most runs first." in content
    assert re.findall(r'aria-sort="descending"><button type="button">(\w+)', content) == ["Runs"]
