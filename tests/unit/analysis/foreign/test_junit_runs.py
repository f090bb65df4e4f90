"""JUnit XML: which cases are one run, when each was, and how long it took."""

import pytest

from pytest_kmigrate.analysis.foreign.junit import read_junit

TEARDOWN = (
    """<testcase classname="c" name="t" time="0.5"><error message='failed on teardown with "OSError"'/></testcase>"""
)


@pytest.mark.parametrize(
    ("body", "outcome", "kind"),
    [
        ('<testcase classname="c" name="t" time="1"><failure message="was 4"/></testcase>', "VIOLATES", "LIVENESS"),
        ('<testcase classname="c" name="t" time="1"/>', "INCONCLUSIVE", "HARNESS"),
    ],
)
def test_a_body_and_its_teardown_are_one_run(body: str, outcome: str, kind: str) -> None:
    """Both are cases of one name in pytest's XML, perhaps with another test's between: the worst of both counts."""
    other = '<testcase classname="c" name="u"/>'
    first, second = read_junit(f"<testsuite name='pytest'>{body}{other}{TEARDOWN}</testsuite>").results

    assert (first.test_id, second.test_id) == ("c.t", "c.u")
    assert (first.outcome.name, first.kind.value if first.kind else None) == (outcome, kind)
    assert first.duration_ms == 1_500.0
    assert "failed on teardown" in first.summary


def test_a_test_that_was_run_again_has_a_case_for_each_attempt() -> None:
    """As Gradle writes them; they are attempts of one test, in that order."""
    red, green = '<testcase classname="c" name="t"><failure/></testcase>', '<testcase classname="c" name="t"/>'
    results = read_junit(f"<testsuite name='s'>{red}{green}</testsuite>").results
    assert [(each.attempt, each.outcome.name) for each in results] == [(1, "VIOLATES"), (2, "CONFORMS")]


NIGHT = """<testsuite name="s" hostname="{host}" timestamp="{at}" time="9">
<properties><property name="os" value="{os}"/></properties><testcase name="t" time="{took}"/></testsuite>"""
ONE = {"host": "h", "at": "2026-10-01T03:00:00", "os": "Linux", "took": "1"}


@pytest.mark.parametrize("changed", ["host", "at", "os", "took"])
def test_a_run_is_the_same_by_place_and_time(changed: str) -> None:
    """Elsewhere, at another time, under another property or with another answer it is another run."""
    others = {"host": "i", "at": "2026-10-02T03:00:00", "os": "Windows", "took": "2"}
    (one,) = read_junit(NIGHT.format(**ONE)).results
    (again,) = read_junit(f"<testsuites name='merged'>{NIGHT.format(**ONE)}</testsuites>").results
    (other,) = read_junit(NIGHT.format(**{**ONE, changed: others[changed]})).results

    assert one.run == again.run != other.run
    assert one.run != ""


def test_a_case_without_a_time_is_known_by_its_place_only() -> None:
    """The same content in the next night is another run."""
    (result,) = read_junit("<testsuite name='s'><testcase name='t' time='0.000'/></testsuite>").results
    assert result.run == ""


def test_a_case_began_while_its_suite_ran() -> None:
    """How long a suite around it took says nothing of a suite that has a start of its own."""
    case, starts = '<testcase name="t"/>', ("2026-10-01T03:00:00", "2026-10-01T03:00:30")
    inner = f'<testsuite name="s" timestamp="{starts[1]}">{case}</testsuite>'
    alone, nested = read_junit(f'<testsuites timestamp="{starts[0]}" time="90">{case}{inner}</testsuites>').results
    assert [str(each.until)[11:19] for each in (alone, nested)] == ["03:01:30", "03:00:30"]


def test_a_clock_that_was_not_set_for_one_case_gives_way_to_that_of_its_suite() -> None:
    """In googletest's XML it is 1970 for a test that did not run."""
    case = "<testcase name='t' timestamp='1970-01-01T00:00:00'/>"
    (result,) = read_junit(f"<testsuite name='s' timestamp='2026-10-01T03:00:00'>{case}</testsuite>").results
    assert (str(result.started_at), result.odd_time) == ("2026-10-01 03:00:00+00:00", "")


@pytest.mark.parametrize(
    ("times", "took_ms"),
    [
        (("0,25", "1,234"), [250.0, 1_234.0]),
        (("0.25", "1,234"), [250.0, 1_234_000.0]),
        (("1.234,5", "0,5"), [1_234_500.0, 500.0]),
        (("1,234.5", "0.5"), [1_234_500.0, 500.0]),
    ],
)
def test_a_comma_is_what_the_rest_of_the_file_makes_it(times: tuple[str, str], took_ms: list[float]) -> None:
    """A decimal mark, or one between thousands."""
    cases = "".join(f"<testcase name='t{place}' time='{time}'/>" for place, time in enumerate(times))
    assert [each.duration_ms for each in read_junit(f"<testsuite name='s'>{cases}</testsuite>").results] == took_ms
