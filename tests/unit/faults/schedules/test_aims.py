"""Facts about what a line aims at: nodes and links that its topology lacks, and what its document says cannot be."""

import json
from typing import Any

import pytest

from pytest_kmigrate.faults.schedules.reading import schedule_of
from pytest_kmigrate.faults.schedules.spelling import Mistake
from pytest_kmigrate.running.carrying_out import walkable


def _mistakes(*happenings: dict[str, Any], **changes: Any) -> list[str]:
    line = {
        "schema": 1,
        "document": "kip-866",
        "topology": "zk1-broker3-controller3",
        "starts_at": "HYBRID",
        "walk": ["HYBRID", "ALL_KRAFT", "FINALIZED"],
        "happenings": [{"id": number, **each} for number, each in enumerate(happenings, 1)],
        **changes,
    }
    mistakes: list[Mistake] = []
    schedule_of(json.dumps(line), walkable, mistakes)
    return [str(each) for each in mistakes]


def _fault(kind: str, state: str = "HYBRID", **keys: Any) -> dict[str, Any]:
    return {"fault": {"kind": kind, **keys}, "begin": {"state": state}}


def _cut(source: str, destination: str, state: str = "HYBRID") -> dict[str, Any]:
    return _fault("cut", state, source=source, destination=destination)


