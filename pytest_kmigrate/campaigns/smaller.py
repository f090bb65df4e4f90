"""Smaller clusters that a schedule could run on."""

from collections.abc import Sequence
from dataclasses import replace

from pytest_kmigrate.faults.schedules.schedule import Schedule
from pytest_kmigrate.faults.schedules.space_file import space_of
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.running.carrying_out import walkable


def fewer_nodes(schedule: Schedule) -> Sequence[Schedule]:
    """The schedule on those topologies of its document's space that have fewer nodes than its own, smallest first."""
    try:
        there = space_of(walkable(schedule.document)).topologies
    except WrongUseError:  # its document declares no space
        return ()
    own = next((len(each.nodes) for each in there if each.name == schedule.topology), None)
    smaller = sorted((each for each in there if own and len(each.nodes) < own), key=lambda each: len(each.nodes))
    return [replace(schedule, topology=each.name) for each in smaller]
