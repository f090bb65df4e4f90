"""Facts about faults of ZooKeeper's data and sessions."""

from itertools import count

import pytest

from pytest_kmigrate.faults import znodes
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.targets import every, node
from pytest_kmigrate.faults.znodes import ExpireSession, Forbid, Tamper
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage


@pytest.mark.parametrize("before", [None, b"theirs"])
def test_tamper_brings_back_what_was_there(stage: Stage, before: bytes | None) -> None:
    """The planted data stands inside the block; afterwards the old data, or no znode where there was none."""
    if before is not None:
        stage.znodes.set("/migration", before)
    with inject(stage.scene, Tamper("/migration", "ours")):
        assert stage.znodes.get("/migration") == b"ours"
    assert stage.znodes.get("/migration") == before
    assert stage.of(EventKind.FAULT_WITNESSED)


def test_tamper_leaves_what_kafka_wrote_meanwhile(stage: Stage) -> None:
    """Healing does not overwrite data that is no longer the planted one."""
    stage.znodes.set("/migration", b"before")
    with inject(stage.scene, Tamper("/migration", "ours")):
        stage.znodes.set("/migration", b"kafka's")
    assert stage.znodes.get("/migration") == b"kafka's"


def test_tamper_heals_when_the_test_body_raises(stage: Stage) -> None:
    """The old data is back after an error too."""
    stage.znodes.set("/migration", b"before")
    with pytest.raises(ZeroDivisionError), inject(stage.scene, Tamper("/migration", "ours")):
        raise ZeroDivisionError
    assert stage.znodes.get("/migration") == b"before"


def test_a_forbidden_znode_can_only_be_read_until_it_is_healed(stage: Stage) -> None:
    """Its ACL is the witness, and is as before afterwards."""
    theirs = frozenset({(31, "sasl", "kafka"), (1, "world", "anyone")})
    stage.znodes.allow("/config/topics", theirs)
    with inject(stage.scene, Forbid("/config/topics")):
        assert stage.znodes.access("/config/topics") == {(17, "world", "anyone")}
    assert stage.znodes.access("/config/topics") == theirs
    (applied,) = stage.of(EventKind.FAULT_APPLIED)
    assert applied.data["targets"] == [node.name for node in stage.cluster.nodes(Role.ZOOKEEPER)]
    assert stage.of(EventKind.FAULT_WITNESSED)


def test_an_acl_that_does_not_hold_gives_no_witness(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may skip ACLs, or another client may give the znode its own."""
    monkeypatch.setattr(stage.znodes, "allow", lambda *_: None)
    with inject(stage.scene, Forbid("/config/topics")):
        pass
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


@pytest.mark.parametrize(("fault", "read"), [(Forbid("/config"), "access"), (Tamper("/config", "{}"), "get")])
def test_what_was_done_to_a_znode_is_healed_though_it_cannot_be_read_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, fault: Forbid | Tamper, read: str
) -> None:
    """A server may end its connection as the witness is asked for."""
    stage.znodes.set("/config", b"theirs")
    before, answer, asked = (stage.znodes.access("/config"), b"theirs"), getattr(stage.znodes, read), count()

    def once(path: str) -> object:
        if next(asked) == 1:
            raise ClusterError("no server answers")
        return answer(path)

    monkeypatch.setattr(stage.znodes, read, once)
    with pytest.raises(ClusterError, match="no server answers"), inject(stage.scene, fault):
        pass
    assert (stage.znodes.access("/config"), stage.znodes.get("/config")) == before


def test_an_expired_session_is_witnessed_by_the_vanished_registration(stage: Stage) -> None:
    """The broker's own znode goes with its session."""
    stage.znodes.set("/brokers/ids/2", b"{}")
    stage.znodes.owners["/brokers/ids/2"] = 7
    with inject(stage.scene, ExpireSession(node("broker-2"))):
        assert stage.znodes.get("/brokers/ids/2") is None
    assert stage.of(EventKind.FAULT_WITNESSED)


def test_a_broker_without_registration_gives_no_witness(stage: Stage) -> None:
    """There was no session to expire: fault-not-witnessed."""
    with inject(stage.scene, ExpireSession(node("broker-2"))):
        pass
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


def test_a_controllers_session_is_told_by_its_connection(stage: Stage) -> None:
    """Of all sessions the one is expired that crosses its link, and that its connection ends is the witness."""
    stage.znodes.connected = {"controller-3001->zookeeper-1:2181": 7, "controller-3000->zookeeper-1:2181": 8}
    with inject(stage.scene, ExpireSession(node("controller-3001"))) as injection:
        assert stage.znodes.expired == [7]
        assert not stage.of(EventKind.FAULT_WITNESSED)
        del stage.znodes.connected["controller-3001->zookeeper-1:2181"]
        injection.await_bitten(within_s=30)


def test_a_controller_that_does_not_notice_gives_no_witness(stage: Stage) -> None:
    """Its connection stays: fault-not-witnessed."""
    stage.znodes.connected = {"controller-3001->zookeeper-1:2181": 7}
    with inject(stage.scene, ExpireSession(node("controller-3001"))):
        pass
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


def test_a_session_that_cannot_be_told_is_not_guessed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a connection of its own there is nothing to expire, and the error says what was looked for."""
    monkeypatch.setattr(znodes, "PATIENCE_S", 0.1)
    stage.znodes.connected = {"controller-3000->zookeeper-1:2181": 8}
    with (
        pytest.raises(AwaitTimeoutError, match="one session of controller-3001 with ZooKeeper"),
        inject(stage.scene, ExpireSession(node("controller-3001"))),
    ):
        pass
    assert stage.znodes.expired == []


def test_one_session_is_meant_not_several(stage: Stage) -> None:
    """A target that means several nodes is refused, and says which."""
    with (
        pytest.raises(ClusterError, match="broker-0, broker-1, broker-2"),
        inject(stage.scene, ExpireSession(every(Role.BROKER))),
    ):
        pass
