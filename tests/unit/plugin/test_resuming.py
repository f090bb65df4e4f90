"""``--kmigrate-resume``, each fact by a pytest of its own that needs no cluster."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pytest_kmigrate.judging.judge import Judgement
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, violates
from pytest_kmigrate.plugin import living
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.recording.recorder import RunRecorder, write_manifest
from pytest_kmigrate.recording.verdicts import write_verdicts
from pytest_kmigrate.running import Claim, Run, RunSettings, header_of
from pytest_kmigrate.running.header import new_folder
from tests.unit.plugin.conftest import TEST, known_on

pytest_plugins = ["pytester"]
KAFKA = "3.9.1"
RED = violates(Kind.SAFETY, [Violation("kept", "lost")]).by("a")
MET = replace(RED, known_bugs=("kmigrate-1",))
ALWAYS_MET = replace(RED, known_bugs=("KAFKA-17146",))
GREEN = conforms("all").by("a")


class WrittenRun:
    """A run without a cluster, which ends with these verdicts."""

    def __init__(self, recorder: RunRecorder, header: RunHeader, verdicts: list[Verdict]) -> None:
        self.recorder = recorder
        self.folder = recorder.folder
        self.judgement: Judgement | None = None
        self.inject = SimpleNamespace(require_begun=lambda: None)
        self._header = header
        self._verdicts = verdicts

    def verify(self, _checks: list[Check] | None, *, reads_back: bool = True) -> Judgement:
        """What was planted; an error of ours where nothing was."""
        if not self._verdicts:
            raise ClusterError("the clients never ended")
        self.judgement = Judgement(self._header, known_on(self._verdicts, self._header.kafka))
        write_verdicts(self.folder, self.judgement.verdicts)
        return self.judgement

    def trouble(self, _what: str, _error: Exception) -> None:
        """Nothing is written down."""

    def dump_threads(self) -> None:
        """There are none."""

    ended = Run.ended


Runs = Callable[..., pytest.RunResult]


@pytest.fixture
def resumed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """An inner pytest that resumes; every run of it is judged by the verdict, and its folder is whole."""
    monkeypatch.setattr(living, "plan_here", lambda _topology: None)
    monkeypatch.setattr(living, "provider_of", lambda *_: FakeProvider())

    def run(verdict: Verdict | None, *options: str) -> pytest.RunResult:
        @contextmanager
        def open_run(
            settings: RunSettings, provider: Provider, topology: Topology, claim: Claim, _finish: object
        ) -> Iterator[WrittenRun]:
            header = header_of(settings, provider, topology, claim)
            recorder = RunRecorder(new_folder(settings.runs, header), header)
            try:
                yield WrittenRun(recorder, header, [verdict] if verdict else [])
            finally:
                recorder.close()
                write_manifest(recorder.folder)

        monkeypatch.setattr(living, "open_run", open_run)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rsx", "--kmigrate-resume", *options)

    return run


def folders(pytester: pytest.Pytester) -> int:
    """How many run folders there are."""
    return len(list(pytester.path.glob("reports/runs/*/run.json")))


def test_a_test_that_passed_is_skipped_with_its_folder(pytester: pytest.Pytester, resumed: Runs) -> None:
    """It is not run again; the table of verdicts names the folder it has."""
    pytester.makepyfile(TEST)
    resumed(GREEN).assert_outcomes(passed=1)
    again = resumed(RED)
    again.assert_outcomes(skipped=1)
    again.stdout.fnmatch_lines(["SKIPPED*has a complete run in reports/runs/*-test-it-seed1-* with CONFORMS"])
    again.stdout.fnmatch_lines(["CONFORMS * test_it  reports/runs/*"])
    assert folders(pytester) == 1


@pytest.mark.parametrize("body", ["verify()", "kmigrate_run; assert False", "verify(); assert False"])
@pytest.mark.slow
def test_a_test_that_failed_is_run_again(pytester: pytest.Pytester, resumed: Runs, body: str) -> None:
    """Whether its run was judged so, or the test itself failed, before or after a verdict that conforms."""
    pytester.makepyfile(f"def test_it(kmigrate_run, verify):\n    {body}\n")
    resumed(RED if body == "verify()" else GREEN).assert_outcomes(failed=1)
    pytester.makepyfile(f"def test_it(kmigrate_run, verify):\n    {body}\n")
    resumed(RED if body == "verify()" else GREEN).assert_outcomes(failed=1)
    assert folders(pytester) == 2


@pytest.mark.slow
def test_a_run_that_could_not_be_judged_is_run_again(pytester: pytest.Pytester, resumed: Runs) -> None:
    """The test's own failure stays the only one, and its folder is no complete run."""
    pytester.makepyfile("def test_it(kmigrate_run):\n    assert False\n")
    resumed(None).assert_outcomes(failed=1)
    resumed(None).assert_outcomes(failed=1)
    assert folders(pytester) == 2


