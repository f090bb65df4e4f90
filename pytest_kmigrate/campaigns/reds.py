"""Reds of schedules: which there are in run folders, by what name, and whether another run shows the same one."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from pytest_kmigrate.checkers.clients.availability import longest_time_without_acked_write
from pytest_kmigrate.faults.schedules.header import FINAL_READ, FORMAT, IMAGES, NIGHT, SHRINKS, SIGNATURE, WITHOUT
from pytest_kmigrate.faults.schedules.reading import schedule_of
from pytest_kmigrate.faults.schedules.schedule import Schedule, data_of, line_of, lines_of
from pytest_kmigrate.faults.schedules.spelling import Mistake
from pytest_kmigrate.judging.checks import all_checkers
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import EnvironmentLackError, KmigrateError, WrongUseError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from pytest_kmigrate.recording.reading import read_header
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.carrying_out import walkable
from pytest_kmigrate.running.replaying import replay_command

_LOG = "pytest.log"
_LONGEST_S = 1800
_WITHOUT_A_READ = frozenset({longest_time_without_acked_write.name})
"""Checks of clients that judge by what was acknowledged, whatever is read back."""
_LEVELS = 3
"""So deep below a folder of a night its runs lie: shard, and run."""


class NotRedError(WrongUseError):
    """A run that carried out no schedule, or violates nothing."""


@dataclass(frozen=True)
class Red:
    """A run of a schedule that violates something, and what that is called."""

    run: Path
    header: RunHeader
    schedule: Schedule
    names: tuple[str, ...]
    """Known bugs by id, anything else by its check: what is new before what is known, SAFETY before the rest."""
    new: tuple[str, ...]
    """Those of them that no known bug explains."""
    without: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By name what a run that looks for it alone can go without."""


def red_of(run: Path) -> Red:
    """What a run folder shows; NotRedError for a run that carried out no schedule, or is not red.

    WrongUseError for one that cannot be judged: it is damaged, or its schedule is none of this version.
    """
    header = read_header(RunFolder(run))
    if header.schedule is None:
        raise NotRedError(f"{run}: expected a run that carried out a schedule; got one of {header.test_id}")
    mistakes: list[Mistake] = []
    schedule = schedule_of(json.dumps(header.schedule), walkable, mistakes)
    if schedule is None:
        raise WrongUseError(f"{run}: its schedule is none of this version: {'; '.join(map(str, mistakes))}")
    verdicts = judge_again(run, has_reports=False).verdicts
    names, new = names_of(verdicts)
    if not names:
        raise NotRedError(f"{run}: expected a run that violates something; got one that violates nothing")
    return Red(run, header, schedule, names, new, {each: dispensable(each, verdicts) for each in names})


