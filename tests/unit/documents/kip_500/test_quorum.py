"""The phases of a quorum, read from a cluster."""

import pytest

from pytest_kmigrate.documents.kip_500.document import phase
from pytest_kmigrate.model.document import ClusterReader
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage


@pytest.mark.parametrize(
    ("killed", "active", "expected"),
    [(0, True, "SERVING"), (0, False, "ELECTING"), (1, False, "ELECTING"), (2, True, "LOST")],
)
def test_a_quorum_serves_elects_or_is_lost(stage: Stage, killed: int, active: bool, expected: str) -> None:
    """A majority has to live; the last of three leads nothing, whatever it reports."""
    controllers = stage.cluster.nodes(Role.CONTROLLER)
    for node in controllers[:killed]:
        node.kill()
    last = controllers[-1].name
    stage.cluster.reported[last] = {"ActiveControllerCount": float(active), "RaftCurrentEpoch": 3}
    reading = phase(ClusterReader(stage.cluster, None, lambda _: None))
    assert reading.value == expected
    assert (reading.node == last) is (expected == "SERVING")
