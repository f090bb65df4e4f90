"""Facts about drawn nights: what they visit, that they are the same everywhere, and where their time goes."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from pytest_kmigrate.campaigns.drawing import Drawn, drawn
from pytest_kmigrate.campaigns.steering import Known, gain, width
from pytest_kmigrate.faults.schedules.contradictions import contradictions
from pytest_kmigrate.faults.schedules.reading import schedule_of
from pytest_kmigrate.faults.schedules.schedule import data_of, line_of
from pytest_kmigrate.faults.schedules.space import Cell, Space, Way
from pytest_kmigrate.faults.schedules.space_file import space_of
from pytest_kmigrate.faults.schedules.spelling import Mistake, kinds
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.running.carrying_out import walkable
from tests.unit.campaigns.cells import cells_of

KIP = walkable("kip-866")
SPACE = space_of(KIP)


AN_HOUR_HAS = 28
"""About so many ordered pairs of effects: a new fault makes the nights of these tests longer."""
LONG = len(kinds()) ** 2 / AN_HOUR_HAS
"""Hours in which everything is swept, each pair is tried, and some draws follow, two runs side by side."""

SMALL = Space("kip-866", SPACE.topologies, (Way(("HYBRID",), 40, ("HYBRID",), "HYBRID"),), nodes=SPACE.nodes)


@cache
def whole_night() -> Drawn:
    """A night with draws by gain, two runs side by side."""
    return drawn(SPACE, KIP, seed=7, hours=LONG, side_by_side=2)


def _small(seed: int) -> Drawn:
    return drawn(SMALL, KIP, seed=seed, hours=4)


def _digest(night: Drawn) -> str:
    return hashlib.sha256("\n".join(map(line_of, night.schedules)).encode()).hexdigest()


def test_every_effect_is_in_the_space_or_left_out_with_a_reason() -> None:
    """A new fault enters by its fields; one that no file gives values for is named."""
    assert {each.effect for each in SPACE.answers} | SPACE.left_out().keys() == kinds().keys()
    assert all(SPACE.left_out().values())
    assert len(SPACE.cells) > 400
    assert sum(why is not None for why in SPACE.answers.values()) > 100


def test_what_a_provider_does_not_offer_is_no_cell_of_it() -> None:
    """With the capability that is lacking."""
    less = space_of(KIP, frozenset(Capability) - {Capability.LINKS})
    refused = [why for cell, why in less.answers.items() if cell.effect == "slow"]
    assert set(refused) == {"the provider does not offer links"}
    assert any(cell.effect == "cut" for cell in less.cells)
    assert less.digest != SPACE.digest


@pytest.mark.slow
def test_the_sweep_visits_every_cell_in_few_walks() -> None:
    """Each walk visits one in each state of its way: fewer walks than half of the cells."""
    night = whole_night()
    swept = night.schedules[: night.swept]
    visited = Counter(cell for each in swept for cell in cells_of(data_of(each)["happenings"]))
    assert visited.keys() == set(SPACE.cells)
    assert max(visited.values()) == 1
    assert night.swept < len(SPACE.cells) / 2


@pytest.mark.slow
def test_every_ordered_pair_of_effects_comes_after_the_sweep() -> None:
    """In each relation, and in each state that both have."""
    night = whole_night()
    paired = night.schedules[night.swept : night.swept + night.paired]
    effects = {cell.effect for cell in SPACE.cells}
    found = {tuple(each["fault"]["kind"] for each in data_of(line)["happenings"]) for line in paired}
    assert found == {(one, other) for one in effects for other in effects}
    assert {line.happenings[1].begin.when for line in paired} == {"witnessed", "healed"}


@pytest.mark.slow
def test_no_drawn_line_contradicts_itself_or_the_language() -> None:
    """Each is read back as it was; none is refused before the start."""
    for each in whole_night().schedules:
        mistakes: list[Mistake] = []
        again = schedule_of(line_of(each), cache(walkable), mistakes)
        assert mistakes == []
        assert again is not None
        assert again.digest == each.digest
        assert not list(contradictions(each, KIP))


@pytest.mark.slow
def test_a_night_is_the_same_under_every_hash_seed() -> None:
    """And another one with another seed."""
    program = (
        "import hashlib\nfrom tests.unit.campaigns.test_drawing import _digest, _small\nprint(_digest(_small(7)))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": "4711"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    }
    assert said == {_digest(_small(7))}
    assert _digest(_small(8)) != _digest(_small(7))


def test_a_night_keeps_to_its_time() -> None:
    """A short one has a part of the sweep, a long one goes on by gain."""
    short = drawn(SPACE, KIP, seed=7, hours=1)
    assert short.seconds <= 3600
    assert short.paired == 0
    assert list(map(line_of, short.schedules)) == list(map(line_of, whole_night().schedules[: len(short.schedules)]))
    assert whole_night().seconds <= LONG * 3600 * 2
    assert len(whole_night().schedules) > whole_night().swept + whole_night().paired


@pytest.mark.slow
def test_what_was_witnessed_before_is_not_swept_again() -> None:
    """A cell that was begun and never witnessed is."""
    known = {cell: Known(begun=1, witnessed=int(cell.state != "HYBRID")) for cell in SPACE.cells}
    night = drawn(SPACE, KIP, seed=7, hours=LONG / 5, known=known)
    swept = [cell for each in night.schedules[: night.swept] for cell in cells_of(data_of(each)["happenings"])]
    assert set(swept) == {cell for cell in SPACE.cells if cell.state == "HYBRID"}


def test_gain_falls_with_runs_and_with_seconds_and_rises_with_doubt() -> None:
    """Expected narrowing of the interval a second; what is never seen to bite is worth less, and something."""
    assert width(0, 0) == 1
    fresh, seen = gain(Known(), 0, 60), gain(Known(10, 10, 0, 10, 60.0), 0, 60)
    assert fresh > seen > gain(Known(10, 10, 0, 10, 120.0), 0, 60) > 0
    assert gain(Known(10, 10, 5, 10, 60.0), 0, 60) > seen
    assert 0 < gain(Known(begun=10), 0, 60) < fresh
    assert gain(Known(), 5, 60) == gain(Known(5, 5, 0, 5), 0, 60)


@pytest.mark.slow
def test_draws_by_gain_reach_the_cells_that_are_known_least() -> None:
    """Of a small space in which half was looked at ten times, the other half gets most of the night."""
    known = {cell: Known(10, 10, 0, 10, 60.0) for cell in SMALL.cells if cell.effect == "kill"}
    night = drawn(SMALL, KIP, seed=1, hours=LONG / 2, known=known)
    by_gain = night.schedules[night.swept + night.paired :]
    visits = Counter(cell for each in by_gain for cell in cells_of(data_of(each)["happenings"]))
    rarely = [visits[cell] for cell in known]
    often = [visits[cell] for cell in SMALL.cells if cell not in known]
    assert sum(often) / len(often) > 2 * sum(rarely) / len(rarely)


@pytest.mark.slow
def test_other_knowledge_turns_a_night_to_a_cell() -> None:
    """Such as code of Kafka that only its schedules reached."""
    wanted = Cell("pause", "HYBRID", "zookeeper-leader")
    known = {cell: Known(5, 5, 0, 5, 60.0) for cell in SMALL.cells}

    def visits(factor: float) -> int:
        night = drawn(SMALL, KIP, seed=3, hours=LONG / 2, known=known, new_to={wanted: factor})
        return sum(wanted in set(cells_of(data_of(each)["happenings"])) for each in night.schedules)

    assert visits(50) > visits(1)


def test_cells_of_a_line_name_what_it_is_aimed_at() -> None:
    """A target, the two ends of links, the groups of a partition."""
    line = json.loads(
        '[{"fault":{"kind":"kill","target":"a"},"begin":{"state":"X"}},'
        '{"fault":{"kind":"cut","source":"a","destination":"b"}},{"fault":{"kind":"partition","groups":["a","b"]}}]'
    )
    assert list(cells_of(line)) == [Cell("kill", "X", "a"), Cell("cut", "", "a->b"), Cell("partition", "", "a | b")]
