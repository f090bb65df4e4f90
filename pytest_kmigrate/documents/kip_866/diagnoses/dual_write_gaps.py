"""KAFKA-15149, KAFKA-16121, KAFKA-16003: what the KRaft controllers leave out while brokers are in ZooKeeper mode."""

import re
from collections.abc import Sequence

from pytest_kmigrate.checkers.controllers.znode_changes import writes_to
from pytest_kmigrate.checkers.evidence.expectations import lists_in
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of
from pytest_kmigrate.checkers.metadata.changes import has_failed
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.expectations import CONFIG_WRITTEN, ON_DISKS
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_PARTITION = re.compile(r"\b[\w.-]+-\d+\b")
_IGNORED = (
    r"Ignoring LeaderAndIsr request from controller [3-9]\d{{3}} .*for partition {partition} since its associated "
    r"leader epoch {epoch} matches"
)
_STOPPED = re.compile(r"Handling StopReplica request .*from controller [3-9]\d{3} ")
_CREATED = re.compile(r"Created partition (\S+)-(\d+) with topic ID ")
_SENT = re.compile(r"Sending UpdateMetadata request to brokers \S*\([\d, ]+\) for [1-9]\d* partitions")


@diagnosis("KAFKA-15149", windows=since_the_takeover)
def added_partitions_were_never_sent(history: History, verdict: Verdict) -> bool:
    """A controller created partitions, and no UpdateMetadata that it sent since holds any partition at all."""
    return all_unmet(history, verdict, lambda event: _were_never_sent(history, event))


@diagnosis("KAFKA-16121", windows=since_the_takeover)
def reassignment_has_no_leader_epoch_of_its_own(history: History, verdict: Verdict) -> bool:
    """Brokers ignore what the KRaft controller orders of a partition: the leader epoch is the one they know already.

    That partition is still under reassignment in the metadata log, in just this epoch. Or its reassignment came to its
    end, and a broker that it left was made to stop its replica, but not to delete it (KAFKA-16120).
    """
    return all_unmet(history, verdict, lambda event: _is_ignored(history, event) or _is_kept(history, event))


@diagnosis("KAFKA-16003", windows=since_the_takeover)
def topic_has_no_config_znode(history: History, verdict: Verdict) -> bool:
    """A topic is whole in ZooKeeper but for the znode of its configs, though no write of dual write has failed.

    Nothing of it was ever written: no config was set, and none was there before.
    """
    has_failed = any(
        "error during event" in log or "migration fault" in log for _, log in logs_of(history, "controller")
    )
    return not has_failed and all_unmet(history, verdict, lambda event: _lacks_config_alone(history, event))


def _is_ignored(history: History, event: Recorded[ExpectationEnded]) -> bool:
    under_way = {
        (key, value.get("leader_epoch"))
        for image in history.images.values()
        if image.source == "metadata-log"
        for key, value in image.partitions.items()
        if (value.get("adding") or value.get("removing")) and key in _PARTITION.findall(event.what.name)
    }
    logs = [log for _, log in logs_of(history, "broker")]
    orders = [re.compile(_IGNORED.format(partition=re.escape(key), epoch=epoch)) for key, epoch in under_way]
    return lists_in(event) is not None and any(each.search(log) for each in orders for log in logs)


def _is_kept(history: History, event: Recorded[ExpectationEnded]) -> bool:
    """Whether just those brokers have a replica too many that lost it by the log, were stopped, and deleted nothing."""
    both = lists_in(event)
    held = ON_DISKS.places_in(event.what)
    if both is None or held is None:
        return False
    named = _PARTITION.findall(held["what"])
    moved = [
        key
        for image in history.images.values()
        for key, value in image.partitions.items()
        if image.source == "metadata-log" and key in named and not value.get("adding") and not value.get("removing")
        if isinstance(replicas := value.get("replicas"), list | tuple) and set(replicas) == set(both[0])
    ]
    left = [log_of(history, f"broker-{broker}") for broker in both[1] if broker not in both[0]]
    return bool(moved and left) and set(both[0]) < set(both[1]) and all(_keeps(log, moved[0]) for log in left)


def _keeps(log: str, partition: str) -> bool:
    """Whether a broker has handled a StopReplica of a KRaft controller, and never deleted this partition."""
    deleted = f"Log for partition {partition} is renamed"
    return bool(_STOPPED.search(log)) and deleted not in log


def _were_never_sent(history: History, event: Recorded[ExpectationEnded]) -> bool:
    """Whether brokers report fewer partitions of a topic than expected, and lack those that a controller created."""
    both = lists_in(event)
    if both is None or len(both[0]) != len(both[1]) or not all(isinstance(each, int) for each in (*both[0], *both[1])):
        return False
    lacking = {each for wanted, seen in zip(*both, strict=True) for each in range(int(str(seen)), int(str(wanted)))}
    topics = event.what.name.split()
    return bool(lacking) and any(_are_unsent(log, topics, lacking) for _, log in logs_of(history, "controller"))


def _are_unsent(log: str, topics: Sequence[str], partitions: set[int]) -> bool:
    """Whether a controller created these partitions of a topic, and sent no partition to any broker afterwards."""
    created = [each for each in _CREATED.finditer(log) if each[1] in topics and int(each[2]) in partitions]
    return partitions == {int(each[2]) for each in created} and not _SENT.search(log, created[0].end())


def _lacks_config_alone(history: History, event: Recorded[ExpectationEnded]) -> bool:
    config = CONFIG_WRITTEN.places_in(event.what)
    topic = config["name"] if config is not None and config["kind"] == "topics" else None
    images = [image for image in history.images.values() if image.source == "zookeeper"]
    if topic is None or event.what.expected is not True or not images:
        return False
    configured = [each for each in history.of(MetadataChanged) if each.what.subject == f"topic:{topic}"]
    if any(not has_failed(each) for each in configured) or writes_to(history, f"/config/topics/{topic}"):
        return False
    states = [value for key, value in images[-1].partitions.items() if key.rpartition("-")[0] == topic]
    return topic in images[-1].topics and bool(states) and all(value.get("isr") for value in states)
