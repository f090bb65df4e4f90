"""kmigrate-35 where no leader before it had come so far: brokers in ZooKeeper mode never heard of KRaft at all."""

import re

from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.documents.kip_866.checks.transactions.following import raised_by, zookeeper_follows_the_log
from pytest_kmigrate.documents.kip_866.diagnoses.leaders.without_a_session import Reign, reigns
from pytest_kmigrate.documents.kip_866.diagnoses.silent_brokers import Compared, compared
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.events.steps import ActiveControllerChanged, StateChanged
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.model.verdict import Verdict

_SENDS = re.compile(r"transitioning from \w+ to (?:KRAFT_CONTROLLER_TO_BROKER_COMM|DUAL_WRITE) state")
"""A driver is done with the copy and the full sync after it, and sends brokers in ZooKeeper mode its controller."""
_DRAWS_NONE = re.compile(r"broker-\d+ in ZooKeeper mode gives (\d+) in all of ")


@diagnosis("kmigrate-35")
def no_leader_before_had_told_brokers(history: History, verdict: Verdict) -> bool:
    """No driver of this run came to send anything, and then this controller led without taking over.

    It explains, while this controller leads, that brokers in ZooKeeper mode give clients their last controller of
    ZooKeeper, and that such a broker knows nothing; and that a full sync, which the leader before began, is never
    followed by its offset.
    """
    if any(_SENDS.search(log) for _, log in logs_of(history, Role.CONTROLLER.value)):
        return False
    led = reigns(history)
    if verdict.is_of(clients_are_told_of_brokers_only):
        return any(_give_the_former(history, verdict, each) for each in led)
    if verdict.is_of(zookeeper_follows_the_log):
        return any(_is_never_raised(history, verdict, each) for each in led)
    found = compared(history, verdict)
    return found is not None and any(_was_told_nothing(history, found, each) for each in led)


def _give_the_former(history: History, verdict: Verdict, reign: Reign) -> bool:
    """Whether all that is wrong is that brokers always give the broker that was the last controller of ZooKeeper."""
    before = [each.what.controller or "" for each in history.of(ActiveControllerChanged) if each.at_ns < reign.from_ns]
    brokers = [each for each in before if each.startswith("broker-")]
    found = verdict.all_known
    return (
        bool(brokers)
        and bool(found)
        and all(
            (gives := _DRAWS_NONE.match(each.observed)) is not None
            and f"broker-{gives[1]}" == brokers[-1]
            and reign.holds(each.at_ns or 0)
            for each in found
        )
    )


def _is_never_raised(history: History, verdict: Verdict, reign: Reign) -> bool:
    """Whether writes of the leader before leave the offset as it was, and this one led until the run ended."""
    return reign.to_ns >= history.end_ns and all(
        raised_by(0) in each.observed and each.at_ns is not None and each.at_ns < reign.from_ns
        for each in verdict.all_known
    )


def _was_told_nothing(history: History, found: Compared, reign: Reign) -> bool:
    """Whether brokers that know nothing are all that is wrong at a place; what the others report is ZooKeeper's."""
    here = brokers_at(history, found.at_ns)
    if not reign.holds(found.at_ns) or any(each.mode != BrokerMode.ZOOKEEPER.value for each in here):
        return False  # one in KRaft mode reads the log, and may be what is wrong
    began_ns = _copy_began_ns(history)
    late = _not_made_before(history, began_ns)
    silent = [each.name for each in here if (each.ready_ns or began_ns) >= began_ns and found.knows_nothing(each.name)]
    return all(
        topic in late if (topic := found.unknown_at(place)) else found.others_agree(place, silent)
        for place in found.places
    )


def _copy_began_ns(history: History) -> int:
    """Since then no controller of ZooKeeper sends brokers anything; one that is ready later was sent nothing."""
    copying = (each.at_ns for each in history.of(StateChanged) if each.what.state == Phase.COPYING.name)
    return next(copying, history.end_ns)


def _not_made_before(history: History, began_ns: int) -> set[str]:
    """Topics whose creation had not ended as the copy began: ZooKeeper's controller informs brokers before it ends."""
    created = [each for each in history.of(MetadataChanged) if each.what.change == "create-topic"]
    return {each.what.subject for each in created if each.at_ns > began_ns}
