"""kmigrate-35 where no leader before it had come so far: brokers in ZooKeeper mode were never told of KRaft at all."""

import re
from collections.abc import Collection, Mapping

from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS, ZOOKEEPER
from pytest_kmigrate.documents.kip_866.checks.transactions.following import raised_by, zookeeper_follows_the_log
from pytest_kmigrate.documents.kip_866.diagnoses.leaders.without_a_session import Reign, reigns
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.events.steps import ActiveControllerChanged, StateChanged
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.model.verdict import Verdict
from pytest_kmigrate.probes.metadata_replay import Place

_SENDS = re.compile(r"transitioning from \w+ to (?:KRAFT_CONTROLLER_TO_BROKER_COMM|DUAL_WRITE) state")
"""A driver is done with the copy and the full sync after it, and tells brokers in ZooKeeper mode of its controller."""
_DRAWS_NONE = re.compile(r"broker-\d+ in ZooKeeper mode gives (\d+) in all of ")
_CONFIGS_OF_A_TOPIC = "topic:"
"""A broker that knows no topic gives none of its configs, though it has read them."""
_ID = {"topics": "id", "partitions": "replicas"}
"""By family, the field that everything has which a broker knows."""


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
    return verdict.is_of(metadata_equivalent) and any(_was_told_nothing(history, verdict, each) for each in led)


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


def _was_told_nothing(history: History, verdict: Verdict, reign: Reign) -> bool:
    """Whether brokers that know nothing are all that is wrong at a place; what the others report is ZooKeeper's."""
    images = {history.images[each].source: (each, history.images[each]) for each in verdict.listed("images")}
    wrong = wrong_in(history, verdict)
    if wrong is None or set(images) != {ZOOKEEPER, BROKERS}:
        return False
    (label, asked), (_, zookeeper) = images[BROKERS], images[ZOOKEEPER]
    taken = snapshot(history, label)
    if taken is None or not reign.holds(taken.at_ns):
        return False
    here = brokers_at(history, taken.at_ns)
    if any(each.mode != BrokerMode.ZOOKEEPER.value for each in here):
        return False  # it reads the log, and may be what is wrong
    began_ns = _copy_began_ns(history)
    silent = [
        each.name for each in here if (each.ready_ns or began_ns) >= began_ns and _knows_nothing(asked, each.name)
    ]
    late = _not_made_before(history, began_ns)
    return all(
        _topic_of(zookeeper, place) in late
        if _is_on_none(asked, zookeeper, place)
        else _others_agree(asked, zookeeper, place, silent)
        for place in wrong.places
    )


def _copy_began_ns(history: History) -> int:
    """Since then no controller of ZooKeeper tells brokers anything; one that is ready later was told by none."""
    copying = (each.at_ns for each in history.of(StateChanged) if each.what.state == Phase.COPYING.name)
    return next(copying, history.end_ns)


def _not_made_before(history: History, began_ns: int) -> set[str]:
    """Topics whose creation had not ended as the copy began: a controller of ZooKeeper tells brokers before it ends."""
    created = [each for each in history.of(MetadataChanged) if each.what.change == "create-topic"]
    return {each.what.subject for each in created if each.at_ns > began_ns}


def _knows_nothing(asked: MetadataImage, broker: str) -> bool:
    held = [each.get(field) for family, field in _ID.items() for each in getattr(asked, family).values()]
    return bool(held) and all(isinstance(each, Mapping) and each.get(broker, "") is None for each in held)


def _topic_of(zookeeper: MetadataImage, place: Place) -> str:
    """The topic that a place is of: of how many partitions it has, its key is the topic itself."""
    _, key = place
    topic = key.removeprefix(_CONFIGS_OF_A_TOPIC)
    return topic if topic in zookeeper.topics else topic.rpartition("-")[0]


def _is_on_none(asked: MetadataImage, zookeeper: MetadataImage, place: Place) -> bool:
    return place[0] in _ID and _topic_of(zookeeper, place) not in asked.topics


def _others_agree(asked: MetadataImage, zookeeper: MetadataImage, place: Place, silent: Collection[str]) -> bool:
    """Whether brokers that know nothing are silent at this place, and the others report what ZooKeeper has."""
    family, key = place
    if not silent or (family not in _ID and not key.startswith(_CONFIGS_OF_A_TOPIC)):
        return False
    of_asked, of_zookeeper = (getattr(each, family) for each in (asked, zookeeper))
    keys = {each for each in {*of_asked, *of_zookeeper} if _topic_of(zookeeper, (family, each)) == key} or {key}
    return all(_reports(of_asked.get(each, {}), of_zookeeper.get(each, {}), silent) for each in keys)


def _reports(reported: Mapping[str, object], held: Mapping[str, object], silent: Collection[str]) -> bool:
    return bool(reported) and all(
        own == held.get(field)
        for field, value in reported.items()
        for broker, own in (value.items() if isinstance(value, Mapping) else [("", value)])
        if broker not in silent
    )
