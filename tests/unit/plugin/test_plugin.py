"""Facts about the plugin as pytest's users meet it, each by a pytest of its own."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.judging.judge import Judgement
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates
from tests.unit.plugin.conftest import TEST, Plant, PlantedRun

Judged = Callable[..., pytest.RunResult]
pytest_plugins = ["pytester"]
HEAVY = ("numpy", "confluent_kafka", "pyspark", "pyarrow", "kazoo", "psutil", "cryptography", "pydantic")


@pytest.fixture
def judged(pytester: pytest.Pytester, plant: Plant) -> Judged:
    """An inner pytest of one test whose run is judged by these verdicts."""

    def run(*verdicts: Verdict) -> pytest.RunResult:
        plant(*verdicts)
        pytester.makepyfile(TEST)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider")

    return run


@pytest.mark.slow
def test_the_plugin_costs_no_heavy_import() -> None:
    """A plugin is loaded at every start, also where Kafka is not tested."""
    code = f"import sys, pytest_kmigrate.plugin; print([name for name in {HEAVY!r} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_an_unknown_requirement_is_refused_at_collection(pytester: pytest.Pytester) -> None:
    """No test runs; the error names the test, the id, and the nearest one that there is."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.requirement("K866-FAIL-crash-in-migratoin")
        def test_it(topology):
            pass
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*::test_it: *crash-in-migratoin*did you mean*K866-FAIL-crash-in-migration*"])


@pytest.mark.parametrize(
    ("profile", "expected"), [("kip-866", {"passed": 2}), ("kip-125", {"passed": 1, "skipped": 1})]
)
def test_a_test_of_another_document_is_left_out(
    pytester: pytest.Pytester, profile: str, expected: dict[str, int]
) -> None:
    """Requirements of two documents are never mixed under one name; tests that claim none always run."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.requirement("K866-FAIL-crash-in-migration")
        def test_of_kip_866(topology):
            pass

        def test_of_none(topology):
            pass
        """
    )
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider", "--kmigrate-profile", profile)
    result.assert_outcomes(**expected)
    if "skipped" in expected:
        result.stdout.fnmatch_lines(["SKIPPED*judges requirements of kip-866, and --kmigrate-profile is kip-125"])


def test_tests_that_use_none_of_it_run_as_ever(pytester: pytest.Pytester) -> None:
    """The plugin adds nothing: no line of its own but in pytest's list of plugins."""
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert "kmigrate" not in re.sub("^(plugins|rootdir): .*$", "", result.stdout.str(), flags=re.MULTILINE)


def test_everything_conforms_is_a_pass(judged: Judged) -> None:
    """Nothing is raised, and a table at the end says so."""
    result = judged(conforms("over 10 records").by("no_acked_record_lost"))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*kmigrate verdicts*", "CONFORMS*"])


def test_the_table_has_one_line_per_test(judged: Judged) -> None:
    """Verdict, test and run folder stand beside each other."""
    judged(conforms("all").by("a")).stdout.fnmatch_lines(["CONFORMS * test_it  runs/run-1"])


def test_inconclusive_is_not_a_pass(judged: Judged) -> None:
    """One inconclusive verdict beside conforming ones fails the test, and says what was missing."""
    verdict = inconclusive(Kind.VACUOUS, "kill(x) was not witnessed").by("every_fault_was_witnessed")
    result = judged(conforms("all").by("a"), verdict)
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["INCONCLUSIVE (VACUOUS) every_fault_was_witnessed: kill(x) was not witnessed"])


def test_no_verdict_at_all_is_not_a_pass(judged: Judged) -> None:
    """A run that was judged by nothing is inconclusive."""
    judged().assert_outcomes(failed=1)


def test_a_violation_says_five_things(judged: Judged) -> None:
    """Expected, observed with when, evidence, the folder, and the command that does it again; no stack trace."""
    found = Violation("every record is read", "3 were not, 1.2 s after kill(x)", 5, ("event 41", "logs/broker-0/"))
    result = judged(violates(Kind.SAFETY, [found]).by("no_acked_record_lost"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "VIOLATES (SAFETY) no_acked_record_lost: 1 x: *",
            "  expected: every record is read",
            "  observed: 3 were not, 1.2 s after kill(x)",
            "  evidence: event 41, logs/broker-0/",
            "evidence: runs/run-1",
            "again: pytest t --kmigrate-seed 7",
            "VIOLATES * test_it  runs/run-1",
        ]
    )
    assert "def test_it" not in result.stdout.str()


