"""Which requirements of a profile runs have said something about, and the worst that was said."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.catalogue import Requirement, requirements
from pytest_kmigrate.model.errors import RunFolderError, WrongUseError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.verdicts import stored_verdicts


@dataclass(frozen=True)
class Covered:
    """One requirement: the worst outcome and the number of runs that judged it; None and 0: nobody did."""

    requirement: Requirement
    worst: Outcome | None
    runs: int


@dataclass(frozen=True)
class Coverage:
    """A profile over many runs; ``unread`` says which run folders could not be used, and why."""

    rows: tuple[Covered, ...]
    runs: int
    unread: tuple[str, ...]

    @property
    def counted(self) -> tuple[Covered, ...]:
        """The rows that count: a requirement covered by another one is counted there."""
        return tuple(row for row in self.rows if row.requirement.covered_by is None)

    def of(self, outcome: Outcome | None) -> int:
        """How many requirements have this as their worst outcome."""
        return sum(row.worst is outcome for row in self.counted)


def coverage(profile: str, runs: Path) -> Coverage:
    """What the run folders below ``runs`` say about a profile's requirements."""
    wanted = requirements(profile)
    if not runs.is_dir():
        raise WrongUseError(f"{runs}: expected a folder of runs, got none; give the folder of --kmigrate-runs")
    folders = [RunFolder(file.parent) for file in sorted(runs.rglob("run.json"))]
    if not folders:
        raise WrongUseError(f"{runs}: expected at least one run folder (one with a run.json) in it, got none")
    judged: dict[str, list[Outcome]] = defaultdict(list)
    unread = []
    for folder in folders:
        try:
            for requirement_id, outcome in _worst_of(folder).items():
                judged[requirement_id].append(outcome)
        except RunFolderError as error:
            unread.append(str(error))
    rows = tuple(Covered(each, max(judged[each.id], default=None), len(judged[each.id])) for each in wanted)
    return Coverage(rows, len(folders) - len(unread), tuple(unread))


def _worst_of(folder: RunFolder) -> Mapping[str, Outcome]:
    """By requirement, the worst of one run's verdicts."""
    if not folder.verdicts.is_file():
        raise RunFolderError(f"{folder.path}: no verdicts.jsonl: the run was interrupted; `kmigrate judge` judges it")
    worst: dict[str, Outcome] = {}
    for verdict in stored_verdicts(folder):
        for each in verdict.about:
            if not each.is_vacuous:
                worst[each.requirement] = max(each.outcome, worst.get(each.requirement, each.outcome))
    return worst
