"""How an error is to be understood: FAILED only when nothing can have happened, otherwise INDEFINITE.

Produce. Which errors are definite, and why, is in ``model.refusals``; besides, whatever ``produce`` itself raises
is, since nothing was sent then (see ``Sender.send``).

Commit and administration. A broker's own answer is definite, except those that mean "I gave up waiting", and those that
a change gets which was made before; what the client makes up itself (names with an underscore) is definite only when no
request can have been sent.
"""

from confluent_kafka import KafkaError
from kio.schema.errors import ErrorCode

from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.refusals import DEFINITE_PRODUCE_ERRORS, NOT_CONNECTED

INDEFINITE_ANSWERS = frozenset({"REQUEST_TIMED_OUT", "UNKNOWN_SERVER_ERROR", "NETWORK_EXCEPTION"})
MADE_BEFORE = {
    "create-topic": ("TOPIC_ALREADY_EXISTS",),
    "delete-topic": ("UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID"),
    "add-partitions": ("INVALID_PARTITIONS",),
    "remove-scram": ("RESOURCE_NOT_FOUND",),
}
"""The answers to a change that was made before, perhaps by the same request.

A broker that forwards a request and loses the controller asks its successor again (NodeToControllerRequestThread puts
the request back into its queue), also when the first one has carried it out. Other changes can be made twice.
"""
DEFINITE_LOCAL_ERRORS = frozenset(
    {"_INVALID_ARG", "_NO_OFFSET", "_STATE", "_UNKNOWN_PARTITION", "_UNSUPPORTED_FEATURE", NOT_CONNECTED}
)


def error_name(error: KafkaError | None) -> str:
    """Kafka's own name of an error (librdkafka's with a leading underscore for what it made up); "" of none."""
    if error is None:
        return ""
    try:
        return kafka_name(error.code())
    except ValueError:
        return str(error.name())


def kafka_name(code: int) -> str:
    """Kafka's own name of an error code, "NONE" of 0; ValueError when Kafka has no such code."""
    return ErrorCode(code).name.upper()


def produce_outcome(error: str) -> OperationOutcome:
    """The outcome of a send that ended with this error ("" for none)."""
    if not error:
        return OperationOutcome.OK
    return OperationOutcome.FAILED if error in DEFINITE_PRODUCE_ERRORS else OperationOutcome.INDEFINITE


def request_outcome(error: str, change: str = "") -> OperationOutcome:
    """The outcome of a commit, or of a request for this change, that ended with this error ("" or "NONE" for none)."""
    if error in ("", "NONE"):
        return OperationOutcome.OK
    if error.startswith("_"):
        definite = error in DEFINITE_LOCAL_ERRORS
    else:
        definite = error not in INDEFINITE_ANSWERS and error not in MADE_BEFORE.get(change, ())
    return OperationOutcome.FAILED if definite else OperationOutcome.INDEFINITE