@pytest.mark.parametrize(
    ("happening", "mistake"),
    [
        (_fault("kill", target="every-combined"), "fault.target: expected nodes that zk1-broker3-controller3 has"),
        (_fault("kill", target="owner-of(orders-0)"), "fault.target: expected a node: only acts have members"),
        (_fault("partition", groups=["every-broker", "every-combined"]), "fault.groups[1]: expected nodes that"),
        (_fault("partition", groups=["every-broker"]), "fault.groups: expected two groups at least"),
        (_fault("partition", groups=["broker-1", "broker-1"]), "fault.groups: expected two groups at least"),
        (
            _fault("partition", groups=["every-broker", "broker-1"]),
            "fault.groups[1]: expected nodes that are not in every-broker, which is before it; got 'broker-1'",
        ),
        (
            _fault("isolate", target="broker-1", from_roles=["combined"]),
            "fault.from_roles: expected roles of nodes that zk1-broker3-controller3 has",
        ),
        (
            _fault("slow", source="every-broker", destination="every-controller", latency_ms=0, jitter_ms=0),
            "fault.latency_ms: expected more than 0, or a jitter_ms of more than 0; got 0",
        ),
        (_cut("broker-1", "broker-1"), "fault.destination: expected another node than the source"),
        (_cut("active-controller", "active-controller"), "fault.destination: expected another node than the source"),
        (_cut("every-zookeeper", "every-broker"), "fault.source: expected a node that connects to the destination"),
        (_fault("fail-log-dir", target="broker-1"), "fault.kind: expected brokers with several log directories"),
        (_fault("starve", target="broker-1", percent=0), "fault.percent: expected a whole number from 1 to 99; got 0"),
        (_fault("clock", target="broker-1", seconds=0), "fault.seconds: expected a whole number from 1 to"),
        (_cut("active-controller", "every-zookeeper", "FINALIZED"), "a quorum that has finalized has no connection"),
        (_cut("controller-3000", "zookeeper-1", "FINALIZED"), "a quorum that has finalized has no connection"),
        (_cut("broker-0", "every-zookeeper", "ALL_KRAFT"), "a broker in KRaft mode has no connection to ZooKeeper"),
        (_fault("torn-tail", target="controller-3000"), "only the logs of brokers are written before they are synced"),
        (_fault("torn-tail", target="every-broker"), "the fault is of one node"),
        (
            _fault("hold", "FINALIZED", point="long-copy"),
            "fault: expected what can be in FINALIZED; got hold(long-copy)",
        ),
        (
            {**_fault("kill", target="broker-1"), "begin": {"state": "FINALIZED", "at": "late-config"}},
            "begin.at: expected what can be in FINALIZED; got late-config",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_is_refused_before_anything_starts(happening: dict[str, Any], mistake: str) -> None:
    """In one sentence, with its key."""
    (found,) = _mistakes(happening)
    assert found.startswith("happenings[0].")
    assert mistake in found


@pytest.mark.parametrize(
    "happening",
    [
        _cut("every-broker", "every-broker"),
        _cut("controller-3000", "zookeeper-1", "ALL_KRAFT"),
        _fault("torn-tail", target="broker-1"),
        _fault("hold", "FINALIZED", point="isr-change-asked", role="broker"),
        _fault("isolate", target="broker-1", from_roles=["combined"], from_clients=True),
        _fault("partition", groups=["broker-1", "every-broker"]),
        _fault("slow", source="every-broker", destination="every-controller", latency_ms=0, jitter_ms=5),
        _fault("tamper", path="/migration", data="{}"),
    ],
    ids=str,
)
def test_what_can_be_is_a_schedule(happening: dict[str, Any]) -> None:
    """Also what a night never draws, such as the mistake of an operator."""
    assert _mistakes(happening) == []


def test_a_directory_that_no_broker_has_is_refused() -> None:
    """As the largest number of any broker."""
    disks = {"topology": "zk1-broker1-disks", "starts_at": None, "walk": ["PREPARING", "HYBRID"]}
    assert _mistakes(_fault("fail-log-dir", target="broker-0"), **disks) == []
    (found,) = _mistakes(_fault("fail-log-dir", target="broker-0", number=9), **disks)
    assert "fault.number: expected a log directory of a broker of zk1-broker1-disks (1 to " in found


@pytest.mark.parametrize(
    ("document", "topology", "expected"),
    [
        ("kip-866", "kraft-broker3-controller3", "one with zookeeper, as kip-866 is about those"),
        ("kip-866", "zk1-broker1", "one with controller, as kip-866 is about those"),
        ("kip-500", "zk1-broker3-controller3", "brokers that begin in mode kraft, as kip-500 is about those"),
        ("kip-778", "zk1-broker3", "one with controller, as kip-778 is about those"),
        ("kip-125", "kraft-broker3-controller3", "one with zookeeper, as kip-125 is about those"),
    ],
)
def test_a_cluster_that_the_document_is_not_about_is_refused(document: str, topology: str, expected: str) -> None:
    """Once, by its key: a run would begin, and nothing of it would be judged."""
    happening = {"act": "toggle"} if document == "kip-125" else _fault("kill", target="every-broker", state=None)
    found = _mistakes(happening, document=document, topology=topology, starts_at=None, walk=[])
    assert found == [f"topology: expected {expected}; got '{topology}'"]


def test_one_node_in_two_faults_of_processes_at_once_is_refused() -> None:
    """Unless the second waits until the first is healed."""
    kill, pause = _fault("kill", target="broker-1"), _fault("pause", target="broker-1")
    (found,) = _mistakes(kill, pause)
    assert "got broker-1, which happening 1 holds: write of: 1, when: healed" in found
    assert _mistakes(kill, {**pause, "begin": {"state": "HYBRID", "of": 1, "when": "healed"}}) == []
    assert _mistakes(kill, {**pause, "begin": {"state": "ALL_KRAFT"}}) == []


@pytest.mark.parametrize("ended", ["kill", "stop"])
def test_a_fault_of_nodes_that_are_all_gone_is_refused(ended: str) -> None:
    """It could never be seen to bite, and they are started again only when it is over."""
    gone = _fault(ended, target="every-broker")
    for links in (_cut("active-controller", "every-broker"), _fault("partition", groups=["broker-1", "every-broker"])):
        during = {**links, "begin": {"state": "HYBRID", "of": 1, "when": "witnessed"}}
        (found,) = _mistakes(gone, during)
        assert "happenings[1].fault: expected nodes that run, so that it can be seen to bite; got every-broker" in found
        assert _mistakes(gone, {**links, "begin": {"state": "HYBRID", "of": 1, "when": "healed"}}) == []
    assert _mistakes(gone, {**_cut("every-controller", "every-zookeeper"), "begin": {"state": "HYBRID", "of": 1}}) == []


def test_what_waits_for_a_later_state_is_refused() -> None:
    """The walk stays in a state until what begins there is over: it would be left out after a minute, each time."""
    cut = _cut("active-controller", "every-zookeeper", "ALL_KRAFT")
    early = {**_fault("kill", target="broker-1"), "begin": {"state": "HYBRID", "of": 2, "when": "begun"}}
    (found,) = _mistakes(early, cut)
    assert found == (
        "happenings[0].begin.of: expected a happening that begins before ALL_KRAFT, as the walk stays in HYBRID until "
        "this one has begun; got 2"
    )
    assert _mistakes({**early, "begin": {"of": 2}}, cut) == []
    assert _mistakes({**early, "begin": {"state": "FINALIZED", "of": 2}}, cut) == []


def test_what_waits_for_the_end_of_what_lasts_across_its_state_is_refused() -> None:
    """Both would wait for each other."""
    across = {**_cut("active-controller", "every-zookeeper"), "release": {"across": True}}
    then = {**_fault("kill", target="broker-1"), "begin": {"state": "HYBRID", "of": 1, "when": "healed"}}
    (found,) = _mistakes(across, then)
    assert found.startswith(
        "happenings[1].begin.when: expected begun or witnessed, as happening 1 stays in force across HYBRID"
    )
    assert _mistakes(across, {**then, "begin": {"state": "HYBRID", "of": 1, "when": "witnessed"}}) == []
    assert _mistakes(across, {**then, "begin": {"state": "ALL_KRAFT", "of": 1, "when": "healed"}}) == []


def test_a_moment_of_no_happening_is_refused() -> None:
    """A forgotten ``of`` would have it begin at once."""
    alone = {**_fault("kill", target="broker-1"), "begin": {"state": "HYBRID", "when": "healed"}}
    assert _mistakes(alone) == [
        "happenings[0].begin.when: expected none without of, the happening that it is about; got 'healed'"
    ]


def test_mistakes_of_single_keys_and_of_several_are_reported_together() -> None:
    """What a seed holds says nothing about what a fault is aimed at."""
    found = _mistakes(_fault("kill", target="every-combined"), {**_cut("broker-1", "broker-1")}, seed=-1, sede=2)
    assert [each.partition(":")[0] for each in found] == [
        "sede",
        "seed",
        "happenings[0].fault.target",
        "happenings[1].fault.destination",
    ]


def test_a_mistake_is_reported_once() -> None:
    """What follows from it is not."""
    assert len(_mistakes(_fault("kill", target="broker-1"), document="kip-86")) == 1
    late = {**_fault("kill", target="broker-1"), "release": {"at_most_s": -1}}
    assert _mistakes(late) == ["happenings[0].release.at_most_s: expected a number from 0 to 600; got -1"]
    itself = {**_fault("kill", target="broker-1"), "begin": {"state": "HYBRID", "of": 1}}
    assert len(_mistakes(itself)) == 1
    assert "walk: expected the states in their order" in _mistakes(late, walk=["HYBRID", "HYBRID"])[0]


def test_json_that_is_nested_too_deep_is_a_mistake_like_any_other() -> None:
    """No stack trace."""
    mistakes: list[Mistake] = []
    assert schedule_of("[" * 100_000, walkable, mistakes) is None
    assert [each.key for each in mistakes] == ["the line"]
