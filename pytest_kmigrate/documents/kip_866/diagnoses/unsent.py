"""Brokers in ZooKeeper mode that were sent nothing: what they lack was to be sent by a driver that had stopped."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_kmigrate.checkers.metadata.acknowledged import looked_for
from pytest_kmigrate.checkers.metadata.changes import State
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.clients.answers import OF_ZOOKEEPER_MODE
from pytest_kmigrate.documents.kip_866.checks.settled import BROKERS, Settled, image_of, settled_images
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.model.verdict import Verdict

_GIVES_KRAFT = re.compile(r"gives controller-\d+")


def is_uninformed(observed: str) -> bool:
    """Whether a broker in ZooKeeper mode is what was observed, and it may have heard of no controller since long.

    One that gives a controller of KRaft to clients has heard of it.
    """
    return OF_ZOOKEEPER_MODE in observed and not _GIVES_KRAFT.search(observed)


def were_not_sent(
    history: History, verdict: Verdict, *, stopped_at: Callable[[int], bool], owes: Callable[[State], bool]
) -> bool:
    """Whether all that brokers do not report was looked at while a driver had stopped, and was its own to send.

    It is about a verdict of what brokers are sent of changes. ``stopped_at``: whether the driver had stopped at a time,
    in nanoseconds; ``owes``: whether the driver would have sent this. A broker in KRaft mode is sent nothing, and reads
    the log.
    """
    found = verdict.all_known
    if not found or not all(each.at_ns is not None and stopped_at(each.at_ns) for each in found):
        return False
    looked = [each for each in settled_images(history) if each.has(BROKERS) and stopped_at(each.ended_ns)]
    lost = [(settled, each.state) for settled in looked for each in looked_for(history, settled.labels[BROKERS]).lost]
    owed = {(settled.ended_ns, f"{state.subject} is ") for settled, state in lost if owes(state)}
    owed -= {
        (settled.ended_ns, f"{state.subject} is ") for settled, state in lost if _in_kraft(history, settled, state)
    }
    return all(any(each.at_ns == at_ns and each.expected.startswith(text) for at_ns, text in owed) for each in found)


def _in_kraft(history: History, settled: Settled, state: State) -> bool:
    """Whether a broker in KRaft mode is among those that do not report a topic, or its partitions, as they must."""
    image, now = image_of(history, settled, BROKERS), brokers_at(history, settled.began_ns)
    in_kraft = [each.name for each in now if each.mode == BrokerMode.KRAFT.value and each.away_ns is None]
    return any(not state.admits(state.observed_in(_as_reported_by(image, each))) for each in in_kraft)


def _as_reported_by(image: MetadataImage, broker: str) -> MetadataImage:
    """The topics and partitions that one broker reports: where brokers disagree, a field has the value of each."""
    topics, partitions = (
        {key: {**each, field: own} for key, each in held.items() if (own := _of(each.get(field), broker)) is not None}
        for held, field in ((image.topics, "id"), (image.partitions, "replicas"))
    )
    return replace(image, topics=topics, partitions=partitions)


def _of(reported: object, broker: str) -> object:
    return reported.get(broker) if isinstance(reported, Mapping) else reported
