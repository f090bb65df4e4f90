"""Changes of metadata that are requested of one chosen controller at the same time, and recorded with its name."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.refusals import NOT_CONNECTED
from pytest_kmigrate.wire.admin import TOPIC_RESOURCE, alter_config_at, alter_quota_at, create_topics_at
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion, recorded

ANSWER_WITHIN_S = 12
"""A leader that hears of no majority gives up after 3 s, and answers then what it had taken in."""
_CONFIG: Mapping[str, str | None] = {"retention.bytes": "900000000"}
_QUOTA: Mapping[str, float | None] = {"consumer_byte_rate": 900_000_000.0}


def request_at_once(node: str, peer: Peer, recorder: Recorder, name: str, topic: str) -> None:
    """Create a topic of this name, alter another one that exists, and set a quota: one request each, in parallel.

    Each is recorded as a metadata change of ``node``. One that was not acknowledged is indefinite: a leader may have
    written it, and a later one may commit it.
    """

    def create() -> str:
        answers = create_topics_at(peer, [name], partitions=1, replication=1, within_s=ANSWER_WITHIN_S, patience_s=0)
        return answers[name]

    ways: list[tuple[MetadataChange, Callable[[], str]]] = [
        (MetadataChange("create-topic", name, {"partitions": 1, "replication": 1}), create),
        (
            MetadataChange("alter-config", f"topic:{topic}", _CONFIG),
            lambda: alter_config_at(peer, TOPIC_RESOURCE, topic, _CONFIG, within_s=ANSWER_WITHIN_S),
        ),
        (
            MetadataChange("set-quota", f"user={name}", _QUOTA),
            lambda: alter_quota_at(peer, {"user": name}, _QUOTA, within_s=ANSWER_WITHIN_S),
        ),
    ]
    with ThreadPoolExecutor(len(ways)) as pool:
        list(pool.map(lambda each: _request(node, recorder, *each), ways))


def _request(node: str, recorder: Recorder, change: MetadataChange, ask: Callable[[], str]) -> None:
    began_ns = recorder.now_ns()
    try:
        error = ask()
    except AwaitTimeoutError:
        error = "_TIMED_OUT"
    except ClusterError:
        error = NOT_CONNECTED
    is_made = error == "NONE"
    outcome = OperationOutcome.OK if is_made else OperationOutcome.INDEFINITE
    recorded(recorder, change, Completion(outcome, "" if is_made else error), began_ns, node)