def names_of(verdicts: Sequence[Verdict]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a run's violations are called, and which of them are new."""
    red = [each for each in verdicts if each.outcome is Outcome.VIOLATES and each.counts]
    gravest_first = sorted(red, key=lambda each: each.kind is not Kind.SAFETY)
    new = [each.check for each in gravest_first if not each.known_bugs]
    known = [bug for each in gravest_first for bug in each.known_bugs]
    return tuple(dict.fromkeys([*new, *known])), tuple(dict.fromkeys(new))


def dispensable(name: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """What a run that looks for one name alone can go without: what no verdict of that name rests on.

    The final read is for checks of clients, but for the time without an acknowledged write; images are for violations
    that name one as their evidence.
    """
    own = [each for each in verdicts if each.outcome is Outcome.VIOLATES and name in _names_of(each)]
    rests_on_images = any(each.listed("images") or any(map(_names_an_image, each.violations)) for each in own)
    checkers = all_checkers()
    needs = {need for each in own if each.check not in _WITHOUT_A_READ for need in checkers[each.check].needs}
    found = {FINAL_READ: Capability.TRAFFIC in needs, IMAGES: rests_on_images}
    return tuple(what for what, is_needed in found.items() if not is_needed)


def _names_of(verdict: Verdict) -> tuple[str, ...]:
    return verdict.known_bugs or (verdict.check,)


def _names_an_image(violation: Violation) -> bool:
    return any(each.startswith("image ") for each in violation.evidence)


def has_runs(folder: Path) -> bool:
    """Whether a folder is a run, or has one below it where ``new_reds`` looks."""
    return (folder / "run.json").is_file() or any(_runs_below(folder, _LEVELS))


def new_reds(folder: Path, left_out: list[str] | None = None, name: str | None = None) -> Iterator[Red]:
    """One red for each new name below a folder of runs, the one with the fewest happenings; or one of this ``name``.

    ``left_out``: gets a sentence for each run that cannot be judged.
    """
    found: dict[str, Red] = {}
    for path in sorted(_runs_below(folder, _LEVELS)):
        try:
            red = red_of(path)
        except NotRedError:
            continue
        except KmigrateError as error:
            if left_out is not None:
                left_out.append(f"left out, as it cannot be judged: {error}")
            continue
        if _shrinks_another(red.header):
            continue
        named = [each for each in red.names if each == name] if name else red.new
        best = found.get(named[0]) if named else None
        if named and (best is None or len(red.schedule.happenings) < len(best.schedule.happenings)):
            found[named[0]] = red
    yield from found.values()


def can_be(schedule: Schedule) -> bool:
    """Whether a schedule is one of this version, that a run can carry out."""
    mistakes: list[Mistake] = []
    schedule_of(line_of(schedule), walkable, mistakes)
    return not mistakes


def shows(red: Red, name: str, work: Path, say: Callable[[str], None]) -> Callable[[Schedule], bool]:
    """A runner: whether one run of a schedule by a pytest of its own violates what is called so.

    Each run gets a folder of its own below ``work``. EnvironmentLackError where pytest recorded no run.
    """
    numbers = count(1)

    def shown(schedule: Schedule) -> bool:
        folder = work / f"{next(numbers):02d}"
        found = _names_of_one(red.header, schedule, folder, _asking(red, name))
        is_shown = name in found
        say(f"{folder.name}: {schedule.name} {'shows it' if is_shown else 'does not show it'} ({_listed(found)})")
        return is_shown

    return shown


def _asking(red: Red, name: str) -> dict[str, object]:
    """Keys of the file of a run that looks for one name."""
    return {SHRINKS: red.header.run_id, SIGNATURE: name, WITHOUT: list(red.without.get(name, ()))}


def _shrinks_another(header: RunHeader) -> bool:
    """Whether the run is one of a shrink, and repeats what another run has shown."""
    return bool((header.circumstances.night or {}).get(SHRINKS))


def _names_of_one(header: RunHeader, schedule: Schedule, folder: Path, of: dict[str, object]) -> tuple[str, ...]:
    if finished := _finished(folder, schedule):
        return names_of(judge_again(finished, has_reports=False).verdicts)[0]
    folder.mkdir(parents=True, exist_ok=True)
    file, log = folder / "schedule.jsonl", folder / _LOG
    file.write_text(lines_of([schedule], {NIGHT: FORMAT, "document": schedule.document, **of}), encoding="utf-8")
    command = replay_command(_of_schedule(header, schedule), folder, Path.cwd(), schedules=file)
    try:
        with log.open("w", encoding="utf-8") as output:
            subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False, timeout=_LONGEST_S)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentLackError(
            f"{log}: expected a run of {schedule.name} within {_LONGEST_S} s; it was ended: try again with less load"
        ) from error
    made = _finished(folder, schedule)
    if made is None:
        raise EnvironmentLackError(f"{log}: expected pytest to record a run of {schedule.name}; it finished none")
    return names_of(judge_again(made, has_reports=False).verdicts)[0]


def _finished(folder: Path, schedule: Schedule) -> Path | None:
    """A run of the schedule in a folder that went to its end; so a shrink that was interrupted goes on."""
    for path in _runs_below(folder, 1):
        run = RunFolder(path)
        if run.manifest.is_file() and read_header(run).schedule == data_of(schedule):
            return path
    return None


def _of_schedule(header: RunHeader, schedule: Schedule) -> RunHeader:
    """The header of a run of this schedule: its test without the line, its topology, its seed."""
    test = header.test_id.partition("[")[0]
    return replace(header, test_id=test, topology=schedule.topology, seed=schedule.seed)


def _runs_below(folder: Path, levels: int) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (path / "run.json").is_file():
            yield path
        elif levels > 1 and path.is_dir():
            yield from _runs_below(path, levels - 1)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing violated"
