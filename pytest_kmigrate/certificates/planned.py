"""Compares a run with the plan of its test: what the plan asks for and the run does not show."""

from collections import Counter
from collections.abc import Iterator, Mapping

from pytest_kmigrate.certificates.plan import PlannedTest
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import RunHeader


def departures(header: RunHeader, events: tuple[Event, ...], planned: PlannedTest) -> Iterator[str]:
    """Each a clause about the plan and one about the run; none of an honest run of this release."""
    if header.extra.get("source_digest") != planned.source_digest:
        yield "the plan is of the tests of this release, but the run was made by another source of its test"
    if sorted(header.requirements) != list(planned.requirements):
        claimed = ", ".join(sorted(header.requirements)) or "none"
        yield f"the plan has the requirements {', '.join(planned.requirements)}, but the run claims {claimed}"
    if header.topology != planned.topology:
        yield f"the plan has the topology {planned.topology}, but the run had {header.topology}"
    yield from _unasked(events, planned)
    yield from _without_faults(events, planned)


def _unasked(events: tuple[Event, ...], planned: PlannedTest) -> Iterator[str]:
    asked = [each for event in events if event.kind is EventKind.CHECKS for each in _listed(event)]
    for check in planned.checks:
        found = [each for each in asked if each.get("name") == check.name]
        if not any(check.arguments is None or each.get("arguments") == check.arguments for each in found):
            got = f"asked for {found[0].get('arguments')}" if found else "did not ask for it"
            yield f"the plan has the check {check.name} with {check.arguments}, but the run {got}"


def _listed(event: Event) -> list[Mapping[str, object]]:
    listed = event.data.get("checks")
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _without_faults(events: tuple[Event, ...], planned: PlannedTest) -> Iterator[str]:
    """Faults by their text, or by their effect where the target depends on the cluster; each has to be witnessed."""
    witnessed = {event.data.get("fault_id") for event in events if event.kind is EventKind.FAULT_WITNESSED}
    began = [each for each in events if each.kind is EventKind.FAULT_BEGAN and each.data.get("fault_id") in witnessed]
    named = Counter(str(each.data.get("fault")) for each in began)
    for fault in planned.faults:
        if fault.fault is not None and not named[fault.fault]:
            yield f"the plan has the fault {fault.text}, but the run has no witness of it"
    effects = Counter(str(each.data.get("effect")) for each in began)
    for effect, wanted in Counter(each.effect for each in planned.faults).items():
        if effects[effect] < min(wanted, 1):
            yield f"the plan has a fault {effect}, but the run has none that was witnessed"
