"""General claims that KIP-500 asks for: the requirements each speaks for."""

from pytest_kmigrate.checkers.controllers.absence import longest_time_without_an_active_controller
from pytest_kmigrate.checkers.controllers.controllers import one_quorum_leader_per_epoch
from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.checkers.controllers.quorum import quorum_claims
from pytest_kmigrate.checkers.controllers.raft_logs import (
    committed_metadata_is_kept,
    one_leader_per_epoch_in_the_logs,
    one_metadata_log,
)
from pytest_kmigrate.checkers.evidence.moments import targets_of
from pytest_kmigrate.model.checks import AnyChecker, speaking
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import Role


def _has_led(history: History) -> bool:
    """Whether a controller was seen to lead the quorum; in a migration it may never come to that."""
    return any(quorum_claims(history))


def _has_no_zookeeper(history: History) -> bool:
    """Whether there is no external system that controllers could elect by."""
    return not any(plays(role, Role.ZOOKEEPER) for role in roles(history).values())


def _has_lost_one_of_three(history: History) -> bool:
    """Whether a fault hit one controller of three, so that the two others have to elect one of them."""
    names = {name for name, role in roles(history).items() if plays(role, Role.CONTROLLER)}
    hit = [targets_of(event) & names for event in history.of(FaultApplied)]
    return len(names) == 3 and any(len(each) == 1 for each in hit)


BINDINGS: tuple[AnyChecker, ...] = (
    speaking(one_quorum_leader_per_epoch, "K500-QRM-active-is-leader", in_every_run=_has_led),
    speaking(one_leader_per_epoch_in_the_logs, "K500-QRM-election-no-external", "K500-QRM-active-is-leader"),
    speaking(one_metadata_log, "K500-LOG-single-order", "K500-QRM-followers-replicate"),
    speaking(committed_metadata_is_kept, "K500-QRM-durability"),
    speaking(
        speaking(longest_time_without_an_active_controller, "K500-QRM-tolerate-1-of-3", where=_has_lost_one_of_three),
        "K500-QRM-election-no-external",
        where=_has_no_zookeeper,
    ),
)
