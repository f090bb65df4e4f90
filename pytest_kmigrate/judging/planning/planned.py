"""Compares a run with the plan of its test: what the plan asks for and the run does not show."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from pytest_kmigrate.distributions.releases import SHAPE
from pytest_kmigrate.judging.coherence.header import name_under_test
from pytest_kmigrate.judging.planning.conditions import other_conditions
from pytest_kmigrate.judging.planning.nodes import other_nodes
from pytest_kmigrate.judging.planning.plan import PlannedTest, plan, with_suites
from pytest_kmigrate.judging.planning.topologies import read_with
from pytest_kmigrate.model.event import Event, is_a, only
from pytest_kmigrate.model.events.evidence import ChecksRequested, ExpectationEnded
from pytest_kmigrate.model.events.faults import FaultBegan, FaultWitnessed
from pytest_kmigrate.model.events.steps import StateChanged
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.sources import harness_digest


def departures(header: RunHeader, events: Sequence[Event], planned: PlannedTest) -> Iterator[Disagreement]:
    """A fact of the plan and one of the run, each time they differ; none of an honest run of this release."""
    if header.circumstances.source_digest != planned.source_digest:
        yield Disagreement(
            "the plan is of the tests of this release",
            "the run was made by another source of its test, of what it uses, or with a conftest.py above it",
        )
    if header.circumstances.harness_digest != harness_digest():
        yield Disagreement("the plan is of this release", "the run was made by another harness than that of it")
    if sorted(header.requirements) != list(planned.requirements):
        claimed = ", ".join(sorted(header.requirements)) or "none"
        yield Disagreement(
            f"the plan has the requirements {', '.join(planned.requirements)}", f"the run claims {claimed}"
        )
    yield from another_topology(header, planned)
    yield from other_nodes(header, events, planned)
    yield from other_conditions(header, events, planned)
    yield from left_undone(events, planned)


def left_undone(events: Sequence[Event], planned: PlannedTest) -> Iterator[Disagreement]:
    """What the plan has and the run has not: checks that it asked, faults witnessed, phases reached, expectations."""
    yield from _unasked(events, planned)
    reached = {event.what.state for event in events if is_a(event, StateChanged)}
    for phase in planned.phases:
        if phase not in reached:
            yield Disagreement(f"the plan has the phase {phase}", "the run never came to it")
    yield from _without_faults(events, planned)
    named = {event.what.name for event in events if is_a(event, ExpectationEnded)}
    for name in planned.expectations:
        if name not in named:
            yield Disagreement(f"the plan expects something of {name!r}", "the run has no answer to it")


def of_its_plan(history: History) -> Iterator[Disagreement]:
    """What a run left undone of a test whose source is that of this release; of any other nothing is known.

    Neither of one that ended before it asked for checks: it conforms in no case.
    """
    header = history.header
    if header.profile not in with_suites() or not history.of(ChecksRequested):
        return
    planned = plan(header.profile).tests.get(header.test_id)
    if planned is not None and header.circumstances.source_digest == planned.source_digest:
        yield from left_undone(history.events, planned)


def _unasked(events: Sequence[Event], planned: PlannedTest) -> Iterator[Disagreement]:
    asked = [each for event in only(events, ChecksRequested) for each in event.what.checks]
    for check in planned.checks:
        found = [each for each in asked if each.get("name") == check.name]
        if not any(check.arguments is None or each.get("arguments") == check.arguments for each in found):
            got = f"asked for {found[0].get('arguments')}" if found else "did not ask for it"
            yield Disagreement(f"the plan has the check {check.name} with {check.arguments}", f"the run {got}")


def _without_faults(events: Sequence[Event], planned: PlannedTest) -> Iterator[Disagreement]:
    """Faults by their text, or by their effect where the target depends on the cluster; each has to be witnessed."""
    witnessed = {event.what.fault_id for event in events if is_a(event, FaultWitnessed)}
    began = [each for each in events if is_a(each, FaultBegan) and each.what.fault_id in witnessed]
    named = Counter(each.what.fault for each in began)
    for fault in planned.faults:
        if fault.fault is not None and not named[fault.fault]:
            yield Disagreement(f"the plan has the fault {fault.text}", "the run has no witness of it")
    effects = {each.what.effect for each in began}
    for effect in dict.fromkeys(each.effect for each in planned.faults):
        if effect not in effects and not (effect is None and effects):
            yield Disagreement(
                f"the plan has a fault {effect or 'of some kind'}", "the run has none that was witnessed"
            )


def another_topology(header: RunHeader, planned: PlannedTest) -> Iterator[Disagreement]:
    """A topology of another name, or one of the same name in which anything differs, such as what its nodes run."""
    if header.topology != planned.topology:
        yield Disagreement(f"the plan has the topology {planned.topology}", f"the run had {header.topology}")
        return
    name = name_under_test(header)
    if name is None or header.circumstances.topology_digest != _digest_of(planned.topology, name, header.kafka):
        yield Disagreement(
            f"the plan has the topology {planned.topology} as this release ships it", "the run had another of that name"
        )


@cache
def _digest_of(topology: str, name: str, version: str) -> str | None:
    """The digest of a shipped topology with this Kafka in it; None if that cannot run it."""
    found = read_with(topology, name, version)
    if found is None:
        return None
    read, ours = found
    if SHAPE.fullmatch(name):
        return read.digest()
    nodes = tuple(replace(node, kafka=name) if node.name in ours else node for node in read.nodes)
    return replace(read, kafka=name, nodes=nodes).digest()
