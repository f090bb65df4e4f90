"""A run that needs no cluster: what a test inside pytester verifies is judged by verdicts planted from outside."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

# Loaded before any inner pytest, which forgets what it loaded: each would take some 0.2 s for it.
import pytest_kmigrate.providers.process.provider
import pytest_kmigrate.topology.loading  # noqa: F401
from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.checkers.run.doubts import doubted
from pytest_kmigrate.faults.injection import Injector
from pytest_kmigrate.judging.checks import all_checkers
from pytest_kmigrate.judging.judge import Judgement
from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Kind, Verdict
from pytest_kmigrate.plugin import living
from pytest_kmigrate.plugin.outcomes import remember_run
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.fakes import MemoryRecorder

all_checkers()
"""Imported by a test of an inner pytest in this process, modules would be forgotten with it, and come a second time."""


@pytest.fixture(autouse=True)
def _short_names_are_known() -> Iterator[None]:
    """An inner pytest without a conftest warns of short names, unless what ran before it has looked them up."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=pytest.PytestUnknownMarkWarning)
        yield


TEST = "def test_it(verify):\n    verify()\n"
"""A test of an inner pytest that has its run judged."""


def known_on(verdicts: Iterable[Verdict], kafka: str) -> list[Verdict]:
    """The same, each explained by those of its bugs that this release has."""
    return [
        replace(verdict, known_bugs=tuple(bug for bug in verdict.known_bugs if known_bug(bug).breaks(kafka)))
        for verdict in verdicts
    ]


class PlantedRun:
    """Stands for a live run of a provider that can do nothing."""

    folder = RunFolder(Path("runs") / "run-1")

    def __init__(self, planted: Sequence[Verdict], kafka: str) -> None:
        self._planted = list(planted)
        self._kafka = kafka
        self.judgement: Judgement | None = None
        self.was_read_back: bool | None = None
        self.recorder = MemoryRecorder()
        self.scene = SimpleNamespace(cluster=SimpleNamespace(capabilities=frozenset()), recorder=self.recorder)
        self.inject = Injector(self.scene)  # type: ignore[arg-type]  # a stand-in
        self.dumps = 0
        self.troubles: list[str] = []
        self.walked: list[Start] = []

    def verify(self, checks: Sequence[Check] | None, *, reads_back: bool = True) -> Judgement:
        """What was planted, in a run on a release with known bugs; doubted if the test did not plant it."""
        self.was_read_back = reads_back
        if checks is not None:
            self.inject.require_begun()
        if checks is None:
            self._planted = [doubted(verdict, Kind.VACUOUS, "ended early") for verdict in self._planted]
        header = RunHeader("run-1", "t", 7, self._kafka, "small", extra={"reproduce": "pytest t --kmigrate-seed 7"})
        self.judgement = Judgement(header, known_on(self._planted, self._kafka))
        return self.judgement

    def walk_to(self, start: Start) -> None:
        """Nowhere: where somebody wanted to."""
        self.walked.append(start)

    def trouble(self, what: str, error: Exception) -> None:
        """Noted, as in a run's history."""
        self.troubles.append(f"{what}: {error}")

    def dump_threads(self) -> None:
        """There are none: how often somebody asked."""
        self.dumps += 1


Plant = Callable[..., list[PlantedRun]]
"""Returns the runs as they come."""


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Lets every run of an inner pytest be judged by these verdicts, without a cluster."""

    def planted(*verdicts: Verdict, kafka: str = "3.6.0") -> list[PlantedRun]:
        runs: list[PlantedRun] = []

        @contextmanager
        def run_of(item: pytest.Item, _topology: Topology) -> Iterator[PlantedRun]:
            run = PlantedRun(verdicts, kafka)
            runs.append(run)
            remember_run(item, run)  # type: ignore[arg-type]  # a stand-in
            yield run
            living._judge_unjudged(item, run)  # type: ignore[arg-type]  # a stand-in

        monkeypatch.setattr(living, "run_of", run_of)
        return runs

    return planted
