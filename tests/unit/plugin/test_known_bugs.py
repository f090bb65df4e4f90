"""Facts about known bugs of Kafka in tests that are marked with them, each by a pytest of its own."""

from dataclasses import replace

import pytest

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, violates
from tests.unit.plugin.conftest import TEST, Plant

pytest_plugins = ["pytester"]
FOUND = [Violation("a", "b", 5, ("event 41",))]
ERROR = violates(Kind.SAFETY, FOUND).by("a")


def red_like(*bugs: str) -> list[Verdict]:
    """Violated checks, each explained by one of these bugs."""
    return [replace(violates(Kind.SAFETY, FOUND).by(bug), known_bugs=(bug,)) for bug in bugs]


@pytest.mark.parametrize(
    ("bug", "kafka", "verdicts", "expected"),
    [
        ("KAFKA-17146", "3.9.1", red_like("KAFKA-17146"), {"xfailed": 1}),
        ("KAFKA-17146", "3.9.1", [], {"failed": 1}),  # not seen where it should be: the test has lost its teeth
        ("kmigrate-1", "3.9.1", red_like("kmigrate-1"), {"xfailed": 1}),
        ("kmigrate-1", "3.9.1", [], {"passed": 1}),  # a race may be won
        ("kmigrate-1", "3.9.1", red_like("kmigrate-5"), {"xfailed": 1}),  # another bug is no news, with its evidence
        ("kmigrate-1", "3.9.1", red_like("kmigrate-2"), {"xfailed": 1}),
        ("kmigrate-1", "3.9.1", red_like("kmigrate-2", "kmigrate-1"), {"xfailed": 1}),
        ("kmigrate-1", "3.9.1", [violates(Kind.SAFETY, FOUND).by("a")], {"failed": 1}),
        ("kmigrate-1", "3.9.1", [*red_like("kmigrate-1"), violates(Kind.SAFETY, FOUND).by("a")], {"failed": 1}),
        (
            "kmigrate-1",
            "3.9.1",
            [*red_like("kmigrate-1"), violates(Kind.SAFETY, FOUND).by("kmigrate-1")],
            {"failed": 1},
        ),
        ("KAFKA-15605", "3.6.0", red_like("KAFKA-15605"), {"xfailed": 1}),
        ("KAFKA-15605", "3.9.1", red_like("KAFKA-15605"), {"failed": 1}),
        ("KAFKA-15605", "3.9.1", [], {"passed": 1}),
    ],
)
def test_a_known_bug_is_expected_where_it_is_known(
    pytester: pytest.Pytester, plant: Plant, bug: str, kafka: str, verdicts: list[Verdict], expected: dict[str, int]
) -> None:
    """The catalogue says on which releases a test that shows a bug has to be red; no other red is expected of it."""
    plant(conforms("all").by("b"), *verdicts, kafka=kafka)
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug({bug!r})\n{TEST}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", kafka)
    result.assert_outcomes(**expected)


@pytest.mark.parametrize(
    ("causes", "expected"),
    [
        ([("kmigrate-1",), ("kmigrate-2",)], {"xfailed": 1}),
        ([("kmigrate-1",), ("KAFKA-15605",)], {"failed": 1}),
        ([("kmigrate-1", "KAFKA-15605")], {"xfailed": 1}),
    ],
    ids=["both known", "one is not in this release", "two causes of one violation"],
)
def test_each_violation_of_a_verdict_has_to_be_expected(
    pytester: pytest.Pytester, plant: Plant, causes: list[tuple[str, ...]], expected: dict[str, int]
) -> None:
    """One verdict has several, each with a cause of its own."""
    known = tuple(dict.fromkeys(bug for each in causes for bug in each))
    plant(replace(ERROR, known_bugs=known, causes=tuple(causes)), kafka="3.9.1")
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug('kmigrate-1')\n{TEST}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    result.assert_outcomes(**expected)


