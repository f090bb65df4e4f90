"""Identity of records, and what errors mean."""

import pytest
from confluent_kafka import KafkaError

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.workloads.clients.client_properties import (
    consumer_properties,
    producer_properties,
    reader_properties,
)
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.outcomes import error_name, produce_outcome, request_outcome
from pytest_kmigrate.workloads.clients.record_value import FOREIGN, SMALLEST_BYTES, decode, encode
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion, MetadataAdmin


@pytest.mark.parametrize("identity", [(0, 0), (7, 2**40), (2**31 - 1, 2**63 - 1)])
def test_a_value_tells_who_wrote_it(identity: tuple[int, int]) -> None:
    """Producer and sequence come back from a value of any allowed length."""
    for length in (SMALLEST_BYTES, 100):
        value = encode(*identity, length)
        assert len(value) == length
        assert decode(value) == identity


@pytest.mark.parametrize("value", [None, b"", b"kmg1", b"x" * 100])
def test_a_value_of_somebody_else_is_foreign(value: bytes | None) -> None:
    """No number is read out of a record that is not ours."""
    assert decode(value) == FOREIGN


@pytest.mark.parametrize(
    "error",
    [
        "_MSG_TIMED_OUT",
        "REQUEST_TIMED_OUT",
        "_PURGE_INFLIGHT",
        "_PURGE_QUEUE",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "TOPIC_AUTHORIZATION_FAILED",
        "_UNKNOWN_TOPIC",
        "NEW",
    ],
)
def test_a_send_that_may_have_been_appended_is_indefinite(error: str) -> None:
    """A timeout is no failure, nor is what only the last attempt was answered; no unforeseen error is either."""
    assert produce_outcome(error) is OperationOutcome.INDEFINITE


@pytest.mark.parametrize("error", ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"])
def test_a_send_refused_before_the_append_has_failed(error: str) -> None:
    """Only a refusal for the record's own sake is definite."""
    assert produce_outcome(error) is OperationOutcome.FAILED


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("", OperationOutcome.OK),
        ("NONE", OperationOutcome.OK),
        ("NOT_CONTROLLER", OperationOutcome.FAILED),
        ("TOPIC_ALREADY_EXISTS", OperationOutcome.FAILED),
        ("_NOT_CONNECTED", OperationOutcome.FAILED),
        ("REQUEST_TIMED_OUT", OperationOutcome.INDEFINITE),
        ("UNKNOWN_SERVER_ERROR", OperationOutcome.INDEFINITE),
        ("_TIMED_OUT", OperationOutcome.INDEFINITE),
        ("_TRANSPORT", OperationOutcome.INDEFINITE),
    ],
)
def test_a_request_is_definite_when_the_broker_answered(error: str, outcome: OperationOutcome) -> None:
    """A broker's answer decides, unless it says that it gave up waiting; what the client made up does not."""
    assert request_outcome(error) is outcome


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("create-topic", "TOPIC_ALREADY_EXISTS"),
        ("delete-topic", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("delete-topic", "UNKNOWN_TOPIC_ID"),
        ("add-partitions", "INVALID_PARTITIONS"),
        ("remove-scram", "RESOURCE_NOT_FOUND"),
    ],
)
def test_a_change_that_was_made_before_may_have_been_made_by_this_request(
    admin: MetadataAdmin, change: str, error: str
) -> None:
    """A broker asks the next controller again when the one died that had carried it out; other refusals stay such."""
    admin._ways = {change: lambda _: error}
    asked = MetadataChange(change, "any")
    assert admin.invoke(asked) == Completion(OperationOutcome.INDEFINITE, error)
    admin._ways = {change: lambda _: "POLICY_VIOLATION"}
    assert admin.invoke(asked) == Completion(OperationOutcome.FAILED, "POLICY_VIOLATION")


def test_errors_have_kafka_s_own_names() -> None:
    """The client library abbreviates some names; a history holds Kafka's."""
    assert error_name(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)) == "MESSAGE_TOO_LARGE"
    assert error_name(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert error_name(KafkaError(KafkaError._MSG_TIMED_OUT)) == "_MSG_TIMED_OUT"
    assert error_name(None) == ""


def _settings(**workload: object) -> ClientsSettings:
    return ClientsSettings(ClientWorkload(**workload), {"bootstrap.servers": "127.0.0.1:1"}, "operations", 5)  # type: ignore[arg-type]


def test_settings_survive_the_way_to_the_other_process() -> None:
    """The clients' process gets exactly what was asked for."""
    settings = _settings(topics=("a", "b"), per_s=2.5)
    assert ClientsSettings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"topics": ()},
        {"partitions": 0},
        {"per_s": -1},
        {"record_bytes": 3},
        {"message_timeout_s": 1},
        {"producers": -1},
        {"transactors": -1},
        {"transactions_per_s": 0},
        {"transaction_records": 0},
        {"transactions_per_abort": 0},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    """A mistake is reported where it is made, not by a process that ends."""
    with pytest.raises(WrongUseError, match=next(iter(wrong))):
        _settings(**wrong)


def test_the_connection_cannot_weaken_what_the_checks_rely_on() -> None:
    """acks=all with idempotence and no duplicates of the client's own, committed records, no commit behind our back."""
    settings = _settings()
    produced = producer_properties(settings, 1)
    assert (produced["acks"], produced["enable.idempotence"]) == ("all", True)
    assert produced["max.in.flight.requests.per.connection"] == 1
    consumed, read = consumer_properties(settings, 2), reader_properties(settings, 3)
    assert (consumed["isolation.level"], consumed["enable.auto.commit"]) == ("read_committed", False)
    assert consumed["group.instance.id"] == consumed["client.id"] == "clients-consumer-2"
    assert (read["isolation.level"], read["enable.partition.eof"]) == ("read_committed", True)
