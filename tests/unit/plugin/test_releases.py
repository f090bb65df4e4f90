"""Facts about what runs on which release, by which document, and on whose word: asked before anything is started."""

from pathlib import Path

import pytest

from pytest_kmigrate.distributions.releases import known_releases
from pytest_kmigrate.model.verdict import conforms
from pytest_kmigrate.topology.loading import SHIPPED
from tests.unit.plugin.conftest import TEST, Plant
from tests.unit.plugin.test_known_bugs import red_like

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]
QUIET = ("-p", "no:cacheprovider", "-rsx")
MIXED = "zk1-broker3-controller3-mixed"
OWN = "def test_own(topology): pass\n"


@pytest.fixture
def older(pytester: pytest.Pytester) -> Path:
    """A topology file that names a release of its own."""
    text = (SHIPPED / "zk1-broker3-controller1.toml").read_text().replace('"3.9.1"', '"3.8.1"')
    file = pytester.path / "older.toml"
    file.write_text(text)
    return file


def test_what_a_release_cannot_run_is_not_applicable_and_the_rest_runs(pytester: pytest.Pytester) -> None:
    """A topology that is right by itself but not with this release is named with the key that rules it out."""
    pytester.makepyfile(f"import pytest\n{OWN}\n@pytest.mark.topology('{MIXED}')\ndef test_mixed(topology): pass\n")
    result = pytester.runpytest_inprocess(*QUIET, "--kmigrate-kafka", "3.6.0")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*: NOT_APPLICABLE: --kmigrate-kafka 3.6.0: *inter.broker.protocol.version*"])


