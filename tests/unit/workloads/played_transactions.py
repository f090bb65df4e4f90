"""A cluster for transactional producers that answers as each test says, and producers that ask it."""

from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException

from tests.unit.workloads.played_message import PlayedMessage

ANSWERED = PlayedMessage(0, 40, topic="payments")
PURGED = KafkaError(KafkaError._PURGE_QUEUE)

Answer = KafkaException | None


class Cluster:
    """What producers are answered, in turn, and what they asked for; when nothing is left, all is well."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {"init": [], "begin": [], "produce": [], "commit": [], "abort": []}
        self.asked: list[str] = []
        self.is_silent = False
        """Whether sends get no answer."""

    def answer(self, what: str, *answers: Answer) -> None:
        """Say so next time."""
        self.answers[what] += answers

    def ask(self, what: str) -> None:
        """As a producer does; records are too many to be listed."""
        if what != "produce":
            self.asked.append(what)
        reported = self.answers[what].pop(0) if self.answers[what] else None
        if reported is not None:
            raise reported


class FakeProducer:
    """The methods of a transactional producer. As the real one it gathers records, and an abort drops those."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._gathered: list[Callable[..., None]] = []
        self._waiting: list[Callable[..., None]] = []
        self._is_purging = False

    def init_transactions(self, _timeout: float) -> None:
        """As asked."""
        self._cluster.ask("init")

    def begin_transaction(self) -> None:
        """As asked."""
        self._cluster.ask("begin")

    def produce(self, _topic: str, _value: bytes, _key: bytes, on_delivery: Callable[..., None]) -> None:
        """Refused as asked, or answered at the poll after the next flush."""
        self._cluster.ask("produce")
        if self._is_purging:
            on_delivery(PURGED, ANSWERED)
        else:
            self._gathered.append(on_delivery)

    def poll(self, _timeout: float) -> None:
        """All answers that are due."""
        while self._waiting and not self._cluster.is_silent:
            self._waiting.pop(0)(None, ANSWERED)

    def flush(self, _timeout: float) -> None:
        """What was gathered is sent."""
        self._waiting, self._gathered = self._waiting + self._gathered, []
        self.poll(0)

    def purge(self) -> None:
        """Nothing comes back here, and what is sent next is purged as well: the worst case."""
        self._is_purging = True

    def commit_transaction(self, timeout: float) -> None:
        """As asked, after a flush of its own."""
        self.flush(timeout)
        self._cluster.ask("commit")

    def abort_transaction(self, _timeout: float) -> None:
        """As asked; what was not sent is answered by the client itself."""
        while self._gathered:
            self._gathered.pop(0)(PURGED, ANSWERED)
        self._cluster.ask("abort")
