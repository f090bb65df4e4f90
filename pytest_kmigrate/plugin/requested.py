"""The topology of a test when its fixtures are made, also of one that asks for them while it runs."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import UnfitReleaseError, WrongUseError
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.plugin.asking import named_topology, topology_of
from pytest_kmigrate.plugin.collecting import look_late
from pytest_kmigrate.plugin.marks import now_of_ours


def topology_requested(item: pytest.Item) -> Topology:
    """The topology that marks and options name; skips a test that cannot run on it and was not looked at before."""
    now_of_ours(item)
    try:
        topology = topology_of(item)
    except UnfitReleaseError as error:
        pytest.skip(f"NOT_APPLICABLE: {error}")
    look_late(item, topology)
    return topology


def own_topology(item: pytest.Item, given: object) -> Topology:
    """What the fixture ``topology`` returns, which a project may have put in the place of ours.

    WrongUseError for anything but a topology, the path of a file or the name of a shipped one.
    """
    if isinstance(given, str | Path):
        topology = named_topology(item, str(given), "fixture topology")
    elif isinstance(given, Topology):
        topology = given
    else:
        raise WrongUseError(
            "fixture topology: expected a Topology, the path of a topology file or the name of a shipped one; got "
            f'{given!r}: return "mine.toml", or rename the fixture'
        )
    look_late(item, topology)
    return topology
