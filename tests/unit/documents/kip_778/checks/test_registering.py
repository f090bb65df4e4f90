"""Check that brokers register their directories as the level rises: by the log at the end, and what spares them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_778.checks.registering import brokers_register_what_a_level_asks_for as check
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, sample
from tests.unit.documents.kip_778.rolling import started

Record = Mapping[str, Any]
NODES = ("broker-0", "broker-1")
BELOW, WITH_DIRECTORIES = 16, 17


def level(offset: int, number: int, name: str = "metadata.version") -> Record:
    """The level is set."""
    data = {"name": name, "featureLevel": number}
    return {"offset": offset, "type": "FEATURE_LEVEL_RECORD", "version": 0, "data": data}


def registered(offset: int, broker: int, directories: Sequence[str] = (), process: str = "") -> Record:
    """A process of a broker is registered, or registers again."""
    data = {"brokerId": broker, "incarnationId": process or f"of-{broker}", "brokerEpoch": 10 + broker}
    data |= {"logDirs": list(directories)} if directories else {}
    return {"offset": offset, "type": "REGISTER_BROKER_RECORD", "version": 2, "data": data}


def taken_away(offset: int, broker: int) -> Record:
    """An operator takes a broker away."""
    return {"offset": offset, "type": "UNREGISTER_BROKER_RECORD", "version": 0, "data": {"brokerId": broker}}


BEFORE = (level(2, 7), registered(10, 0), registered(11, 1), level(20, BELOW))
RAISED = (*BEFORE, level(40, WITH_DIRECTORIES))
ANEW = (registered(41, 0, ["d0"]), registered(42, 1, ["d1"]))


def knowing(node: str, levels: Mapping[int, float | None]) -> list[Sample]:
    """What a broker reports as its level, by milliseconds."""
    return [sample(at_ms, node, CurrentMetadataVersion=each) for at_ms, each in levels.items()]


LEVELS = {4_000: 7, 19_000: BELOW, 20_000: WITH_DIRECTORIES, 25_000: None, 32_000: 21}
"""The level rose after 20 s, and the run lasted another 12 s."""


def run(
    *records: Record,
    levels: Mapping[int, float | None] = LEVELS,
    more: Iterable[Event] = (),
    read_ms: int = 33_000,
    inherited: int | None = None,
    first: int = 0,
) -> History:
    """A run at the end of which the controller has these records, in a log from ``first`` on, and a broker fewer."""
    nodes = [each for node in NODES for each in (started(0, node, "3.9.1"), event(EventKind.NODE_READY, 3_000, node))]
    read = [
        event(EventKind.RAFT_LOG, at_ms, node, batches=[[first, end, 1, 7, None]], announced=announced)
        for at_ms, node, end, announced in (
            (read_ms - 1, "broker-0", 19, records[:3]),
            (read_ms, "controller-3000", 90, records),
        )
    ]
    samples = [each for node in NODES for each in knowing(node, levels)]
    made = history(events=[*nodes, *more, *read], samples=samples)
    extra = {} if inherited is None else {"checkpoint": {"log_offset": inherited}}
    return replace(made, header=replace(made.header, extra=extra))


def test_brokers_that_register_their_directories_conform() -> None:
    """Conforming: each of both, in the process that was registered without them."""
    verdict = check.judge(run(*RAISED, *ANEW))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 2)
    assert verdict.summary == "2 brokers registered the log directories that a level asks for, without a restart"


def test_brokers_that_do_not_violate() -> None:
    """Violating: each that has known the level for 10 s; as a wait, which a busy machine excuses."""
    verdict = check.judge(run(*RAISED))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 2)
    first = verdict.violations[0]
    assert first.expected == "broker-0 registers its log directories within 10.0 s of the level that asks for them"
    assert first.observed.startswith("it had not, 12.0 s after it first reported such a level")
    assert first.awaited == (20_000_000_000, 32_000_000_000)
    assert first.evidence[0] == "event 5"


def test_one_broker_of_two_does_not() -> None:
    """Violating: the other one makes up for nothing, and neither does what is registered without directories again."""
    verdict = check.judge(run(*RAISED, ANEW[1], registered(50, 0)))
    assert (verdict.outcome, verdict.count, verdict.about[0].seen) == (Outcome.VIOLATES, 1, 2)
    assert verdict.violations[0].expected.startswith("broker-0 ")


def test_a_higher_level_asks_for_no_less() -> None:
    """Violating: 3.7-IV2 was passed over."""
    assert check.judge(run(*BEFORE, level(40, 21))).count == 2


@pytest.mark.parametrize(
    "records",
    [
        (*BEFORE, level(40, BELOW)),
        (*BEFORE, level(40, 21, "kraft.version")),
        (level(2, WITH_DIRECTORIES), *ANEW, level(60, 21)),
        (level(2, 7), *ANEW, level(60, 21)),
        (*RAISED, level(50, BELOW)),
        (*RAISED, registered(50, 0, ["d0"], "new"), registered(51, 1, ["d1"], "new")),
        (*RAISED, taken_away(50, 0), taken_away(51, 1)),
        (level(2, 7), level(40, WITH_DIRECTORIES)),
    ],
    ids=[
        *("a lower level", "of another feature", "it was so from the start", "they have directories already"),
        *("it was lowered again", "they started anew", "they were taken away", "no broker"),
    ],
)
def test_where_none_was_asked_nothing_is_proved(records: Sequence[Record]) -> None:
    """Vacuous: with the same samples that make the others red."""
    assert check.judge(run(*records)).is_vacuous


CONTROLLER = event(EventKind.NODE_STARTED, 0, "controller-3000", role="controller")
AWAY = (EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_PAUSED)


@pytest.mark.parametrize(
    "spared",
    [
        {"levels": {19_000: BELOW, 23_000: WITH_DIRECTORIES, 32_000: 21}},
        {"levels": {19_000: BELOW, 20_000: None, 32_000: None}},
        {"levels": {19_000: BELOW, 20_000: WITH_DIRECTORIES, 28_000: BELOW, 32_000: 21}},
        {"read_ms": 29_000},
        {"inherited": 40},
        {"more": fault(25_000)},
        {"more": [*fault(12_000, "pause(broker)"), event(EventKind.FAULT_HEALED, 13_000, fault_id="pause(broker)")]},
        {"more": [event(EventKind.NODE_STOPPED, 26_000, node, how="controlled") for node in NODES]},
        {"more": [event(EventKind.NODE_DIED, 26_000, node) for node in NODES]},
        {"more": [started(26_000, node, "3.9.1") for node in NODES]},
        {"more": [event(EventKind.NODE_PAUSED, 26_000, node) for node in NODES]},
        *({"more": [CONTROLLER, event(kind, 20_100, "controller-3000")]} for kind in AWAY),
        {"more": [CONTROLLER, event(EventKind.NODE_STOPPED, 19_500, "controller-3000", how="controlled")]},
    ],
    ids=[
        *("not for so long", "their level is unknown", "their level fell meanwhile", "the log was read before"),
        *("before the run", "under a fault", "soon after a fault"),
        *("they were stopped", "they died", "they have only started", "they stand still"),
        *(
            "a controller was stopped",
            "a controller died",
            "a controller stands still",
            "a controller was stopped just before",
        ),
    ],
)
def test_what_spares_brokers(spared: dict[str, Any]) -> None:
    """Vacuous: nothing is known of a broker that had no time to, or was kept from it."""
    assert check.judge(run(*RAISED, **spared)).is_vacuous


def test_a_fault_of_long_before_spares_none() -> None:
    """Violating, although brokers were disturbed before they had ever met the level."""
    healed = event(EventKind.FAULT_HEALED, 9_000, fault_id="pause(broker)")
    assert check.judge(run(*RAISED, more=[*fault(8_000, "pause(broker)"), healed])).count == 2


def test_a_controller_that_was_stopped_before_spares_none() -> None:
    """Violating, although a quorum without it had to take the level on."""
    stopped = event(EventKind.NODE_STOPPED, 18_500, "controller-3000", how="controlled")
    assert check.judge(run(*RAISED, more=[CONTROLLER, stopped])).count == 2


SNAPSHOT = (level(30, BELOW), registered(30, 0), registered(30, 1))
RAISED_AGAIN = (*SNAPSHOT, level(40, WITH_DIRECTORIES))


def test_a_snapshot_of_a_lower_level_leaves_out_what_brokers_had_registered() -> None:
    """Vacuous: the level was higher before, and they keep silent; with a later registration of one, it is asked."""
    assert check.judge(run(*RAISED_AGAIN, first=25)).is_vacuous
    assert check.judge(run(*SNAPSHOT, registered(35, 0), level(40, WITH_DIRECTORIES), first=25)).count == 1
    assert check.judge(run(*RAISED_AGAIN)).count == 2  # no snapshot: a log from 0 on


def test_which_runs_are_judged() -> None:
    """Those in which a broker was asked; none whose folder is older."""
    assert check.in_every_run is not None
    assert check.in_every_run(run(*RAISED))
    assert check.in_every_run(run(*RAISED, *ANEW))
    assert not check.in_every_run(run(*BEFORE))
    older = event(EventKind.RAFT_LOG, 9_000, "broker-0", batches=[[0, 90, 1, 7, None]])
    assert not check.in_every_run(history(events=[older]))
    assert check.judge(history()).is_vacuous
