"""Facts about when a cluster that was started serves."""

from pathlib import Path

import pytest

from pytest_kmigrate.providers import serving
from pytest_kmigrate.providers.bench import small_topology
from tests.unit.fakes import staged

OWN, OWN_TOO, FOREIGN, FOREIGN_TOO = (f"127.{cluster}.250.{node}:9094" for cluster in (2, 1) for node in (2, 3))


@pytest.mark.parametrize(
    ("answers", "own", "asked"),
    [
        ([[FOREIGN, FOREIGN_TOO], [OWN, FOREIGN_TOO], [OWN, OWN_TOO], [OWN, OWN_TOO]], [OWN, OWN_TOO], 4),
        ([[OWN, OWN_TOO], [OWN, OWN_TOO], []], [OWN, OWN_TOO], 2),
        ([[FOREIGN, FOREIGN_TOO], [FOREIGN, FOREIGN_TOO], []], [], 2),
    ],
    ids=["until they registered anew", "at once", "of somebody else's cluster nothing is known"],
)
def test_brokers_are_known_at_addresses_of_their_own_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[list[str]], own: list[str], asked: int
) -> None:
    """A cluster that started from the disks of another one would send its clients to what listens there now.

    Both brokers are asked, each once.
    """
    given = iter(answers)
    monkeypatch.setattr(serving, "brokers_at", lambda _peer: (0, dict(enumerate(next(given)))))
    with staged(tmp_path, small_topology(brokers=2)) as stage:
        serving.await_brokers_known(stage.cluster, own=own)
    assert len(answers) - len(list(given)) == asked
