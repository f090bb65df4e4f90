"""What a node is by its own account: its meta.properties, and the requests that it accepts."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.nodes import IdentityRead, RequestsReported
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import Listener, NodeSpec, Role
from pytest_kmigrate.providers.owned.network.addresses import ANSWERS_AT
from pytest_kmigrate.providers.owned.surroundings import Surroundings
from pytest_kmigrate.waiting import until
from pytest_kmigrate.wire.readiness import readiness_at
from pytest_kmigrate.wire.request import api_versions

_FILE = "meta.properties"
_ANSWER_WITHIN_S = 2.0


def record_identity(recorder: Recorder, node: str, log_dirs: Iterable[Path]) -> None:
    """Record the meta.properties of each log directory that has one; nothing if none has."""
    files = {each.name: _properties(each / _FILE) for each in log_dirs if (each / _FILE).is_file()}
    if files:
        recorder.record(IdentityRead(files), node)


def record_requests(around: Surroundings, spec: NodeSpec) -> None:
    """Record which requests a node of Kafka accepts; nothing if it does not answer, because a fault began say.

    One that takes connections already may still close the first.
    """
    if spec.role is not Role.ZOOKEEPER:
        awaited = f"what {spec.name} answers to ApiVersions"
        with suppress(AwaitTimeoutError):
            until(lambda: _has_recorded(around, spec), awaited=awaited, within_s=_ANSWER_WITHIN_S)


def _has_recorded(around: Surroundings, spec: NodeSpec) -> bool:
    with suppress(ClusterError):
        answer = api_versions(_peer(around, spec), within_s=_ANSWER_WITHIN_S)
        requests = {str(int(each.api_key)): [int(each.min_version), int(each.max_version)] for each in answer.api_keys}
        supported = {each.name: [int(each.min_version), int(each.max_version)] for each in answer.supported_features}
        ready = bool(answer.zk_migration_ready)
        reported = RequestsReported(requests, supported, ready, readiness_at(_peer(around, spec), _ANSWER_WITHIN_S))
        around.recorder.record(reported, spec.name)
        return True
    return False


def _peer(around: Surroundings, spec: NodeSpec) -> Peer:
    """Where it answers, past all links; without a login, which Kafka does not require for this request."""
    listener = Listener.CLIENT if spec.plays(Role.BROKER) else Listener.CONTROLLER
    address = f"{around.addresses.real(spec.name)}:{ANSWERS_AT[spec.role]}"
    return Peer(address, around.protection.greeting_properties(listener))


def _properties(file: Path) -> dict[str, str]:
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}