def test_a_violation_names_the_known_bugs_it_looks_like(judged: Judged) -> None:
    """On a release that has them; what is new beside them makes the test fail."""
    found = Violation("no topic lives on", "doomed-1 does")
    red = violates(Kind.SAFETY, [found]).by("expectations_met")
    judged(red, replace(red, known_bugs=("KAFKA-15605",))).stdout.fnmatch_lines(["  known as KAFKA-*"])


def test_only_some_of_many_violations_are_shown(judged: Judged) -> None:
    """The rest is counted, with where to find it."""
    found = [Violation("a", f"b{number}") for number in range(8)]
    result = judged(violates(Kind.SAFETY, found).by("check"))
    result.stdout.fnmatch_lines(["  observed: b2", "  and 5 more in verdicts.jsonl"])


def test_a_fault_the_provider_cannot_do_is_a_skip_with_its_reason(pytester: pytest.Pytester, plant: Plant) -> None:
    """NOT_APPLICABLE is shown as skipped, never as passed."""
    plant()
    pytester.makepyfile(
        """
        from pytest_kmigrate import Kill, targets

        def test_it(inject):
            with inject(Kill(targets.random_broker())):
                pass
        """
    )
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * kill(random-broker) needs what this provider does not offer: kill, start"])


def test_a_run_that_shows_none_of_it_is_a_skip_with_its_reason(judged: Judged) -> None:
    """When every verdict is NOT_APPLICABLE the test is skipped and says why."""
    result = judged(not_applicable("no migration step was asked for").by("steps_completed"))
    result.assert_outcomes(skipped=1)


def test_a_test_that_failed_before_verify_is_in_the_table_too(pytester: pytest.Pytester, plant: Plant) -> None:
    """Its folder is where the evidence is, so the summary must name it."""
    plant()
    pytester.makepyfile("def test_it(kmigrate_run):\n    raise ZeroDivisionError\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*ZeroDivisionError*", "INCONCLUSIVE * test_it  runs/run-1"])


@pytest.mark.parametrize(
    ("verdict", "reported"),
    [
        (violates(Kind.SAFETY, [Violation("kept", "lost")]).by("a"), "*VIOLATES (SAFETY) a: *"),
        (conforms("all").by("a"), "*expected the test to call verify(...): nothing was judged*"),
    ],
)
def test_a_test_that_never_verifies_does_not_pass(
    pytester: pytest.Pytester, plant: Plant, verdict: Verdict, reported: str
) -> None:
    """It came to its end, and its run was not looked at."""
    plant(verdict)
    pytester.makepyfile("def test_it(kmigrate_run):\n    pass\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([reported])


@pytest.mark.parametrize(("ended_by", "read_back"), [("KeyboardInterrupt", False), ("ZeroDivisionError", True)])
@pytest.mark.slow
def test_who_interrupts_need_not_wait_for_a_final_read(
    pytester: pytest.Pytester, plant: Plant, ended_by: str, read_back: bool
) -> None:
    """After a Ctrl-C a run is judged by what is there; after any other end everything is read back first."""
    runs = plant()
    pytester.makepyfile(f"def test_it(kmigrate_run):\n    raise {ended_by}\n")
    pytester.runpytest_inprocess("-p", "no:cacheprovider", no_reraise_ctrlc=True)
    assert [run.was_read_back for run in runs] == [read_back]


def test_an_interrupt_while_a_run_is_read_back_has_it_judged(
    pytester: pytest.Pytester, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that serves no client may take minutes to be read; what else was recorded has its verdicts."""
    runs, verify = plant(), PlantedRun.verify

    def interrupted(self: PlantedRun, checks: Sequence[Check] | None, *, reads_back: bool = True) -> Judgement:
        if reads_back:
            raise KeyboardInterrupt
        return verify(self, checks, reads_back=reads_back)

    monkeypatch.setattr(PlantedRun, "verify", interrupted)
    pytester.makepyfile("def test_it(kmigrate_run):\n    raise ZeroDivisionError\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert [run.judgement is not None for run in runs] == [True]


@pytest.mark.parametrize(("kind", "observed", "dumps"), [("LIVENESS", 1, 1), ("LIVENESS", 0, 0), ("SAFETY", 1, 0)])
def test_what_does_not_go_on_leaves_a_thread_dump(
    pytester: pytest.Pytester, plant: Plant, kind: str, observed: int, dumps: int
) -> None:
    """At once, of a promise of liveness that is not kept: when the test ends the threads may stand elsewhere."""
    runs = plant(conforms("all").by("a"))
    pytester.makepyfile(
        f"""
        from pytest_kmigrate.model.verdict import Kind

        def test_it(expect, verify):
            expect("pending", lambda: {observed}, equals=0, within_s=0, kind=Kind.{kind})
            verify()
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert [run.dumps for run in runs] == [dumps]
