"""What runs say about each requirement of a profile: judged by which checks, claimed in vain, or by no test at all."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_kmigrate.catalogue import Requirement, requirement, requirements
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.grading import graded
from pytest_kmigrate.checkers.run.doubts import doubted
from pytest_kmigrate.checkers.tally import CLASSES, Said, Tally, Word, tally_together
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.judge import judged_folder
from pytest_kmigrate.judging.other_documents import evidence_in
from pytest_kmigrate.judging.outcomes import outcomes_by_requirement
from pytest_kmigrate.model.errors import RunFolderError, WrongUseError
from pytest_kmigrate.model.verdict import Kind, Verdict
from pytest_kmigrate.recording.reading import changed_files, read_header, verify_manifest
from pytest_kmigrate.recording.run_folder import RunFolder, run_folders
from pytest_kmigrate.recording.still_folder import StillFolder
from pytest_kmigrate.recording.verdicts import stored_verdicts

_MOST_HIDDEN = 5
_INTERRUPTED = "no manifest.json, so the run was interrupted"


@dataclass
class _Spoken:
    """What the runs read so far show about one requirement."""

    runs: list[Said] = field(default_factory=list)
    checks: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Covered:
    """One requirement over many runs."""

    requirement: Requirement
    tally: Tally
    checks: tuple[str, ...]
    """The checks that could have violated it."""

    @property
    def word(self) -> Word:
        """Where it stands."""
        return self.tally.word

    @property
    def state(self) -> str:
        """Where it stands and by what, in how many runs; or why nothing judged it."""
        if self.word is not Word.NOT_JUDGED:
            return stated(self.tally)
        if self.requirement.covered_by:
            return f"see {self.requirement.covered_by}"
        if self.requirement.untestable:
            return f"untestable: {self.requirement.untestable}"
        unseen = self.tally.unseen
        if not unseen:
            return f"nothing shown{_hit(self.tally)}" if self.tally.hit_by else "not asked"
        return f"claimed, no opportunity in {unseen} run{'s' * (unseen != 1)}{_hit(self.tally)}"


def stated(found: Tally) -> str:
    """A tally in one line: the word, by what, in k of n runs; and which bugs of other requirements hit its runs."""
    if found.word in (Word.VIOLATION, *CLASSES):
        new = [f"not explained in {found.new}"] if found.new else []
        by = "; ".join([*(f"{known} in {runs}" for known, runs in found.by), *new])
        return f"{found.word} in {found.violating} of {found.n}: {by}{_hit(found)}"
    doubtful = f", {found.inconclusive} inconclusive" if found.n and found.inconclusive else ""
    return f"{found.word} ({found.n or found.inconclusive or found.not_applicable}){doubtful}{_hit(found)}"


def _hit(found: Tally) -> str:
    return "".join(f", hit by {known} in {runs}" for known, runs in found.hit_by)


@dataclass(frozen=True)
class Coverage:
    """A profile over many runs."""

    rows: tuple[Covered, ...]
    runs: int
    unread: tuple[str, ...]
    """Which run folders could not be used, and why."""
    doubtful: tuple[str, ...] = ()
    """Which run folders count otherwise than their stored verdicts have it, and how."""

    @property
    def counted(self) -> tuple[Covered, ...]:
        """The rows that count: a requirement covered by another one is counted there."""
        return tuple(row for row in self.rows if row.requirement.covered_by is None)

    @property
    def words(self) -> tuple[Word, ...]:
        """Where each of them stands that a run can judge."""
        can = [row for row in self.counted if row.word is not Word.NOT_JUDGED or row.requirement.untestable is None]
        return tuple(row.word for row in can)

    def of(self, word: Word) -> int:
        """How many requirements stand so."""
        return sum(row.word is word for row in self.counted)

    @property
    def hidden(self) -> tuple[Covered, ...]:
        """The requirements that runs asked for and show nothing of: known bugs of others hit each of these runs."""
        return tuple(row for row in self.counted if row.word is Word.NOT_JUDGED and row.tally.hit_by)


def hidden_by_bugs(found: Coverage) -> str:
    """How many requirements known bugs of others hide, and the first of them, as a sentence; empty if there is none."""
    rows, shown = found.hidden, ", ".join(row.requirement.id for row in found.hidden[:_MOST_HIDDEN])
    if not rows:
        return ""
    more = f" and {len(rows) - _MOST_HIDDEN} more" if len(rows) > _MOST_HIDDEN else ""
    of_rows = counted(len(rows), "requirement")
    return f"nothing is shown of {of_rows}, as known bugs of others hit every run that asked: {shown}{more}"


def coverage(profile: str, *runs: Path) -> Coverage:
    """What the run folders below each of ``runs`` say about a profile's requirements.

    Runs of other documents that the profile's one judges, too, are judged again by its own checks. WrongUseError when
    there is no run folder. Folders that cannot be read are named in ``unread``.
    """
    wanted = requirements(profile)
    folders = [folder for each in runs for folder in _folders_in(each)]
    said: defaultdict[str, _Spoken] = defaultdict(_Spoken)
    unread: list[str] = []
    doubtful: list[str] = []
    for folder in folders:
        try:
            _add(said, _verdicts_of(folder, profile, doubtful))
        except RunFolderError as error:
            unread.append(str(error))
    return Coverage(tuple(_covered(wanted, said)), len(folders) - len(unread), tuple(unread), tuple(doubtful))


def _folders_in(runs: Path) -> list[RunFolder]:
    if not runs.is_dir():
        raise WrongUseError(f"{runs}: expected a folder of runs, got none; give the folder of --kmigrate-runs")
    folders = run_folders(runs)
    if not folders:
        raise WrongUseError(f"{runs}: expected at least one run folder (one with a run.json) in it, got none")
    return folders


def _verdicts_of(folder: RunFolder, profile: str, doubtful: list[str]) -> list[Verdict]:
    """The verdicts of a run, and those of a document that judges runs of the one that it is of.

    Stored verdicts count only beside the files that they were given for: other evidence than that of the manifest is
    RunFolderError. Where they alone were changed, the run is judged again. Without a manifest nothing vouches for the
    evidence, so that nothing conforms.
    """
    if not folder.verdicts.is_file():
        raise RunFolderError(f"{folder.path}: no verdicts.jsonl: the run was interrupted; `kmigrate judge` judges it")
    header, of = read_header(folder), document(profile)  # read for any profile: beside a damaged one no verdict counts
    is_whole, still = folder.manifest.is_file(), StillFolder(folder.path)
    if is_whole and changed_files(still, has_reports=False) == [folder.verdicts.name]:
        doubtful.append(f"{folder.path}: {folder.verdicts.name} differs from manifest.json: judged again")
        found = [*judged_folder(still).verdicts]
    else:
        if is_whole:
            verify_manifest(still, has_reports=False)
        found = stored_verdicts(folder)
    found += evidence_in(folder, of) if header.profile in of.judges_runs_of else ()
    if is_whole:
        return found
    doubtful.append(f"{folder.path}: {_INTERRUPTED}: nothing of it conforms")
    return [doubted(each, Kind.HARNESS, _INTERRUPTED) for each in found]


def _covered(wanted: Iterable[Requirement], spoken: Mapping[str, _Spoken]) -> Iterable[Covered]:
    for each in wanted:
        rows = [_counted_at(row) for row in each.same_as or (each.id,)]
        several = [spoken.get(row, _Spoken()) for row in rows]
        found = tally_together([one.runs for one in several], graded(*rows))
        checks = set().union(*(one.checks for one in several)) if found.word is not Word.NOT_JUDGED else set()
        yield Covered(each, found, tuple(sorted(checks)))


def _counted_at(row: str) -> str:
    """The requirement that counts for one of this id."""
    return requirement(row).covered_by or row


def _add(spoken: defaultdict[str, _Spoken], verdicts: Sequence[Verdict]) -> None:
    """Add what one run shows."""
    for row, its in outcomes_by_requirement(verdicts).items():
        spoken[row].checks |= its.checks
        spoken[row].runs.append(its.said)
