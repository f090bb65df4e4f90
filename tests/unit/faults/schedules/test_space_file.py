"""Facts about the file in which a document declares what may happen to its clusters."""

from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import place_of
from pytest_kmigrate.documents import documents
from pytest_kmigrate.faults.schedules.space_file import FILE, read_space, space_of
from pytest_kmigrate.model.errors import TopologyError, WrongUseError
from pytest_kmigrate.running.carrying_out import walkable

KIP = walkable("kip-866")


@pytest.mark.parametrize("profile", [each.id for each in documents() if place_of(each.id).has(FILE)])
def test_every_rule_of_a_document_takes_some_cell_away(profile: str) -> None:
    """A rule that covers no cell is a slip, and each has a sentence."""
    space = space_of(walkable(profile))
    for rule in space.impossible:
        assert rule.because
        is_of_points = rule.effects == ("hold",)  # such cells are not drawn; lines may name them
        covers = any(rule.covers(cell) for cell in space.answers) or rule.because in space.left_out().values()
        assert covers or is_of_points, rule
    assert {cell.state for cell in space.cells} == set(space.states)


def test_all_mistakes_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    """By key, with what was expected."""
    file = tmp_path / FILE
    file.write_text(
        'topologies = ["zk1-broker3-controller3"]\nstates = ["HYBRID", "COPYING"]\nnodes = ["active-controller"]\n'
        '[[ways]]\nstarts_at = "COPYING"\nwalk = ["NOWHERE"]\nseconds = 10\n'
        "[values.cut]\nspeed = [1]\n"
        '[[cannot]]\neffects = ["kil"]\naims = ["nowhere"]\nbecause = "x"\n'
    )
    with pytest.raises(TopologyError) as error:
        read_space(file, KIP)
    assert "states: expected each once, in the order of the document; got HYBRID, COPYING" in str(error.value)
    for key in ("ways[0].walk", "ways[0].starts_at", "values.cut", "cannot[0].effects", "cannot[0].aims"):
        assert f"{key}: expected one of" in str(error.value)
    file.write_text('topologies = []\n[[ways]]\nwalk = ["HYBRID"]\nseconds = 0\nhours = 1\n')
    with pytest.raises(TopologyError) as error:
        read_space(file, KIP)
    assert [key for key in ("topologies", "seconds", "hours") if key not in str(error.value)] == []


def test_a_document_that_walks_needs_states_and_one_with_acts_needs_its_own(tmp_path: Path) -> None:
    """Without states its faults would have no place to begin."""
    file = tmp_path / FILE
    file.write_text('topologies = ["zk1-broker1"]\nacts = ["togle"]\n[[ways]]\nseconds = 10\n')
    with pytest.raises(TopologyError, match=r"states: expected some of .*HYBRID"):
        read_space(file, KIP)
    with pytest.raises(TopologyError, match=r"acts: expected one of toggle, .*; got 'togle'"):
        read_space(file, walkable("kip-125"))


def test_a_document_without_the_file_is_one_sentence() -> None:
    """Its name, and what is missing."""
    with pytest.raises(WrongUseError, match=f"kip-866-draft: expected a document with {FILE}"):
        space_of(walkable("kip-866-draft"))
