"""Facts about tests that ask for a fixture of ours in other ways than by an argument: their marks are honoured."""

import pytest

from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.verdict import Kind, Violation, conforms, not_applicable, violates
from tests.unit.plugin.conftest import Plant

pytest_plugins = ["pytester"]
QUIET = ("-p", "no:cacheprovider", "-rs")
LATE = "def test_it(request):\n    request.getfixturevalue('verify')()\n"
OF_UNITTEST = """
class TestIt(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def have(self, verify):
        self.verify = verify

    def test_it(self):
        self.verify()
"""
IN_SETUP = """
@pytest.fixture
def have(request):
    return request.getfixturevalue("verify")

{mark}
def test_it(have):
    have()
"""


def module_of(mark: str, test: str) -> str:
    """A test with a mark, in one of the ways to ask for fixtures."""
    return f"import unittest\n\nimport pytest\n\n{test.format(mark=mark) if '{mark}' in test else mark + test}"


@pytest.mark.parametrize("test", [LATE, OF_UNITTEST.lstrip(), IN_SETUP])
def test_a_test_begins_where_its_mark_has_it_begin(pytester: pytest.Pytester, plant: Plant, test: str) -> None:
    """The cluster of a test that asks for it while it runs is brought there at once."""
    runs = plant(conforms("fine").by("phase_reached"))
    pytester.makepyfile(module_of("@pytest.mark.starts_at('HYBRID')\n", test))
    pytester.runpytest_inprocess(*QUIET).assert_outcomes(passed=1)
    assert [run.walked for run in runs] == [[Start("HYBRID", is_filled=False)]]


@pytest.mark.parametrize(
    ("mark", "reported"),
    [
        ("starts_at('NOWHERE')", "marker starts_at: expected one of HYBRID, ALL_KRAFT; got NOWHERE"),
        ("kmigrate_starts_at(5)", "marker kmigrate_starts_at: expected a state, *"),
        ("requirement('REQ-17')", 'expected a requirement id, got "REQ-17"*'),
        ("topology('none')", "marker topology: expected a file, *"),
        ("needs('magic')", "marker needs: expected some of *"),
    ],
)
def test_a_wrong_mark_fails_the_test_that_asks_late(
    pytester: pytest.Pytester, plant: Plant, mark: str, reported: str
) -> None:
    """By one sentence and the line of the test; no cluster was started, and the other tests run."""
    runs = plant(conforms("fine").by("phase_reached"))
    pytester.makepyfile(module_of(f"@pytest.mark.{mark}\n", LATE) + "\ndef test_other(): pass\n")
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines([reported, "test: *.py:7"])
    assert runs == []


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        ("since('9.9.9')", "NOT_APPLICABLE: is about what Kafka has since 9.9.9, and that of the topology is *"),
        ("until('3.0.0')", "NOT_APPLICABLE: is about what Kafka has until 3.0.0, *"),
        ("nightly", "is marked nightly: --kmigrate-nightly runs it"),
        ("requirement('K125-CFG-enabled-default')", "judges requirements of kip-125, *"),
    ],
)
def test_what_cannot_run_here_is_skipped_when_it_asks(
    pytester: pytest.Pytester, plant: Plant, mark: str, reason: str
) -> None:
    """For the same reason as at collection, and before a cluster is started."""
    runs = plant(conforms("fine").by("phase_reached"))
    pytester.makepyfile(module_of(f"@pytest.mark.{mark}\n", LATE))
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines([f"SKIPPED*{reason}"])
    assert runs == []


@pytest.mark.parametrize("mark", ["since('9.9.9')", "starts_at('NOWHERE')"])
def test_marks_count_on_a_topology_of_the_projects_own(pytester: pytest.Pytester, plant: Plant, mark: str) -> None:
    """The fixture ``topology`` may be overridden; what it returns is known only when the test runs."""
    runs = plant(conforms("fine").by("phase_reached"))
    own = "@pytest.fixture\ndef topology(): return 'zk1-broker3-controller3'\n\n"
    pytester.makepyfile(f"import pytest\n\n{own}@pytest.mark.{mark}\ndef test_it(verify): verify()\n")
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(**{"skipped" if "since" in mark else "errors": 1})
    assert runs == []


def test_a_fixture_that_returns_no_topology_is_one_clear_error(pytester: pytest.Pytester, plant: Plant) -> None:
    """It names what a fixture of this name has to return."""
    plant(conforms("fine").by("phase_reached"))
    pytester.makepyfile("import pytest\n\n@pytest.fixture\ndef topology(): return 7\n\ndef test_it(verify): verify()\n")
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["fixture topology: expected a Topology, the path of a topology file *; got 7: *"])
    assert "Traceback" not in result.stdout.str()


def test_a_start_that_nothing_brought_about_is_no_verdict(pytester: pytest.Pytester, plant: Plant) -> None:
    """A runner that goes past pytest's hook for a test never brought the cluster there."""
    runs = plant(conforms("fine").by("phase_reached"))
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def judged(verify):
            verify()

        @pytest.mark.starts_at("HYBRID")
        def test_it(judged): pass
        """
    )
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["marker starts_at: expected the cluster in HYBRID when the test begins, *"])
    assert [run.walked for run in runs] == [[]]


@pytest.mark.parametrize("test", [LATE, OF_UNITTEST.lstrip()])
def test_a_violation_is_reported_by_its_message(pytester: pytest.Pytester, plant: Plant, test: str) -> None:
    """However the test asked for it."""
    plant(violates(Kind.SAFETY, [Violation("every record is read", "3 were not")]).by("no_acked_record_lost"))
    pytester.makepyfile(module_of("", test))
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["VIOLATES (SAFETY) no_acked_record_lost: 1 x: *", "test: *.py:*", "VIOLATES *"])
    assert "in have" not in result.stdout.str()


@pytest.mark.parametrize("test", [LATE, OF_UNITTEST.lstrip()])
def test_what_a_run_cannot_show_is_a_skip(pytester: pytest.Pytester, plant: Plant, test: str) -> None:
    """Also in a test of unittest."""
    plant(not_applicable("no migration step was asked for").by("steps_completed"))
    pytester.makepyfile(module_of("", test))
    pytester.runpytest_inprocess(*QUIET).assert_outcomes(skipped=1)


@pytest.mark.parametrize("test", ["def test_it(request): request.getfixturevalue('kmigrate_run')\n"])
def test_a_late_run_that_nobody_judged_does_not_pass(pytester: pytest.Pytester, plant: Plant, test: str) -> None:
    """As if its fixture had been an argument."""
    plant(conforms("all").by("a"))
    pytester.makepyfile(test)
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*expected the test to call verify(...): nothing was judged*"])
