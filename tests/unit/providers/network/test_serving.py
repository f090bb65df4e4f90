"""Facts about when a cluster that was started serves."""

from pathlib import Path

import pytest

from pytest_kmigrate.providers import serving
from pytest_kmigrate.providers.bench import small_topology
from tests.unit.fakes import staged

OWN, FOREIGN = "127.2.250.2:9094", "127.1.250.2:9094"


@pytest.mark.parametrize(
    ("answers", "own", "asked"),
    [
        ([{FOREIGN}, {OWN, FOREIGN}, {OWN}], [OWN, "127.2.250.3:9094"], 3),
        ([{OWN}, set()], [OWN], 1),
        ([{FOREIGN}], [], 0),
    ],
    ids=["until they registered anew", "at once", "of somebody else's cluster nothing is known"],
)
def test_brokers_are_known_at_addresses_of_their_own_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[set[str]], own: list[str], asked: int
) -> None:
    """A cluster that started from the disks of another one would send its clients to what listens there now."""
    given = iter(answers)
    monkeypatch.setattr(serving, "cluster_at", lambda _peer: (0, frozenset([0])))
    monkeypatch.setattr(serving, "addresses_at", lambda _peer: frozenset(next(given)))
    with staged(tmp_path, small_topology(brokers=1)) as stage:
        serving.await_brokers_known(stage.cluster, own=own)
    assert len(answers) - len(list(given)) == asked
