"""Names of nodes in topology files, beside counts that are wrong themselves."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology.loading import load

FILE = """
name = "x"
kafka = "3.9.1"
[zookeeper]
count = {zookeepers}
[broker]
count = {brokers}
[[node]]
name = "{node}"
[[link]]
from = "{source}"
to = "zookeeper"
latency_ms = 5
"""


def problems(
    tmp_path: Path, zookeepers: str = "1", brokers: str = "3", node: str = "broker-0", source: str = "broker"
) -> set[str]:
    """The keys that a file is refused for."""
    file = tmp_path / "x.toml"
    file.write_text(FILE.format(zookeepers=zookeepers, brokers=brokers, node=node, source=source))
    try:
        load(file)
    except TopologyError as error:
        return {problem.partition(":")[0] for problem in error.problems}
    return set()


@pytest.mark.parametrize("wrong", ["broker-9", "brokr-1"])
def test_a_wrong_count_of_another_role_hides_no_wrong_name(tmp_path: Path, wrong: str) -> None:
    """All mistakes are reported at once: which brokers there are does not depend on how many ZooKeeper servers are."""
    assert problems(tmp_path, zookeepers="2", node=wrong) == {"zookeeper.count", f"node[{wrong}].name"}
    assert problems(tmp_path, zookeepers="2", source=wrong) == {"zookeeper.count", "link[#1].from"}


def test_what_only_follows_from_a_wrong_count_is_not_told(tmp_path: Path) -> None:
    """Nobody knows which brokers are meant, so no name of one is wrong yet, nor whether it dials anybody."""
    assert problems(tmp_path, brokers="0", node="broker-9", source="broker-9") == {"broker.count"}
    assert problems(tmp_path, zookeepers="2", source="zookeeper") == {"zookeeper.count"}