def test_the_bug_that_showed_is_the_one_that_is_told(pytester: pytest.Pytester, plant: Plant) -> None:
    """Of several that a test may meet: the reason names no other."""
    plant(*red_like("kmigrate-1"), kafka="3.9.1")
    marks = "".join(f"@pytest.mark.known_bug({bug!r})\n" for bug in ("kmigrate-2", "kmigrate-1", "kmigrate-4"))
    pytester.makepyfile(f"import pytest\n\n{marks}{TEST}")
    result = pytester.runpytest_inprocess("-rx", "-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    result.stdout.fnmatch_lines(["XFAIL *::test_it - kmigrate-1 (*"])
    cost = known_bug("kmigrate-1").consequence
    assert result.stdout.str().count(cost) == 2, "what it costs stands in the xfail, and beside the verdict"
    result.stdout.fnmatch_lines(["KNOWN         test_it  runs/run-1", "*known as kmigrate-1 (*"])


def test_a_bug_that_any_run_may_meet_needs_no_mark(pytester: pytest.Pytester, plant: Plant) -> None:
    """It is expected, and a run without it passes: meeting it is not certain."""
    pytester.makepyfile(TEST)
    plant(*red_like("kmigrate-3"), kafka="3.9.1")
    result = pytester.runpytest_inprocess("-rx", "-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL *::test_it - kmigrate-3 (*"])
    plant(conforms("all").by("b"), kafka="3.9.1")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    result.assert_outcomes(passed=1)


STUCK = """
    import pytest
    from pytest_kmigrate.model.errors import ClusterError

    @pytest.mark.known_bug("kmigrate-1")
    def test_it(kmigrate_run):
        error = {error}("never in sync")
        error.is_recorded = True  # as of a step that failed
        raise error
"""


@pytest.mark.parametrize(
    ("error", "verdicts", "options", "expected"),
    [
        ("ClusterError", red_like("kmigrate-1"), [], {"xfailed": 1}),
        ("ClusterError", red_like("kmigrate-4"), [], {"xfailed": 1}),
        ("ClusterError", red_like("kmigrate-1", "kmigrate-4"), [], {"xfailed": 1}),
        ("ClusterError", [*red_like("kmigrate-1"), ERROR], [], {"failed": 1}),
        ("ClusterError", red_like("kmigrate-1"), ["--runxfail"], {"failed": 1}),
        ("ClusterError", red_like("kmigrate-5"), [], {"xfailed": 1}),
        ("ClusterError", red_like("kmigrate-1"), ["--kmigrate-strict"], {"failed": 1}),
        ("ClusterError", [conforms("all").by("b")], [], {"failed": 1}),
        ("ClusterError", [], [], {"failed": 1}),
        ("AssertionError", red_like("kmigrate-1"), [], {"failed": 1}),
    ],
    ids=[
        "expected",
        "any run may meet it",
        "two of them",
        "and a lost record",
        "asked to run",
        "another bug",
        "an auditor's",
        "nothing is violated",
        "nothing was judged",
        "an error of the test",
    ],
)
def test_a_test_that_its_cluster_ended_is_expected_to_if_its_run_shows_expected_bugs_only(
    pytester: pytest.Pytester,
    plant: Plant,
    error: str,
    verdicts: list[Verdict],
    options: list[str],
    expected: dict[str, int],
) -> None:
    """Its run is judged at once, and once: a step that timed out, say, has the reason in its evidence."""
    runs = plant(*verdicts, kafka="3.9.1")
    pytester.makepyfile(STUCK.format(error=error))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1", *options)
    result.assert_outcomes(**expected)
    assert [run.dumps for run in runs] == [1]


def test_no_bug_explains_an_end_that_no_check_has_judged(pytester: pytest.Pytester, plant: Plant) -> None:
    """A tool that failed, or a wait of the test's own, is in no history: whatever else the run violates."""
    runs = plant(*red_like("kmigrate-1"), kafka="3.9.1")
    pytester.makepyfile(STUCK.replace("is_recorded = True", "is_recorded = False").format(error="ClusterError"))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    result.assert_outcomes(failed=1)
    assert [run.troubles for run in runs] == [["the test could not go on: never in sync"]]


def test_what_ends_a_fixture_is_expected_like_what_ends_the_test(pytester: pytest.Pytester, plant: Plant) -> None:
    """A cluster may be brought into a phase before the test begins."""
    plant(*red_like("kmigrate-3"), kafka="3.9.1")
    pytester.makepyfile(
        """
        import pytest
        from pytest_kmigrate.model.errors import ClusterError

        @pytest.fixture
        def hybrid(kmigrate_run):
            error = ClusterError("phase HYBRID: not within 180 s")
            error.is_recorded = True
            raise error

        def test_it(hybrid):
            pass
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    result.assert_outcomes(xfailed=1)


def test_an_unknown_bug_is_refused_at_collection(pytester: pytest.Pytester) -> None:
    """As with requirements: the error names the test and the nearest id."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug('KAFKA-1560')\n{TEST}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['*::test_it: *got "KAFKA-1560"; did you mean*KAFKA-15605*'])
