"""The nodes of a run of a planned test: those of its topology, in their roles, with the software that it names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pytest_kmigrate.distributions.releases import SHAPE
from pytest_kmigrate.judging.coherence.header import name_under_test
from pytest_kmigrate.judging.planning.plan import PlannedTest
from pytest_kmigrate.judging.planning.topologies import read_with
from pytest_kmigrate.model.event import Event, Recorded, is_a, only
from pytest_kmigrate.model.events.nodes import NodeInstalled, NodeStarted
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.provider_names import ATTACH
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.recording.disagreement import Disagreement


@dataclass(frozen=True)
class _Node:
    """One node as the topology has it."""

    role: Role
    kafka: str | None
    """The release that the topology chose for it; None: the Kafka under test."""
    is_up: bool
    """Whether it is up before the test begins."""


def other_nodes(header: RunHeader, events: Sequence[Event], planned: PlannedTest) -> Iterator[Disagreement]:
    """A node that the topology lacks or has otherwise, and one that never started or ran other software.

    Nodes of somebody else's cluster run what they run, and none of its runs counts.
    """
    own = name_under_test(header)
    if header.topology != planned.topology or own is None or header.provider == ATTACH:
        return
    nodes = _nodes(planned.topology, own, header.kafka)
    if not nodes:  # this Kafka cannot run it, which is named as another topology
        return
    starts = only(events, NodeStarted)
    began = {str(each.node) for each in starts}
    for name in sorted(name for name, each in nodes.items() if each.is_up and name not in began):
        yield Disagreement(f"the topology {planned.topology} has {name} from the begin", "no event starts it")
    for name in sorted(began - nodes.keys()):
        yield Disagreement(f"the topology {planned.topology} has no {name}", "an event starts it")
    for start in starts:
        node = nodes.get(str(start.node))
        if node is not None and start.what.role != node.role:
            yield Disagreement(
                f"the topology {planned.topology} has {start.node} as {node.role}",
                f"event {start.seq} starts it as {start.what.role}",
            )
    yield from _other_software(header, events, nodes)


def _other_software(header: RunHeader, events: Sequence[Event], nodes: Mapping[str, _Node]) -> Iterator[Disagreement]:
    """A node that runs neither what the topology has for it nor what the test has installed on it."""
    installed: set[str | None] = set()
    under_test = (header.digests or {}).get(name_under_test(header) or "")
    for event in events:
        if is_a(event, NodeInstalled):
            installed.add(event.node)
        if not is_a(event, NodeStarted) or event.node in installed or str(event.node) not in nodes:
            continue
        chosen = nodes[str(event.node)].kafka
        if not _is_right(event, chosen, under_test):
            expected = chosen or f"{header.kafka}, which is under test,"
            jars = (event.what.digest or "no digest")[:12]
            yield Disagreement(
                f"the topology {header.topology} has Kafka {expected} for {event.node}",
                f"event {event.seq} starts it with Kafka {event.what.kafka} and jars of {jars}",
            )
            return


def _is_right(start: Recorded[NodeStarted], chosen: str | None, under_test: str | None) -> bool:
    if chosen is None:
        return start.what.digest == under_test
    return SHAPE.fullmatch(chosen) is None or start.what.kafka == chosen


@cache
def _nodes(topology: str, name: str, version: str) -> Mapping[str, _Node]:
    """The nodes of a shipped topology with this Kafka in it, by name; none if that cannot run it."""
    found = read_with(topology, name, version)
    if found is None:
        return {}
    read, ours = found
    return {
        each.name: _Node(each.role, None if each.name in ours else each.kafka, each.start == "at-once")
        for each in read.nodes
    }
