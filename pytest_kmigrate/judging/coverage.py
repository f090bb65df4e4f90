"""What runs say about each requirement of a profile: judged by which checks, claimed in vain, or by no test at all."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_kmigrate.catalogue import Requirement, requirement, requirements
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.other_documents import evidence_by
from pytest_kmigrate.judging.outcomes import RowOutcome, outcomes_by_requirement
from pytest_kmigrate.model.errors import RunFolderError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from pytest_kmigrate.recording.reading import read_events, read_header, read_history
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.verdicts import stored_verdicts

_TROUBLE = {
    "no_unexpected_death": " died by itself with exit code ",
    "partitions_stay_available": "trouble: reading back",
}
"""Checks of what makes a run prove nothing, and the words of it: known bugs raise no doubt about other runs."""

_ENDINGS = ("steps_completed", "expectations_met", "no_unexpected_death")
"""Checks of what ends a test before it has asked."""


@dataclass
class _Spoken:
    """What the runs read so far say about one requirement."""

    outcomes: list[Outcome] = field(default_factory=list)
    """The worst of each run that could have violated it."""
    checks: set[str] = field(default_factory=set)
    bugs: set[str] = field(default_factory=set)
    """Known bugs that explain a violation of it."""
    is_explained: bool = True
    """Whether every violation of it is explained so."""
    unseen: int = 0
    """Runs in which a check of it was judged and found nothing to look at."""


@dataclass(frozen=True)
class Covered:
    """One requirement over many runs."""

    requirement: Requirement
    worst: Outcome | None
    """The worst outcome of the runs that could have violated it; None: there was no such run."""
    runs: int
    """How many these were."""
    checks: tuple[str, ...]
    """The checks that judged it in them."""
    known_bugs: tuple[str, ...]
    """The known bugs that explain all its violations; none if one is left unexplained."""
    unseen: int
    """Runs that were judged for it without an opportunity to violate it."""

    @property
    def state(self) -> str:
        """Where it stands: its worst outcome, or why there is none."""
        if self.worst is not None:
            return self.worst.name + (f", known as {', '.join(self.known_bugs)}" if self.known_bugs else "")
        if self.requirement.covered_by:
            return f"see {self.requirement.covered_by}"
        if self.requirement.untestable:
            return f"untestable: {self.requirement.untestable}"
        runs = f"{self.unseen} run{'s' * (self.unseen != 1)}"
        return f"claimed, no opportunity in {runs}" if self.unseen else "not asked"


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


def coverage(profile: str, *runs: Path) -> Coverage:
    """What the run folders below each of ``runs`` say about a profile's requirements.

    Runs of other documents that the profile's one judges, too, are judged again by its own checks. WrongUseError when
    there is no run folder. Folders that cannot be read are named in ``unread``.
    """
    wanted = requirements(profile)
    folders = [folder for each in runs for folder in _folders_in(each)]
    said: defaultdict[str, _Spoken] = defaultdict(_Spoken)
    unread = []
    for folder in folders:
        try:
            _add(said, folder, _verdicts_of(folder, profile))
        except RunFolderError as error:
            unread.append(str(error))
    return Coverage(tuple(_covered(wanted, said)), len(folders) - len(unread), tuple(unread))


def _folders_in(runs: Path) -> list[RunFolder]:
    if not runs.is_dir():
        raise WrongUseError(f"{runs}: expected a folder of runs, got none; give the folder of --kmigrate-runs")
    folders = [RunFolder(file.parent) for file in sorted(runs.rglob("run.json"))]
    if not folders:
        raise WrongUseError(f"{runs}: expected at least one run folder (one with a run.json) in it, got none")
    return folders


def _verdicts_of(folder: RunFolder, profile: str) -> list[Verdict]:
    """The stored ones, and those of a document that judges runs of the one that the run is of."""
    if not folder.verdicts.is_file():
        raise RunFolderError(f"{folder.path}: no verdicts.jsonl: the run was interrupted; `kmigrate judge` judges it")
    of = document(profile)
    is_of_another = bool(of.judges_runs_of) and read_header(folder).profile in of.judges_runs_of
    return [*stored_verdicts(folder), *(evidence_by(of, read_history(folder)) if is_of_another else ())]


def _covered(wanted: Iterable[Requirement], said: Mapping[str, _Spoken]) -> Iterable[Covered]:
    for each in wanted:
        spoken = _together([said.get(_counted_at(row), _Spoken()) for row in each.same_as or (each.id,)])
        worst = max(spoken.outcomes, default=None)
        bugs = tuple(sorted(spoken.bugs)) if spoken.is_explained else ()
        yield Covered(each, worst, len(spoken.outcomes), tuple(sorted(spoken.checks)), bugs, spoken.unseen)


def _counted_at(row: str) -> str:
    """The requirement that counts for one of this id."""
    return requirement(row).covered_by or row


def _together(several: Sequence[_Spoken]) -> _Spoken:
    """What runs say about requirements that say the same only together: without one of them none conforms."""
    outcomes = [outcome for each in several for outcome in each.outcomes]
    if not all(each.outcomes for each in several):
        outcomes = [each for each in outcomes if each is Outcome.VIOLATES]
    return _Spoken(
        outcomes,
        set().union(*(each.checks for each in several)) if outcomes else set(),
        set().union(*(each.bugs for each in several)),
        all(each.is_explained for each in several),
        max(each.unseen for each in several),
    )


def _add(said: defaultdict[str, _Spoken], folder: RunFolder, verdicts: Sequence[Verdict]) -> None:
    """Add what one run says."""
    found = outcomes_by_requirement(verdicts)
    troubles = [words for check, words in _TROUBLE.items() if _is_known(verdicts, [check])]
    was_cut_short = any(map(_is_vacuous, found.values())) and _was_ended_by_a_bug(folder, verdicts)
    for row, its in found.items():
        spoken = said[row]
        spoken.checks |= its.checks
        spoken.bugs |= its.known_as
        spoken.is_explained &= its.is_explained
        is_troubled = its.outcome is Outcome.INCONCLUSIVE and any(words in its.reason for words in troubles)
        if its.outcome is None or is_troubled or (was_cut_short and _is_vacuous(its)):
            spoken.unseen += 1
        else:
            spoken.outcomes.append(its.outcome)


def _is_vacuous(row: RowOutcome) -> bool:
    return row.outcome is Outcome.INCONCLUSIVE and row.kind is Kind.VACUOUS


def _is_known(verdicts: Iterable[Verdict], checks: Collection[str]) -> bool:
    """Whether one of these checks violates, and known bugs explain all that do."""
    said = [each for each in verdicts if each.check in checks and each.outcome is Outcome.VIOLATES]
    return bool(said) and all(each.known_bugs for each in said)


def _was_ended_by_a_bug(folder: RunFolder, verdicts: Sequence[Verdict]) -> bool:
    """Whether the test ended by a known bug before it said what shall be judged.

    The bug is known for what it violates; of all else the run says nothing, so that it is no doubt about other runs.
    One that was not known yet when the test ran is named by the verdict about what ended it.
    """
    events = read_events(folder)
    was_asked = any(event.kind is EventKind.CHECKS for event in events)
    was_known = bool(events) and bool(events[-1].data.get("known_bug"))
    return not was_asked and (was_known or _is_known(verdicts, _ENDINGS))
