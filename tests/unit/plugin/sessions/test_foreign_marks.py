"""Facts about sessions of other projects, which have marks of their own by the short names of ours."""

import pytest

from pytest_kmigrate.plugin.marks import MARKS

pytest_plugins = ["pytester"]

FOREIGN = """
import pytest

@pytest.mark.nightly
def test_nightly(): pass

@pytest.mark.needs("docker")
def test_needs(): pass

@pytest.mark.since("1.2")
def test_since(): pass

@pytest.mark.until("2")
def test_until(): pass

@pytest.mark.requirement("REQ-17")
def test_requirement(): pass

@pytest.mark.known_bug("JIRA-7")
def test_known_bug(): pass

@pytest.mark.topology("t1-8gpu")
def test_topology(): pass

@pytest.mark.scene("login")
def test_scene(): pass

@pytest.mark.starts_at("12:00")
def test_starts(): pass

@pytest.mark.start_condition("foo")
class TestStartCondition:
    @pytest.mark.parametrize("one", [1, pytest.param(2, marks=pytest.mark.sample(3))])
    def test_it(self, one): pass

@pytest.mark.spoils("milk")
def test_spoils(): pass

pytestmark = [pytest.mark.nightly("each"), pytest.mark.requirement(7)]
"""
"""Every short name, with what it never has as a mark of ours."""

OWN_FIXTURES = """
import pytest

@pytest.fixture
def topology(): return "t1-8gpu"

@pytest.fixture(autouse=True)
def cluster(): return 7

@pytest.fixture
def verify(cluster): return cluster

@pytest.mark.requirement("REQ-17")
@pytest.mark.nightly
@pytest.mark.topology("t1")
def test_it(topology, verify, cluster): assert (topology, verify) == ("t1-8gpu", 7)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("-n", "2"), ("-p", "no:terminal"), ("-p", "no:xdist", "-p", "no:allure_pytest"), ("-m", "nightly")]
)
def test_marks_of_another_project_mean_nothing_to_us(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    """All of its tests run, with its own registration under --strict-markers, and without a warning."""
    lines = "\n".join(f"    {name}: what they mean there" for name, *_ in MARKS)
    pytester.makeini(f"[pytest]\nmarkers =\n{lines}\naddopts = --strict-markers -W error\n")
    pytester.makepyfile(FOREIGN)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)
    assert result.ret == 0
    if "no:terminal" not in options:
        result.assert_outcomes(passed=12)


@pytest.mark.slow
def test_a_mark_that_another_project_forgot_to_register_is_still_an_error_there(pytester: pytest.Pytester) -> None:
    """Short names are not registered for everybody, and ``pytest --markers`` lists ours by their long names."""
    pytester.makepyfile("import pytest\n\n@pytest.mark.nightly\ndef test_it(): pass\n")
    result = pytester.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*'nightly' not found in `markers` configuration option*"])
    listed = pytester.runpytest_subprocess("--markers").stdout.str()
    for name, *_ in MARKS:
        assert f"@pytest.mark.kmigrate_{name}" in listed
        assert f"@pytest.mark.{name}" not in listed


def test_fixtures_of_another_project_that_are_called_as_ours_make_no_test_ours(pytester: pytest.Pytester) -> None:
    """Its own fixtures override ours, so the test uses none of ours."""
    pytester.makepyfile(OWN_FIXTURES)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "4.0.0")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "test",
    [
        "def test_it(topology): pass",
        "@pytest.fixture(autouse=True)\ndef always(topology): pass\n\n{mark}\ndef test_it(): pass",
        "@pytest.fixture\ndef through(topology): pass\n\n{mark}\ndef test_it(through): pass",
        "{mark}\nclass TestIt:\n    def test_it(self, topology): pass",
        "@pytest.fixture\ndef topology(topology): return topology\n\n{mark}\ndef test_it(topology): pass",
        "@pytest.mark.parametrize('one', [pytest.param(1, marks={bare})])\ndef test_it(one, topology): pass",
        "pytestmark = {bare}\n\ndef test_it(topology): pass",
    ],
)
@pytest.mark.parametrize("name", ["requirement", "kmigrate_requirement"])
def test_a_mark_counts_for_a_test_that_uses_a_fixture_of_ours(pytester: pytest.Pytester, name: str, test: str) -> None:
    """By whichever way, and by the long name as by the short one; the error names the one that was written."""
    bare = f"pytest.mark.{name}(5)"
    mark = f"@{bare}"
    shown = test.format(mark=mark, bare=bare) if "{" in test else f"{mark}\n{test}"
    pytester.makepyfile(f"import pytest\n\n{shown}\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *test_it*: marker {name}: expected texts, got 5: write @pytest.mark.{name}*"])


def test_a_short_name_that_the_project_registers_stays_its_own_on_tests_of_ours(pytester: pytest.Pytester) -> None:
    """A line says so, as a mark that was meant for us would be lost; the long name counts."""
    pytester.makeini("[pytest]\nmarkers =\n    requirement(id): of our tracker\n    nightly: at night\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.nightly
        @pytest.mark.requirement("REQ-17")
        @pytest.mark.kmigrate_requirement("K866-TEST-happy-path")
        def test_it(topology): pass

        @pytest.mark.kmigrate_nightly
        def test_at_night(topology): pass
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines([
        "kmigrate: this project registers the mark nightly itself: of this package is kmigrate_nightly",
        "kmigrate: this project registers the mark requirement itself: *",
    ])  # fmt: skip


@pytest.mark.slow
def test_a_conftest_that_imports_our_fixtures_registers_the_short_names(pytester: pytest.Pytester) -> None:
    """So a suite of a user runs under --strict-markers and -W error as the suites of this package do."""
    folder = pytester.mkdir("kafka")
    (folder / "conftest.py").write_text("from pytest_kmigrate.suites.kip_866.fixtures import *\n")
    marked = "@pytest.mark.requirement('K866-TEST-happy-path')\n@pytest.mark.sample\n"
    (folder / "test_kafka.py").write_text(f"import pytest\n\n{marked}def test_it(topology): pass\n")
    result = pytester.runpytest_subprocess("--strict-markers", "-W", "error", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
