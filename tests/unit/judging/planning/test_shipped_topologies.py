"""The topology of a run of a build is the one that this release ships, with the build where it is under test."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.judging.planning.plan import plan
from pytest_kmigrate.judging.planning.planned import another_topology
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.topology.loading import find, load

OLDER = "kraft-broker3-controller3-from-3.6.2"
"""All nodes begin with 3.6.2, whatever is under test."""


def header(topology: str, build: Path, version: str) -> RunHeader:
    """A run of a build on this topology, as its header has it."""
    read = load(find(topology), kafka=str(build))
    named = {each.kafka for each in read.nodes} | {read.kafka}
    digests = {name: "a" * 64 if name == str(build) else "b" * 64 for name in named}
    extra = {"topology_digest": read.digest(), "distribution_digests": digests}
    return RunHeader("run", "t", 1, f"{version}+acme.aaaaaaaa", read.name, profile="kip-778", extra=extra)


@pytest.mark.parametrize("version", ["3.9.1", "3.6.2", "3.9.2-SNAPSHOT", "3.4.2-SNAPSHOT"])
@pytest.mark.parametrize("topology", [OLDER, "zk1-broker3-controller3"])
def test_a_build_is_under_test_where_no_node_chose_another(tmp_path: Path, topology: str, version: str) -> None:
    """Also if the version of the build is that which the others chose."""
    libs = tmp_path / "libs"
    libs.mkdir()
    (libs / f"kafka-clients-{version}.jar").touch()
    test = replace(next(iter(plan("kip-778").tests.values())), topology=topology)
    ran = header(topology, tmp_path, version)
    assert list(another_topology(ran, test)) == []
    changed = replace(ran, extra={**ran.extra, "topology_digest": "0"})
    assert [str(each) for each in another_topology(changed, test)] != []
