"""Check of the brokers that clients are given: never a controller."""

from pytest_kmigrate.checkers.controllers.lives import controller_ids
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K500-DEP-controller-not-in-client-metadata"


def _was_asked(history: History) -> bool:
    """Whether brokers were asked for their metadata, in a cluster with controllers that are no brokers."""
    return bool(history.client_metadata and _only_controllers(history))


def _only_controllers(history: History) -> frozenset[int]:
    """The ids of controllers that are no brokers."""
    return controller_ids(history)


@checker(_ROW, in_every_run=_was_asked, anomaly="controller given to clients", needs=[Capability.REQUESTS])
def clients_are_given_no_controller(history: History) -> Verdict:
    """Neither the brokers nor the controller that a broker names to clients is a node of role controller alone.

    Source: K500-DEP-controller-not-in-client-metadata.
    """
    rows = ByRequirement(_ROW)
    controllers = _only_controllers(history)
    for answer in history.client_metadata:
        rows.looked_at(_ROW)
        given = sorted(controllers & {*answer.brokers, answer.controller})
        if given:
            observed = f"{answer.node} gives {', '.join(f'controller-{each}' for each in given)}"
            expected = "clients are given brokers only"
            rows.violated(_ROW, timed_violation(history, expected, observed, answer.at_ns, "clients/metadata.jsonl"))
    text = f"{counted(len(history.client_metadata), 'answer')} of brokers, each of brokers only"
    return rows.verdict(text, "no broker answered")
