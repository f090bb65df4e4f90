"""kmigrate-15 and kmigrate-16: controllers of an older release end when they read a level that they do not know."""

import sys

from packaging.version import Version

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.checkers.evidence.expectations import lists_in
from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.documents.kip_778.checks.going_back import software_goes_back
from pytest_kmigrate.documents.kip_778.levels import AN_OLD_CONTROLLER_RUNS, ANSWER_TO_A_LEVEL, RECORDED_LEVELS
from pytest_kmigrate.documents.kip_778.procedure import RAISE
from pytest_kmigrate.model.document import Window, diagnosis
from pytest_kmigrate.model.event import Event, Recorded, is_a
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeDied, NodeInstalled, NodeStarted, NodeStopped
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation

_LEVEL = "CurrentMetadataVersion"
_ACCEPTED = "NONE"


def _since_the_first_end(history: History) -> list[Window]:
    """From the first node that ended on: before, the quorum worked."""
    ended = history.of(NodeDied)
    return [Window(ended[0].at_ns, sys.maxsize)] if ended else []


def _since_the_level_rose(history: History) -> list[Window]:
    """From the last look at which no node had the higher level on; none if it never rose."""
    levels = [(each.at_ns, level) for each in history.samples if (level := each.values.get(_LEVEL)) is not None]
    lowest = min((level for _, level in levels), default=0)
    rose_ns = min((at_ns for at_ns, level in levels if level > lowest), default=None)
    if rose_ns is None:
        return []
    return [Window(max((at_ns for at_ns, _ in levels if at_ns < rose_ns), default=0), sys.maxsize)]


@diagnosis("kmigrate-15", windows=_since_the_level_rose)
def most_controllers_did_not_know_the_level(history: History, verdict: Verdict) -> bool:
    """The level rose while most controllers ran an older release than the newest, and all of these ended.

    So it explains that the level was not refused, too.
    """
    releases = _releases(history)
    older = {node for node, release in releases.items() if release < max(releases.values())}
    ended = {str(event.node) for event in history.of(NodeDied)}
    is_whole = len(older) * 2 > len(releases) and ended == older
    is_about_it = _is_about_ends(history, verdict) or all_unmet(history, verdict, _is_of_the_level)
    return is_about_it and is_whole and bool(_since_the_level_rose(history))


@diagnosis("kmigrate-16", windows=_since_the_first_end)
def old_controllers_read_the_higher_level(history: History, verdict: Verdict) -> bool:
    """The level was raised; each node that ended later is a controller, rolled back to an older release before."""
    steps = [event for event in history.of(StepEnded) if event.what.step == RAISE.name]
    raised = [event for event in steps if event.what.outcome == "done"]
    ended = history.of(NodeDied)
    is_raised = bool(raised and ended)
    is_about_it = _is_about_ends(history, verdict) or (
        verdict.is_of(software_goes_back) and all(_is_of_an_end(history, each) for each in verdict.violations)
    )
    return is_about_it and is_raised and all(_went_back(history, event, raised[0]) for event in ended)


def _is_about_ends(history: History, verdict: Verdict) -> bool:
    """Whether a verdict is about nodes that ended, or about what does not come about without a quorum.

    A thread that ended, or a node that did not stop as it was asked to, is neither.
    """
    if verdict.is_of(no_unexpected_death):
        return all(_is_of_an_end(history, each) for each in verdict.violations)
    if verdict.kind is not Kind.LIVENESS or verdict.count > len(verdict.violations):
        return False
    return all(_waits_for_a_controller(history, each) for each in verdict.violations)


def _is_of_an_end(history: History, violation: Violation) -> bool:
    ends = [(f"{event.node} runs ", event.at_ns) for event in history.of(NodeDied)]
    return any(violation.expected.startswith(node) and violation.at_ns == at_ns for node, at_ns in ends)


def _waits_for_a_controller(history: History, violation: Violation) -> bool:
    """Whether a step waited for a controller that ended, or there was no quorum by then."""
    at_ns = history.end_ns if violation.at_ns is None else violation.at_ns
    ended = {f"{event.node} ended " for event in history.of(NodeDied) if event.at_ns <= at_ns}
    if violation.observed.startswith(tuple(ended)):
        return True
    controllers = {node for node, role in roles(history).items() if plays(role, "controller")}
    seen = {event.node: event for event in history.of(NodeStarted, NodeStopped, NodeDied) if event.at_ns <= at_ns}
    up = {node for node in controllers if node in seen and is_a(seen[node], NodeStarted)}
    return len(up) * 2 <= len(controllers)


def _is_of_the_level(event: Recorded[ExpectationEnded]) -> bool:
    """Whether a test expected a level to be refused, and it was accepted, written, or ended the old controllers."""
    name, observed = event.what.name, event.what.observed
    if name == ANSWER_TO_A_LEVEL:
        return observed == _ACCEPTED
    both = lists_in(event)
    if name == RECORDED_LEVELS and both is not None:
        return both[1][:-1] == both[0]
    return name == AN_OLD_CONTROLLER_RUNS and observed is False


def _went_back(history: History, end: Event, raised: Event) -> bool:
    """Whether a controller got an older release after the level was raised, and ended before it was asked to stop."""
    installed = [event for event in history.of(NodeInstalled) if event.node == end.node]
    versions = [numbers_of(event.what.version) for event in installed]
    is_back = len(installed) > 1 and versions[-1] < versions[-2] and raised.seq < installed[-1].seq < end.seq
    stops = [event for event in history.of(NodeStopped) if event.node == end.node]
    has_served = is_back and any(installed[-1].seq < event.seq < end.seq for event in stops)
    return is_back and not has_served and str(end.node) in _releases(history)


def _releases(history: History) -> dict[str, Version]:
    """By controller, the release of its last start."""
    starts = [event for event in history.of(NodeStarted) if event.what.role == "controller"]
    return {str(event.node): numbers_of(event.what.kafka) for event in starts}
