"""Who leads a partition, from an admin client whose questions may meet a dead broker."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.probes import partition_leaders as module
from pytest_kmigrate.probes.partition_leaders import partition_leaders

TOPICS = {"t": SimpleNamespace(partitions={0: SimpleNamespace(id=0, leader=2), 1: SimpleNamespace(id=1, leader=-1)})}


class Admin:
    """Each question ends with an error while there is one left."""

    def __init__(self, *errors: int) -> None:
        self.errors = list(errors)

    def list_topics(self, **_: float) -> Any:
        """One topic, of which one partition has no leader."""
        if self.errors:
            raise KafkaException(KafkaError(self.errors.pop(0)))
        return SimpleNamespace(topics=TOPICS)


@pytest.mark.parametrize("errors", [[], [KafkaError._TIMED_OUT, KafkaError._TRANSPORT]])
def test_every_partition_is_told_with_its_leader(monkeypatch: pytest.MonkeyPatch, errors: list[int]) -> None:
    """A question that went to a dead broker is put again."""
    asked = Admin(*errors)
    monkeypatch.setattr(module, "AdminClient", lambda _: asked)
    assert partition_leaders({}) == {("t", 0): 2, ("t", 1): -1}


def test_a_refusal_says_what_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking again would not help."""
    monkeypatch.setattr(module, "AdminClient", lambda _: Admin(KafkaError.CLUSTER_AUTHORIZATION_FAILED))
    with pytest.raises(ClusterError, match=r"expected the brokers to report the list of topics.*check the bootstrap"):
        partition_leaders({})
