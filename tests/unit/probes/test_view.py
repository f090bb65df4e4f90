"""What the view of a cluster reads for every document: the quorum's leader, the ensemble's, metrics, states."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.document import ClusterReader, Document, State
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.probes.view import ClusterView
from tests.unit.fakes import Stage, staged, topology


def counted(reader: ClusterReader) -> Reading:
    """A state that counts how often it was read."""
    return Reading(str(int(reader.last("looks") or 0) + 1))


DOCUMENT = Document("toy", "A document with one state.", states=[State("looks", counted)])


def view_of(stage: Stage, document: Document = DOCUMENT) -> ClusterView:
    """Of three servers the second leads."""
    stage.cluster.leads_ensemble = "zookeeper-2"
    return ClusterView(document, stage.cluster, stage.znodes, lambda: 42)


def test_a_state_is_read_by_its_name_and_knows_what_was_read_last(stage: Stage) -> None:
    """What cannot be read any more may then stand as it stood; a state that there is not is refused."""
    view = view_of(stage)
    assert view.states == ("looks",)
    assert [view.state("looks"), view.state("looks")] == [Reading("1"), Reading("2")]
    with pytest.raises(WrongUseError, match="expected one of looks; got 'look'; did you mean \"looks"):
        view.state("look")
    with pytest.raises(WrongUseError, match=r"^state: expected none, as the document has no states; got 'phase'$"):
        view_of(stage, Document("toy", "A document without states.")).state("phase")


def test_a_paused_leader_goes_on_claiming(stage: Stage) -> None:
    """The quorum's leader is the one with the higher epoch; it is in charge where the document says nothing else."""
    view, reported = view_of(stage), stage.cluster.reported
    reported["controller-3000"] = {"ActiveControllerCount": 1, "RaftCurrentEpoch": 4}
    reported["controller-3002"] = {"ActiveControllerCount": 1, "RaftCurrentEpoch": 5}
    assert (view.quorum_leader(), view.active_controller()) == ("controller-3002", "controller-3002")
    reported["controller-3002"] = {"ActiveControllerCount": 0}
    assert view.quorum_leader() == "controller-3000"


def test_a_document_says_which_node_is_in_charge(stage: Stage) -> None:
    """It reads that from the cluster, as it does its states."""
    document = Document("toy", "Brokers rule.", in_charge=lambda reader: reader.cluster.nodes()[1].name)
    assert view_of(stage, document).active_controller() == "broker-0"


def test_the_ensemble_leader_is_a_live_server_that_says_so(tmp_path: Path) -> None:
    """A dead server leads nothing."""
    with staged(tmp_path, topology(zookeepers=3)) as stage:
        view = view_of(stage)
        assert view.zookeeper_leader() == "zookeeper-2"
        stage.cluster.node("zookeeper-2").kill()
        assert view.zookeeper_leader() is None


def test_a_dead_node_exposes_no_metric(stage: Stage) -> None:
    """It is not even asked."""
    view = view_of(stage)
    stage.cluster.reported["broker-0"] = {"UnderReplicatedPartitions": 2}
    assert view.metric("broker-0", "UnderReplicatedPartitions") == 2
    stage.cluster.node("broker-0").kill()
    assert view.metric("broker-0", "UnderReplicatedPartitions") is None
    assert view.acked_operations() == 42


def test_a_metric_that_there_is_not_is_refused_with_those_there_are(stage: Stage) -> None:
    """A misspelt name would read as None for ever: it is reported at once, with the one that is meant."""
    view = view_of(stage)
    with pytest.raises(WrongUseError, match=r"Lag, .*got 'ZkWriteBehindLags'; did you mean \"ZkWriteBehindLag"):
        view.metric("controller-3000", "ZkWriteBehindLags")
    with pytest.raises(WrongUseError, match="take one of these"):
        view.metric("controller-3000", "x")
