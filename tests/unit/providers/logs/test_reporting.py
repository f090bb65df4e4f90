"""Facts about what nodes are recorded to be: their meta.properties, and the requests that they accept."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.providers.owned import reporting
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.protection.security import Protection
from pytest_kmigrate.providers.owned.surroundings import Surroundings
from tests.unit.fakes import MemoryRecorder, topology


def test_an_identity_is_what_the_files_hold(tmp_path: Path) -> None:
    """By log directory; comments are no keys."""
    recorder = MemoryRecorder()
    for name in ("dir-1", "dir-2", "dir-3"):
        (tmp_path / name).mkdir()
    (tmp_path / "dir-1" / "meta.properties").write_text("#\n#Fri\ncluster.id=a=b\nversion=0\n\n")
    (tmp_path / "dir-3" / "meta.properties").write_text("version = 1\n")
    reporting.record_identity(recorder, "broker-0", sorted(tmp_path.iterdir()))
    reporting.record_identity(recorder, "broker-1", [tmp_path / "dir-2"])
    (read,) = recorder.of(EventKind.NODE_IDENTITY)
    assert read.node == "broker-0"
    assert read.data == {"files": {"dir-1": {"cluster.id": "a=b", "version": "0"}, "dir-3": {"version": "1"}}}


ANSWER = SimpleNamespace(
    api_keys=[SimpleNamespace(api_key=4, min_version=0, max_version=7)],
    supported_features=[SimpleNamespace(name="metadata.version", min_version=1, max_version=21)],
    zk_migration_ready=True,
)


@pytest.mark.parametrize(("node", "port"), [("broker-0", 9094), ("controller-3000", 9093), ("zookeeper-1", None)])
def test_requests_are_asked_for_where_a_node_answers_without_a_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, node: str, port: int | None
) -> None:
    """Nodes of Kafka; ZooKeeper speaks another protocol."""
    recorder, shape, asked = MemoryRecorder(), topology(), list[Peer]()
    around = SimpleNamespace(
        addresses=Addresses(shape, 7), protection=Protection(shape.security, tmp_path), recorder=recorder
    )
    monkeypatch.setattr(reporting, "api_versions", lambda peer, **_: asked.append(peer) or ANSWER)
    monkeypatch.setattr(reporting, "readiness_at", lambda *_: {"3": 1, "4": None})
    reporting.record_requests(cast("Surroundings", around), shape.node(node))
    assert [each.address.rpartition(":")[2] for each in asked] == ([str(port)] if port else [])
    reported = recorder.of(EventKind.NODE_REQUESTS)
    expected = {"requests": {"4": [0, 7]}, "supported": {"metadata.version": [1, 21]}, "is_ready_to_migrate": True}
    expected["readiness"] = {"3": 1, "4": None}
    assert [(each.node, each.data) for each in reported] == ([(node, expected)] if port else [])


def test_a_node_that_does_not_answer_reports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault may have begun as soon as it was ready."""
    recorder, shape = MemoryRecorder(), topology()
    around = SimpleNamespace(
        addresses=Addresses(shape, 7), protection=Protection(shape.security, tmp_path), recorder=recorder
    )

    def silent(*_: object, **__: object) -> Any:
        raise ClusterError("nobody")

    monkeypatch.setattr(reporting, "api_versions", silent)
    monkeypatch.setattr(reporting, "_ANSWER_WITHIN_S", 0.2)
    reporting.record_requests(cast("Surroundings", around), shape.node("broker-0"))
    assert recorder.events == []


def test_a_node_that_closes_the_first_connection_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes connections before it answers."""
    recorder, shape = MemoryRecorder(), topology()
    around = SimpleNamespace(
        addresses=Addresses(shape, 7), protection=Protection(shape.security, tmp_path), recorder=recorder
    )
    answers = iter([ClusterError("closed"), ANSWER])

    def answered(*_: object, **__: object) -> Any:
        answer = next(answers)
        if isinstance(answer, ClusterError):
            raise answer
        return answer

    monkeypatch.setattr(reporting, "api_versions", answered)
    monkeypatch.setattr(reporting, "readiness_at", lambda *_: {})
    reporting.record_requests(cast("Surroundings", around), shape.node("controller-3000"))
    assert len(recorder.of(EventKind.NODE_REQUESTS)) == 1
