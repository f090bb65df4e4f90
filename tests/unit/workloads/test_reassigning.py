"""A reassignment that is held: throttled before it begins, under way until the throttle is taken away."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.admin import DescribedPartition, DescribedTopic, Reassignment
from pytest_kmigrate.workloads.metadata import reassigning
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion
from pytest_kmigrate.workloads.metadata.reassigning import RECORDS, HeldReassignment
from tests.unit.fakes import MemoryRecorder

BROKERS = {number: Peer(f"broker-{number}") for number in range(3)}
CONTROLLER = 1
PLACE = ("moving", 0)


class Kafka:
    """Three brokers that do what they are asked; the requests, in order."""

    def __init__(self) -> None:
        self.reported: list[str] = []
        self.adding: tuple[int, ...] = ()
        self.refuses = ""
        self.loses = False

    def admin(self, _connection: Mapping[str, str], within_s: float) -> "Kafka":
        """Stands for a MetadataAdmin."""
        return self

    def record(self, change: MetadataChange, _recorder: object) -> Completion:
        """A change, done unless it is refused."""
        self.reported.append(f"{change.change} {change.subject}")
        is_refused = change.subject == self.refuses
        return (
            Completion(OperationOutcome.FAILED, "POLICY_VIOLATION") if is_refused else Completion(OperationOutcome.OK)
        )

    def producer(self, _settings: Mapping[str, object]) -> "Kafka":
        """Stands for a Producer."""
        return self

    def produce(self, topic: str, _content: bytes, *, partition: int, on_delivery: Callable[..., None]) -> None:
        """One record, acknowledged at once unless it gets lost."""
        self.reported.append(f"record {topic}-{partition}")
        on_delivery("TIMED_OUT" if self.loses else None, None)

    def poll(self, _within_s: float) -> None:
        """Nothing is outstanding."""

    def flush(self, _within_s: float) -> int:
        """Nothing is outstanding."""
        return 0

    def reassign(self, peer: Peer, wanted: Mapping[tuple[str, int], Sequence[int]]) -> dict[tuple[str, int], str]:
        """Only the controller does it."""
        if peer is not BROKERS[CONTROLLER]:
            return dict.fromkeys(wanted, "NOT_CONTROLLER")
        self.reported.append(f"reassign {dict(wanted)}")
        self.adding = tuple(set(wanted[PLACE]) - {2, 0})
        return dict.fromkeys(wanted, "NONE")

    def under_way(self, _peer: Peer) -> tuple[str, dict[tuple[str, int], Reassignment]]:
        """The one reassignment, while there is any."""
        return "NONE", {PLACE: Reassignment((2, 0, 1), self.adding, (0,))} if self.adding else {}


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> Kafka:
    """A cluster in which the topic lies on brokers 2 and 0."""
    made = Kafka()
    described = DescribedTopic("NONE", {0: DescribedPartition(2, 0, (2, 0), (2, 0))})
    monkeypatch.setattr(reassigning, "MetadataAdmin", made.admin)
    monkeypatch.setattr(reassigning, "Producer", made.producer)
    monkeypatch.setattr(reassigning, "describe_topic_at", lambda _peer, _topic: described)
    monkeypatch.setattr(reassigning, "cluster_at", lambda _peer: (CONTROLLER, frozenset(BROKERS)))
    monkeypatch.setattr(reassigning, "reassign", made.reassign)
    monkeypatch.setattr(reassigning, "list_reassignments", made.under_way)
    return made


@pytest.fixture
def moving(kafka: Kafka) -> HeldReassignment:
    """Not begun."""
    return HeldReassignment({"bootstrap.servers": "b"}, BROKERS, MemoryRecorder(), "moving", seed=1)


def test_it_is_throttled_before_it_begins(kafka: Kafka, moving: HeldReassignment) -> None:
    """There is something to move, every broker and the topic are throttled, and only then it moves, to a newcomer."""
    moving.begin()
    throttled = [*(f"alter-config broker:{number}" for number in BROKERS), "alter-config topic:moving"]
    began = f"reassign {{{PLACE!r}: (2, 1)}}"
    assert kafka.reported == ["create-topic moving", *["record moving-0"] * RECORDS, *throttled, began]
    assert (moving.wanted, moving.adding()) == ((2, 1), (1,))


def test_letting_go_takes_every_throttle_away(kafka: Kafka, moving: HeldReassignment) -> None:
    """The same places, unset; once it has arrived nothing is being added."""
    moving.begin()
    kafka.reported.clear()
    moving.let_go()
    assert kafka.reported == [*(f"alter-config broker:{number}" for number in BROKERS), "alter-config topic:moving"]
    kafka.adding = ()
    assert moving.adding() == ()
    assert moving.replicas_and_isr() == ([0, 2], [0, 2])


def test_a_cluster_that_refuses_is_told(kafka: Kafka, moving: HeldReassignment) -> None:
    """Without a throttle it would be over before the migration begins: that proves nothing."""
    kafka.refuses = "broker:1"
    with pytest.raises(ClusterError, match=r"alter-config of broker:1 to be accepted; got POLICY_VIOLATION"):
        moving.begin()


def test_records_that_were_not_taken_are_told(kafka: Kafka, moving: HeldReassignment) -> None:
    """A topic that is not full would be moved at once."""
    kafka.loses = True
    with pytest.raises(ClusterError, match=r"expected 128 records in moving; 0 not answered, 128 \(TIMED_OUT\) failed"):
        moving.begin()
