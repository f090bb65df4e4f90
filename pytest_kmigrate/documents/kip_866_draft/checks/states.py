"""Check of ``ZkMigrationState`` by the draft's numbers: each is reported in its state, and in no other."""

from collections.abc import Iterable, Mapping, Sequence

from pytest_kmigrate.checkers.controllers.lives import processes, roles
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation, violation_at
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Verdict

_METRIC, _NUMBERS = "ZkMigrationState", "K866D-METRIC-ZkMigrationState"
_INELIGIBLE, _COPYING = "K866D-STATE-MigrationIneligible", "K866D-STATE-MigratingZkData"
_DUAL_WRITE, _FINALIZED = "K866D-STATE-DualWriteMetadata", "K866D-STATE-MigrationFinalized"
_STATES: Mapping[str, tuple[int, str, tuple[Phase, ...]]] = {
    _INELIGIBLE: (1, "MigrationIneligible", (Phase.PREPARING,)),
    _COPYING: (2, "MigratingZkData", (Phase.COPYING,)),
    _DUAL_WRITE: (3, "DualWriteMetadata", (Phase.HYBRID, Phase.ALL_KRAFT)),
    _FINALIZED: (4, "MigrationFinalized", (Phase.FINALIZED,)),
}
"""By requirement: number and name of the state, and the phases in which the cluster is in it."""
_NEAR_NS = 2_000_000_000
"""So near to a change of phase a sample may be of either."""
_ENDED_NS = 5_000_000_000
"""By then what a controller had begun to write to ZooKeeper is written, and was seen."""


def has_phases(history: History) -> bool:
    """Whether the run was seen to stand anywhere in a migration; the draft has no state for one born in KRaft mode."""
    return bool(history.states(PHASE)) and Role.ZOOKEEPER in roles(history).values()


@checker(
    _NUMBERS,
    *_STATES,
    in_every_run=has_phases,
    anomaly="state unlike the draft",
    needs=[Capability.METRICS],
)
def states_have_the_numbers_of_the_draft(history: History) -> Verdict:
    """An active controller reports 1 before the copy, 2 while it lasts, 3 in dual write, 4 after finalization.

    Each number stands for its state: three samples with it in another phase violate it, too. In dual write
    ``/migration`` is seen to change, and once 4 is due it does not any more.
    """
    rows = ByRequirement(_NUMBERS, *_STATES)
    reported = _by_phase(history)
    for phase, samples in reported.items():
        row = next(each for each, (_, _, phases) in _STATES.items() if phase in phases)
        _judge_own(history, rows, row, phase, samples)
        _judge_others(history, rows, row, phase, samples)
    _judge_quiet(history, rows)
    text = f"{counted(sum(map(len, reported.values())), 'sample')} of active controllers by the numbers of the draft"
    return rows.verdict(text, "no active controller was seen in a phase for long enough")


def _by_phase(history: History) -> dict[Phase, list[Sample]]:
    """What active controllers reported in each phase, if that is enough."""
    found: dict[Phase, list[Sample]] = {}
    for sample in _of_active(history):
        phases = {phase_at(history, sample.at_ns + by_ns) for by_ns in (-_NEAR_NS, 0, _NEAR_NS)}
        phase = phases.pop() or Phase.ZOOKEEPER.name
        if not phases and phase != Phase.ZOOKEEPER.name:
            found.setdefault(Phase[phase], []).append(sample)
    return {phase: samples for phase, samples in found.items() if len(samples) >= FEWEST}


def _of_active(history: History) -> Iterable[Sample]:
    """Those in which a controller was asked for its state; -1 is that of one that has read no log yet."""
    for samples in processes(history, "controller"):
        for each in samples:
            if each.values.get("ActiveControllerCount") == 1 and _METRIC in each.values and _number(each) != -1:
                yield each


def _judge_own(history: History, rows: ByRequirement, row: str, phase: Phase, samples: Sequence[Sample]) -> None:
    number, name, _ = _STATES[row]
    wrong = [each for each in samples if _number(each) != number]
    if len(wrong) >= FEWEST:
        for each in (_NUMBERS, row):
            _violate(
                history,
                rows,
                each,
                f"{_METRIC} is {number} in {name}",
                wrong,
                f"{len(samples)} samples in {phase.name}",
            )
    else:
        rows.looked_at(_NUMBERS, len(samples))
        if row != _DUAL_WRITE or _is_written(history, phase):
            rows.looked_at(row, len(samples))


def _judge_others(history: History, rows: ByRequirement, own: str, phase: Phase, samples: Sequence[Sample]) -> None:
    for row, (number, name, _) in _STATES.items():
        same = [each for each in samples if _number(each) == number]
        if row != own and len(same) >= FEWEST:
            _violate(
                history,
                rows,
                row,
                f"{_METRIC} is {number} only in {name}",
                same,
                f"{len(samples)} samples in {phase.name}",
            )


def _is_written(history: History, phase: Phase) -> bool:
    return any(each.path == MIGRATION and phase_at(history, each.at_ns) == phase.name for each in history.znodes)


def _judge_quiet(history: History, rows: ByRequirement) -> None:
    finalized = [each for each in history.states(PHASE) if each.what.state == Phase.FINALIZED.name]
    for change in history.znodes if finalized else ():
        if change.path == MIGRATION and change.at_ns > finalized[0].at_ns + _ENDED_NS and change.data is not None:
            late = span(change.at_ns - finalized[0].at_ns)
            observed = f"{MIGRATION} was written {late} after finalization: {change.data}"
            rows.violated(_FINALIZED, violation_at(history, "ZooKeeper is left alone then", observed, change.at_ns))


def _violate(
    history: History, rows: ByRequirement, row: str, expected: str, samples: Sequence[Sample], of: str
) -> None:
    numbers = " or ".join(dict.fromkeys(_told(each) for each in samples))
    observed = f"it is {numbers} in {len(samples)} of {of}"
    at_ns = samples[0].at_ns
    # It misleads who watches; no metadata is at stake, which is what SAFETY says.
    rows.violated(row, timed_violation(history, expected, observed, at_ns, "metrics/metrics.jsonl"), Kind.LIVENESS)


def _number(sample: Sample) -> float | None:
    return sample.values.get(_METRIC)


def _told(sample: Sample) -> str:
    number = _number(sample)
    return "nothing" if number is None else f"{number:g}"