@pytest.mark.parametrize("provider", ["process", "docker"])
def test_an_image_that_cannot_be_had_is_wrong_use_at_collection(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    """Another provider runs none, and without an engine there is none: one sentence, and no test."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{pytester.path}/none.sock")
    pytester.makepyfile(f"import pytest\n{OWN}")
    options = ["--kmigrate-kafka", "image:acme/kafka:7", "--kmigrate-provider", provider]
    result = pytester.runpytest_inprocess(*QUIET, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = {
        "process": "ERROR: *: --kmigrate-kafka: expected a release or a path (an image is named by an option, *",
        "docker": "ERROR: *: */none.sock: expected a container engine, got no such file; start it *",
    }
    result.stderr.fnmatch_lines([expected[provider]])


def test_a_release_for_some_topologies_only_skips_the_others(pytester: pytest.Pytester) -> None:
    """4.x knows no ZooKeeper; a test without it runs."""
    kraft = "@pytest.mark.topology('kraft-broker3-controller3')\ndef test_kraft(topology): pass\n"
    pytester.makepyfile(f"import pytest\n{OWN}\n{kraft}")
    result = pytester.runpytest_inprocess(*QUIET, "--kmigrate-kafka", "4.0.0")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*: NOT_APPLICABLE: --kmigrate-kafka: expected a release before 4.0.0*"])


def test_a_test_that_says_itself_until_when_it_is_for_is_no_mistake_alone(pytester: pytest.Pytester) -> None:
    """Where no other test can run either, the reason is its marker's, and pytest has not been used wrongly."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.until('4.0.0')\n{OWN}")
    result = pytester.runpytest_inprocess(*QUIET, "--kmigrate-kafka", "4.0.0")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*: NOT_APPLICABLE: is about what Kafka has until 4.0.0, *kafka is 4.0.0"])


def test_what_a_deselected_test_needs_is_not_asked(pytester: pytest.Pytester) -> None:
    """Its topology may not be there at all."""
    pytester.makepyfile(f"import pytest\n{OWN}\n@pytest.mark.topology('none.toml')\ndef test_other(topology): pass\n")
    pytester.runpytest_inprocess(*QUIET, "-k", "own").assert_outcomes(passed=1, deselected=1)
    assert pytester.runpytest_inprocess(*QUIET).ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("code", ["Phase.HYBRID", "'HYBRID'", "[Phase.HYBRID for _ in ()]"])
def test_a_state_that_a_release_never_comes_to_is_asked_for_at_collection(pytester: pytest.Pytester, code: str) -> None:
    """Where the code of the test names it; controllers of a later release can come to it."""
    pytester.makepyfile(
        f"from pytest_kmigrate import Phase\n{OWN}\ndef test_far(topology): assert {code} is not None\n"
    )
    result = pytester.runpytest_inprocess(*QUIET, "--kmigrate-kafka", "3.3.2")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*: NOT_APPLICABLE: HYBRID: expected controllers of Kafka 3.4 to 3.9, got *"])
    pytester.runpytest_inprocess(*QUIET, "--kmigrate-kafka", "3.4.1").assert_outcomes(passed=2)


@pytest.mark.parametrize("words", [(), ("-n", "1")])
def test_a_profile_that_no_test_is_for_is_told(pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    """In one sentence, as wrong use, also with pytest-xdist; the package's own suite is one."""
    module = "pytest_kmigrate.suites.kip_866.test_transactions"
    result = pytester.runpytest_subprocess(*QUIET, *words, "--pyargs", module, "--kmigrate-profile", "kip-125")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    suites = "the package has suites of: kip-125, kip-500, kip-778, kip-866, kip-866-draft"
    result.stderr.fnmatch_lines([f"*--kmigrate-profile: *these tests judge (kip-866), got kip-125; {suites}"])


def test_a_test_without_requirement_runs_under_any_profile(pytester: pytest.Pytester) -> None:
    """It belongs to no document; those of another document are left out beside it."""
    judged = "@pytest.mark.requirement('K866-TEST-happy-path')\ndef test_judged(topology): pass\n"
    pytester.makepyfile(f"import pytest\n{OWN}\n{judged}")
    pytester.runpytest_inprocess(*QUIET, "--kmigrate-profile", "kip-500").assert_outcomes(passed=1, skipped=1)


def test_the_topology_says_which_kafka_is_tested_unless_the_option_does(pytester: pytest.Pytester, older: Path) -> None:
    """A line below the number of tests names the one that is used."""
    pytester.makepyfile("def test_it(topology): assert topology.node('broker-0').kafka == '3.8.1'\n")
    result = pytester.runpytest_inprocess(*QUIET, f"--kmigrate-topology={older}")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["kmigrate: kafka 3.8.1 (1 test), seed *"])
    other = pytester.runpytest_inprocess(*QUIET, f"--kmigrate-topology={older}", "--kmigrate-kafka", "3.9.1")
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(["kmigrate: kafka 3.9.1, seed *"])
    other.stdout.no_fnmatch_line("*(1 test)*")


def test_each_test_has_the_kafka_of_its_own_topology(pytester: pytest.Pytester, older: Path) -> None:
    """Counted once they are collected; a marker ``since`` goes by it, too."""
    pytester.makepyfile(
        f"""
        import pytest

        def test_of_the_default(topology): assert topology.kafka == "3.9.1"

        @pytest.mark.topology("{older}")
        def test_of_the_file(topology): assert topology.kafka == "3.8.1"

        @pytest.mark.since("3.9.0")
        @pytest.mark.topology("{older}")
        def test_of_a_later_one(topology): pass
        """
    )
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines([
        "kmigrate: kafka 3.8.1 (2 tests), 3.9.1 (1 test), seed *",
        "SKIPPED*is about what Kafka has since 3.9.0, and that of the topology is 3.8.1",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("version", "is_met", "outcome"),
    [
        ("3.9.1", True, "xfailed"),
        ("3.9.1", False, "passed"),
        ("3.9.2-SNAPSHOT", True, "xfailed"),
        ("3.3.2-SNAPSHOT", True, "failed"),
    ],
)
def test_a_bug_is_expected_of_what_the_jars_are(
    pytester: pytest.Pytester, plant: Plant, version: str, is_met: bool, outcome: str
) -> None:
    """However the distribution was named; a build may have mended it, and its numbers decide whether it had it."""
    libs = pytester.mkdir("kafka") / "libs"
    libs.mkdir()
    (libs / f"kafka-clients-{version}.jar").touch()
    plant(conforms("all").by("b"), *red_like(*["KAFKA-17146"] * is_met), kafka=version)
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug('KAFKA-17146')\n{TEST}")
    pytester.runpytest_inprocess(*QUIET, "--kmigrate-kafka=./kafka").assert_outcomes(**{outcome: 1})


@pytest.mark.parametrize(("version", "skipped"), [("3.3.2", 2), ("3.6.0-acme", 1), ("3.9.1", 0)])
def test_what_a_folder_can_run_is_known_by_its_jars(pytester: pytest.Pytester, version: str, skipped: int) -> None:
    """As of the release that they name."""
    libs = pytester.mkdir("kafka") / "libs"
    libs.mkdir()
    (libs / f"kafka-clients-{version}.jar").touch()
    mixed = f"@pytest.mark.topology('{MIXED}')\ndef test_mixed(topology): pass\n"
    far = "@pytest.mark.starts_at('HYBRID')\ndef test_far(topology): pass\n"
    pytester.makepyfile(f"import pytest\n{OWN}\n{mixed}\n{far}")
    result = pytester.runpytest_inprocess(*QUIET, "--kmigrate-kafka=./kafka")
    result.assert_outcomes(passed=3 - skipped, skipped=skipped)


@pytest.mark.parametrize("minor", ["3.4", "3.5", "3.6", "3.7", "3.8", "3.9"])
def test_the_suites_are_for_every_release(pytester: pytest.Pytester, minor: str) -> None:
    """The command of the README: most tests can be run."""
    for release in [each for each in known_releases() if each.startswith(f"{minor}.")]:
        suite = ("--pyargs", "pytest_kmigrate.suites.kip_866", "--kmigrate-kafka", release)
        items, _ = pytester.inline_genitems(*QUIET, *suite)
        run = [item for item in items if item.get_closest_marker("skip") is None]
        assert len(run) > len(items) * 0.75, release
