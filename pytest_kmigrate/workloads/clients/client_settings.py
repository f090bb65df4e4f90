"""What the clients' process receives at its start: plain data that goes through a JSON file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.workloads.clients.record_value import SMALLEST_BYTES


@dataclass(frozen=True)
class ClientWorkload:
    """Producers and consumers of one group on a few topics."""

    name: str = "clients"
    """Names the parts under ``operations/``; unique in the run."""
    topics: tuple[str, ...] = ("orders",)
    partitions: int = 3
    replication: int = 3
    per_s: float = 1000
    """Sends per second of all producers together."""
    producers: int = 2
    consumers: int = 2
    group: str = "kmigrate"
    record_bytes: int = 100
    is_text: bool = False
    """Whether records are text, for consumers under test that print their values."""
    message_timeout_s: float = 60
    request_timeout_s: float = 5
    session_timeout_s: float = 30
    commit_every_s: float = 1
    most_in_flight: int = 5000
    """Per producer: sends not yet answered; when there are more, the clients skip instead of piling up."""
    transactors: int = 0
    """Transactional producers, besides ``producers`` and with a topic of their own: an open transaction hides what was
    written behind it from readers."""
    transactions_topic: str = "payments"
    transactions_per_s: float = 4
    """Of each transactor."""
    transaction_records: int = 6
    transactions_per_abort: int = 4
    """Every so many transactions one is aborted."""
    seed: int = 0
    """Draws the order of the records' keys."""
    needs = frozenset({Capability.TRAFFIC})

    @property
    def every_topic(self) -> tuple[str, ...]:
        """All that is written, and so read, too."""
        return (*self.topics, self.transactions_topic) if self.transactors else self.topics

    def __post_init__(self) -> None:
        wrong = [
            sentence
            for is_wrong, sentence in (
                (not self.topics, "topics: expected at least one; got none"),
                (self.partitions < 1, f"partitions: expected at least 1; got {self.partitions}"),
                (self.per_s < 0, f"per_s: expected 0 or more; got {self.per_s}"),
                (
                    min(self.producers, self.consumers, self.transactors) < 0,
                    "producers, consumers, transactors: expected 0 or more",
                ),
                (
                    self.transactions_per_s <= 0,
                    f"transactions_per_s: expected more than 0; got {self.transactions_per_s}",
                ),
                (
                    self.transaction_records < 1,
                    f"transaction_records: expected at least 1; got {self.transaction_records}",
                ),
                (
                    self.transactions_per_abort < 1,
                    f"transactions_per_abort: expected at least 1; got {self.transactions_per_abort}",
                ),
                (
                    self.record_bytes < SMALLEST_BYTES,
                    f"record_bytes: expected at least {SMALLEST_BYTES}; got {self.record_bytes}",
                ),
                (
                    self.message_timeout_s < self.request_timeout_s,
                    "message_timeout_s: expected no less than request_timeout_s",
                ),
            )
            if is_wrong
        ]
        if wrong:
            raise WrongUseError("client workload: " + "; ".join(wrong))


@dataclass(frozen=True)
class ClientsSettings:
    """A ClientWorkload and where it runs."""

    workload: ClientWorkload
    connection: Mapping[str, str] = field(repr=False)
    """librdkafka properties: ``bootstrap.servers`` and, on protected listeners, security ones with a password."""
    operations_folder: str
    run_start_monotonic_ns: int

    def to_json(self) -> str:
        """The text of the settings file."""
        return json.dumps(asdict(self), indent=1)

    @staticmethod
    def from_json(text: str) -> "ClientsSettings":
        """The settings in that text."""
        plain = json.loads(text)
        workload = plain.pop("workload")
        return ClientsSettings(workload=ClientWorkload(**{**workload, "topics": tuple(workload["topics"])}), **plain)