def test_a_run_whose_harness_died_is_run_again(pytester: pytest.Pytester, resumed: Runs) -> None:
    """As on a machine that was lost with its part of a night: without a manifest no run counts."""
    pytester.makepyfile(TEST)
    resumed(GREEN)
    (manifest,) = pytester.path.rglob("manifest.json")
    manifest.unlink()
    resumed(GREEN).assert_outcomes(passed=1)
    assert folders(pytester) == 2


def test_a_known_bug_is_expected_by_the_run_that_met_it(pytester: pytest.Pytester, resumed: Runs) -> None:
    """One that a race decides, and one that shows each time: as before the test has failed as expected."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug('kmigrate-1')\n{TEST}")
    resumed(MET).assert_outcomes(xfailed=1)
    again = resumed(GREEN)
    again.assert_outcomes(xfailed=1)
    again.stdout.fnmatch_lines(["XFAIL *::test_it - kmigrate-1 (*; has a complete run in reports/runs/*VIOLATES"])
    assert folders(pytester) == 1


@pytest.mark.slow
def test_a_bug_that_shows_each_time_is_expected_by_the_run_that_met_it(
    pytester: pytest.Pytester, resumed: Runs
) -> None:
    """Pytest's own strict expectation holds for a test that is not run again, too."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.known_bug('KAFKA-17146')\n{TEST}")
    resumed(ALWAYS_MET).assert_outcomes(xfailed=1)
    resumed(GREEN).assert_outcomes(xfailed=1)
    assert folders(pytester) == 1
    resumed(ALWAYS_MET, "--runxfail").assert_outcomes(failed=1)
    assert folders(pytester) == 2


@pytest.mark.slow
def test_a_test_or_a_helper_that_changed_is_run_again(pytester: pytest.Pytester, resumed: Runs) -> None:
    """Of all files that may change what it does; another test of another file does not."""
    pytester.makepyfile(TEST)
    pytester.makeconftest("")
    helper, other = pytester.path / "helper.py", pytester.path / "test_other.py"
    changes = [(pytester.path / "conftest.py", "A = 1"), (helper, "B = 1"), (other, "C = 1")]
    resumed(GREEN)
    counts = []
    for file, text in changes:
        file.write_text(text)
        resumed(GREEN)
        counts.append(folders(pytester))
    assert counts == [2, 3, 3]


@pytest.mark.parametrize("option", [("--kmigrate-seed", "2"), ("--kmigrate-runs", "elsewhere")])
def test_other_options_resume_nothing(pytester: pytest.Pytester, resumed: Runs, option: tuple[str, str]) -> None:
    """Another seed is another run; other folders are not looked into."""
    pytester.makepyfile(TEST)
    resumed(GREEN)
    resumed(GREEN, *option).assert_outcomes(passed=1)


def test_nothing_is_resumed_unasked(pytester: pytest.Pytester, resumed: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the option a complete run is history, and the test runs."""
    pytester.makepyfile(TEST)
    resumed(GREEN)
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert folders(pytester) == 2


def test_a_key_of_the_ini_file_resumes_too(pytester: pytest.Pytester, resumed: Runs) -> None:
    """As every option has one."""
    pytester.makeini("[pytest]\nkmigrate-resume = true\n")
    pytester.makepyfile(TEST)
    resumed(GREEN)
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(skipped=1)
