"""Phases of an upgrade are read from what nodes were given to run."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.documents.kip_778.procedure import phase
from pytest_kmigrate.model.document import ClusterReader
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.loading import load

SHAPE = """
name = "upgraded"
purpose = "From a release to a build of it."
kafka = "{build}"
[broker]
count = 2
kafka = "3.9.1"
[controller]
count = 1
kafka = "3.9.1"
"""


@pytest.mark.parametrize(("rolled", "expected"), [(0, "OLD"), (1, "MIXED"), (2, "MIXED")])
def test_an_upgrade_to_a_build_of_the_same_version_begins_old(tmp_path: Path, rolled: int, expected: str) -> None:
    """Its nodes have the version of the release, before and after."""
    libs = tmp_path / "libs"
    libs.mkdir()
    (libs / "kafka-clients-3.9.1.jar").touch()
    file = tmp_path / "upgraded.toml"
    file.write_text(SHAPE.format(build=tmp_path))
    topology = load(file)
    installed = [*[str(tmp_path)] * rolled, *["3.9.1"] * (3 - rolled)]
    nodes = {
        spec.name: SimpleNamespace(name=spec.name, spec=spec, kafka="3.9.1", installed=each)
        for spec, each in zip(topology.nodes, installed, strict=True)
    }

    def of_role(role: Role) -> list[SimpleNamespace]:
        return [node for node in nodes.values() if node.spec.role is role]

    cluster = SimpleNamespace(topology=topology, nodes=of_role)
    reading = phase(cast("ClusterReader", SimpleNamespace(cluster=cluster)))
    assert reading is not None
    assert reading.value == expected
