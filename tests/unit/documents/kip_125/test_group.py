"""What a coordinator of Kafka's group answers while another one takes over."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from pytest_kmigrate.documents.kip_125.group import answer_of
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.waiting import NotYet


def refusing(code: int) -> Exception:
    """An answer of Kafka that is an error."""
    refused: Exception = KafkaException(KafkaError(code))
    return refused


@pytest.mark.parametrize("code", [KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.NOT_COORDINATOR])
def test_a_coordinator_that_takes_over_is_asked_again(code: int) -> None:
    """It has read the group's offsets before long."""

    def ask() -> None:
        raise refusing(code)

    assert isinstance(answer_of(ask), NotYet)
    assert answer_of(lambda: "described") == "described"


def test_any_other_answer_is_one_clear_error() -> None:
    """Such as a group that this client may not see."""

    def ask() -> None:
        raise refusing(KafkaError.GROUP_AUTHORIZATION_FAILED)

    with pytest.raises(ClusterError, match=r"expected a coordinator to describe the group; got .*GROUP_AUTHORIZATION"):
        answer_of(ask)
