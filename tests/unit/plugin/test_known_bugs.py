"""Facts about known bugs of Kafka in tests that are marked with them, each by a pytest of its own."""

import pytest

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, violates
from tests.unit.plugin.conftest import TEST, Plant

pytest_plugins = ["pytester"]
FOUND = [Violation("a", "b", 5, ("event 41",))]


def red_like(*bugs: str) -> list[Verdict]:
    """Red checks, each of which looks like one of these bugs."""
    return [violates(bug, Kind.SAFETY, FOUND, signatures=[known_bug(bug).signature]) for bug in bugs]


@pytest.mark.parametrize(
    ("bug", "kafka", "verdicts", "expected"),
    [
        ("KAFKA-17146", "3.9.1", red_like("KAFKA-17146"), {"xfailed": 1}),
        ("KAFKA-17146", "3.9.1", [], {"failed": 1}),  # not seen where it should be: the test has lost its teeth
        ("kmigrate-1", "3.9.1", red_like("kmigrate-1"), {"xfailed": 1}),
        ("kmigrate-1", "3.9.1", [], {"passed": 1}),  # a race may be won
        ("kmigrate-1", "3.9.1", red_like("kmigrate-2"), {"failed": 1}),  # another bug is news
        ("kmigrate-1", "3.9.1", [violates("a", Kind.SAFETY, FOUND)], {"failed": 1}),
        ("kmigrate-1", "3.9.1", [*red_like("kmigrate-1"), violates("a", Kind.SAFETY, FOUND)], {"failed": 1}),
        ("kmigrate-1", "3.9.1", [*red_like("kmigrate-1"), violates("kmigrate-1", Kind.SAFETY, FOUND)], {"failed": 1}),
        ("KAFKA-15605", "3.6.0", red_like("KAFKA-15605"), {"xfailed": 1}),
        ("KAFKA-15605", "3.9.1", red_like("KAFKA-15605"), {"failed": 1}),
        ("KAFKA-15605", "3.9.1", [], {"passed": 1}),
    ],
)
def test_a_known_bug_is_expected_where_it_is_known(
    pytester: pytest.Pytester, plant: Plant, bug: str, kafka: str, verdicts: list[Verdict], expected: dict[str, int]
) -> None:
    """The catalogue says on which releases a test that shows a bug has to be red; no other red is expected of it."""
    plant(conforms("b", "all"), *verdicts, kafka=kafka)
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug({bug!r})\n{TEST}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", kafka)
    result.assert_outcomes(**expected)


def test_the_bug_that_showed_is_the_one_that_is_told(pytester: pytest.Pytester, plant: Plant) -> None:
    """Of several that a test may meet: the reason names no other."""
    plant(*red_like("kmigrate-1"), kafka="3.9.1")
    marks = "".join(f"@pytest.mark.known_bug({bug!r})\n" for bug in ("kmigrate-2", "kmigrate-1", "kmigrate-4"))
    pytester.makepyfile(f"import pytest\n\n{marks}{TEST}")
    result = pytester.runpytest_inprocess("-rx", "-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    result.stdout.fnmatch_lines(["XFAIL *::test_it - kmigrate-1: *"])


STUCK = """
    import pytest
    from pytest_kmigrate.model.errors import ClusterError

    @pytest.mark.known_bug("kmigrate-4")
    def test_it(kmigrate_run):
        error = ClusterError("never in sync")
        error.signature = {signature!r}
        raise error
"""
KMIGRATE_4 = known_bug("kmigrate-4").signature


@pytest.mark.parametrize(
    ("signature", "more", "options", "expected"),
    [
        (KMIGRATE_4, [], [], {"xfailed": 1}),
        (KMIGRATE_4, [violates("a", Kind.SAFETY, FOUND)], [], {"xfailed": 1, "errors": 1}),
        (KMIGRATE_4, [], ["--runxfail"], {"failed": 1}),
        (known_bug("kmigrate-1").signature, [], [], {"failed": 1}),
        ("", [], [], {"failed": 1}),
    ],
    ids=["expected", "and a lost record", "asked to run", "another bug", "nothing known"],
)
def test_a_step_that_fails_by_an_expected_bug_is_no_news(
    pytester: pytest.Pytester,
    plant: Plant,
    signature: str,
    more: list[Verdict],
    options: list[str],
    expected: dict[str, int],
) -> None:
    """The test ends there; what else its run shows is judged at its end, and excused by nothing."""
    plant(*red_like("kmigrate-4"), *more, kafka="3.9.1")
    pytester.makepyfile(STUCK.format(signature=signature))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1", *options)
    result.assert_outcomes(**expected)


def test_an_unknown_bug_is_refused_at_collection(pytester: pytest.Pytester) -> None:
    """As with requirements: the error names the test and the nearest id."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug('KAFKA-1560')\n{TEST}")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['*::test_it: *got "KAFKA-1560"; did you mean*KAFKA-15605*'])
