"""Mixtures that the document does not support: plain KafkaConsumers beside members that follow ZooKeeper."""

from pytest_kmigrate.documents.kip_125.evidence.lives import Life, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import ZOOKEEPER, may_follow
from pytest_kmigrate.model.history import History


def is_unsupported(history: History, one: int, other: int, at_ns: int) -> bool:
    """Whether one of two clients is a plain KafkaConsumer, and the other may follow ZooKeeper at an instant.

    What the mode node holds and who is registered decides, not what a member reports to follow.
    """
    known = lives(history)
    if one not in known or other not in known:
        return False
    first, second = known[one], known[other]
    return _is_mix(history, first, second, at_ns) or _is_mix(history, second, first, at_ns)


def _is_mix(history: History, plain: Life, connector: Life, at_ns: int) -> bool:
    if plain.is_of_zookeeper or not connector.is_of_zookeeper:
        return False
    return not connector.is_migrating or ZOOKEEPER in may_follow(history, connector, at_ns)


def is_naive(history: History) -> bool:
    """Whether plain KafkaConsumers and older members lived together, and none with migration ever did."""
    known = list(lives(history).values())
    plain = [each for each in known if not each.is_of_zookeeper]
    older = [each for each in known if each.is_of_zookeeper]
    together = any(one.began_ns < two.ended_ns and two.began_ns < one.ended_ns for one in plain for two in older)
    return together and not any(each.is_migrating for each in known)
