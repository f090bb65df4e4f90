"""A reassignment that stays under way until it is let go: throttled as operators do, to next to nothing."""

from collections.abc import Mapping, Sequence
from random import Random

from confluent_kafka import KafkaError, Producer

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until
from pytest_kmigrate.wire.admin import cluster_at, describe_topic_at, list_reassignments, reassign
from pytest_kmigrate.workloads.clients.client_properties import QUICK_FAILOVER
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange, topic_created
from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin

RECORDS = 128
RECORD_BYTES = 500_000
"""Together 64 MB. A replica whose quota is used up still gets one fetch (1 MiB) in every quota window (11 s), and
another one after every restart: over ten minutes of them."""
RATE = "1024"
_RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
_REPLICAS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
_WITHIN_S = 30


class HeldReassignment:
    """One partition on its way from two brokers to one of them and a third; ``brokers`` is everybody, by id."""

    def __init__(
        self, connection: Mapping[str, str], brokers: Mapping[int, Peer], recorder: Recorder, topic: str, seed: int
    ) -> None:
        self.topic = topic
        self.wanted: tuple[int, ...] = ()
        """The replicas that the partition shall have in the end."""
        self._connection = connection
        self._brokers = brokers
        self._recorder = recorder
        self._seed = seed
        self._admin = MetadataAdmin(connection, within_s=_WITHIN_S)

    def begin(self) -> None:
        """Write a topic full, throttle its replication, and begin to move it; returns when that is under way."""
        self._change(topic_created(self.topic, 1, 2))
        before = self._replicas_on_every_broker()
        newcomer = Random(self._seed).choice(sorted(set(self._brokers) - set(before)))
        self.wanted = (before[0], newcomer)
        self._fill()
        self._throttle(RATE, ",".join(f"0:{each}" for each in before), f"0:{newcomer}")
        controller, _ = cluster_at(self._any)  # in ZooKeeper mode no other broker would do it
        error = reassign(self._brokers[controller], {(self.topic, 0): self.wanted})[self.topic, 0]
        if error != "NONE":
            raise ClusterError(f"expected broker {controller} to begin to move {self.topic}-0; got {error}")
        until(self.adding, awaited=f"{self.topic}-0 on its way", within_s=PATIENCE_S)

    def adding(self) -> tuple[int, ...]:
        """The brokers that are still to get the partition, as the controller says; none once it has arrived."""
        controller, _ = cluster_at(self._any)
        _, under_way = list_reassignments(self._brokers.get(controller, self._any))
        moving = under_way.get((self.topic, 0))
        return moving.adding if moving else ()

    def let_go(self) -> None:
        """Take the throttle away: from now on it can complete."""
        self._throttle(None, None, None)

    def replicas_and_isr(self) -> tuple[list[int], list[int]]:
        """Where the partition is now, as the broker reports that shall lead it."""
        described = describe_topic_at(self._brokers[self.wanted[0]], self.topic).partitions[0]
        return sorted(described.replicas), sorted(described.isr)

    @property
    def _any(self) -> Peer:
        return next(iter(self._brokers.values()))

    def _replicas_on_every_broker(self) -> tuple[int, ...]:
        def reported() -> tuple[int, ...] | NotYet:
            answers = [describe_topic_at(peer, self.topic) for peer in self._brokers.values()]
            unaware = [answer.error for answer in answers if 0 not in answer.partitions]
            return NotYet(unaware) if unaware else answers[0].partitions[0].replicas

        return until(reported, awaited=f"{self.topic} on every broker", within_s=PATIENCE_S)

    def _throttle(self, rate: str | None, leaders: str | None, followers: str | None) -> None:
        for number in self._brokers:
            self._change(MetadataChange("alter-config", f"broker:{number}", dict.fromkeys(_RATES, rate)))
        replicas = dict(zip(_REPLICAS, (leaders, followers), strict=True))
        self._change(MetadataChange("alter-config", f"topic:{self.topic}", replicas))

    def _change(self, change: MetadataChange) -> None:
        completion = self._admin.record(change, self._recorder)
        if completion.outcome is not OperationOutcome.OK:
            raise ClusterError(f"expected {change.change} of {change.subject} to be accepted; got {completion.error}")

    def _fill(self) -> None:
        failures: list[str] = []

        def delivered(error: KafkaError | None, _record: object) -> None:
            if error is not None:
                failures.append(str(error))

        settings: dict[str, str | int | float | bool] = {**QUICK_FAILOVER, **self._connection, "acks": "all"}
        producer = Producer(settings)
        content = Random(self._seed).randbytes(RECORD_BYTES)
        for _ in range(RECORDS):
            producer.produce(self.topic, content, partition=0, on_delivery=delivered)
            producer.poll(0)
        unsent = producer.flush(_WITHIN_S)
        if unsent or failures:
            raise ClusterError(
                f"expected {RECORDS} records in {self.topic}; {unsent} not answered, {_some(failures)} failed"
            )


def _some(failures: Sequence[str]) -> str:
    return f"{len(failures)} ({failures[0]})" if failures else "none"
