"""Facts about nights that are turned to code which few schedules reach: a simulated comparison, and the tables."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_kmigrate.campaigns.drawing import drawn
from pytest_kmigrate.campaigns.knowledge import known_from
from pytest_kmigrate.campaigns.reaching import Place, Reached, new_to, reached_from
from pytest_kmigrate.campaigns.steering import Known
from pytest_kmigrate.faults.schedules.schedule import Schedule, data_of
from pytest_kmigrate.faults.schedules.space import Cell, Space, Way
from pytest_kmigrate.faults.schedules.space_file import space_of
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.running.carrying_out import walkable
from tests.unit.campaigns.cells import cells_of

KIP = walkable("kip-866")
OF_KIP = space_of(KIP)
WAY = Way(("HYBRID",), 40, ("HYBRID",), "HYBRID")
SPACE = Space(
    "kip-866",
    OF_KIP.topologies,
    (WAY,),
    nodes=OF_KIP.nodes,
    offered=frozenset({Capability.START, Capability.KILL, Capability.PAUSE}),
)
"""Few effects, so that a night has time for more than their pairs."""
COMMON = 500
ONE, OTHER = Cell("kill", "HYBRID", "a"), Cell("pause", "HYBRID", "b")


def _places(*numbers: int) -> frozenset[Place]:
    return frozenset(("org.acme.A", "1f", number) for number in numbers)


def test_a_cell_whose_runs_meet_rare_code_is_drawn_more_often() -> None:
    """What all runs execute is nothing; each further visit that meets nothing new takes some of it away."""
    common = [Reached(frozenset({OTHER}), _places(1, 2))] * 3
    lucky = Reached(frozenset({ONE}), _places(1, 2, 3, 4, 5))
    assert new_to([*common, lucky])[OTHER] == 1
    once = new_to([*common, lucky])[ONE]
    again = new_to([*common, lucky, *[Reached(frozenset({ONE}), _places(1, 2))] * 4])[ONE]
    assert once > again > 1
    many = Reached(frozenset({ONE}), _places(*range(5000)))
    assert new_to([*common, many])[ONE] == 8


def test_cells_of_one_run_share_what_it_met() -> None:
    """Nothing shows which of them led there."""
    both = Reached(frozenset({ONE, OTHER}), _places(*range(6)))
    factors = new_to([both])
    assert factors[ONE] == factors[OTHER] == new_to([Reached(frozenset({ONE}), _places(*range(3)))])[ONE]


def _executed(schedule: Schedule) -> Iterator[Place]:
    """A Kafka in which every schedule runs the same code, and some cells more, by trigger and neighbours.

    A cell with deep code has 4000 places; which twelve of them a run meets hangs on all else in the line.
    """
    line = data_of(schedule)
    yield from _places(*range(COMMON))
    for cell in set(cells_of(line["happenings"])):
        name = f"{cell.effect} {cell.aim}"
        if _number(name) % 8 == 0:
            for each in range(12):
                yield ("org.acme.Deep", name, _number(f"{name} {each} {line['happenings']}") % 4000)


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big")


def _found(*, is_steered: bool) -> tuple[float, float]:
    """How many new places a schedule of three nights of two hours meets, and in how many seconds."""
    runs: list[Reached] = []
    known: dict[Cell, Known] = {}
    seconds = 0.0
    for seed in range(1, 4):
        factors = new_to(runs) if is_steered else {}
        night = drawn(SPACE, KIP, seed=seed, hours=2, known=known, new_to=factors)
        seconds += night.seconds
        for each in night.schedules:
            cells = frozenset(cells_of(data_of(each)["happenings"]))
            runs.append(Reached(cells, frozenset(_executed(each))))
            for cell in cells:
                n = known.get(cell, Known()).begun + 1
                known[cell] = Known(n, n, 0, n, 60.0)
    return (len({place for run in runs for place in run.places}) - COMMON) / len(runs), seconds


@pytest.mark.slow
def test_nights_that_are_turned_to_rare_code_reach_more_in_the_same_time() -> None:
    """A simulated Kafka: code that only some cells reach, and never all of it at once."""
    steered, took_s = _found(is_steered=True)
    blind, blind_s = _found(is_steered=False)
    assert took_s == pytest.approx(blind_s, rel=0.02)
    assert (steered, blind) == (pytest.approx(5.9, abs=0.05), pytest.approx(4.9, abs=0.05)), "as the docs have it"


def _written(tables: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (tables / name / "batch=1").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), tables / name / "batch=1" / "part.parquet")


def test_runs_of_schedules_are_read_from_the_tables(tmp_path: Path) -> None:
    """Of the document alone; a happening that did not begin visited nothing."""
    _written(tmp_path, "schedules", [{"folder": "r1", "document": "kip-866"}, {"folder": "r2", "document": "kip-500"}])
    happening = {"effect": "kill", "state": "HYBRID", "aim": "a", "is_begun": True}
    late = {**happening, "aim": "b", "is_begun": False}
    _written(tmp_path, "happenings", [{"folder": f, **h} for f in ("r1", "r2") for h in (happening, late)])
    executed = {"class_name": "org.acme.A", "class_id": "1f", "executed": [1, 2]}
    _written(tmp_path, "executions", [{"folder": f, **executed} for f in ("r1", "r2", "a test")])
    assert reached_from(tmp_path, "kip-866") == [Reached(frozenset({ONE}), _places(1, 2))]


def test_nights_without_executed_code_turn_no_night(tmp_path: Path) -> None:
    """Most nights are such: the option costs something."""
    assert reached_from(tmp_path, "kip-866") == []


def test_another_table_of_that_name_is_wrong_use(tmp_path: Path) -> None:
    """In one sentence, with its folder and what was expected."""
    _written(tmp_path, "executions", [{"folder": "r1"}])
    with pytest.raises(WrongUseError, match=r"executions and its columns folder, class_name, .* run it again"):
        reached_from(tmp_path, "kip-866")


@pytest.mark.parametrize("executed", [None, ["x"], [-1]])
def test_what_no_analysis_writes_is_wrong_use(tmp_path: Path, executed: object) -> None:
    """By table and column, and no stack trace."""
    _written(tmp_path, "executions", [{"folder": "r1", "class_name": "A", "class_id": "1f", "executed": executed}])
    _written(tmp_path, "happenings", [{"folder": "r1", "effect": "kill", "state": "", "aim": "a", "is_begun": True}])
    _written(tmp_path, "schedules", [{"folder": "r1", "document": "kip-866"}])
    with pytest.raises(WrongUseError, match="executions: executed: expected a list of whole numbers, got "):
        reached_from(tmp_path, "kip-866")


ROW: dict[str, Any] = {
    "profile": "kip-866",
    "effect": "kill",
    "state": "HYBRID",
    "aim": "a",
    "begun": 3,
    "witnessed": 3,
    "violating": 1,
    "answered": 3,
    "median_s": 50.0,
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"median_s": float("nan")}, "median_s: expected a number of at least 0, or none, got nan"),
        ({"median_s": -1.0}, "median_s: expected a number of at least 0, or none, got -1"),
        ({"begun": "3"}, "begun: expected a whole number from 0 on, or none, got '3'"),
        ({"witnessed": 2.5}, "witnessed: expected a whole number from 0 on"),
        ({"answered": -1}, "answered: expected a whole number from 0 on, or none, got -1"),
        ({"violating": 9}, "violating: expected at most as many as answered .3., got 9"),
        ({"aim": b"x"}, "aim: expected text or none, got b'x'"),
        ({"profile": None}, "profile: expected text, got None"),
    ],
    ids=str,
)
def test_a_cell_that_no_analysis_writes_is_wrong_use(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    """It would be steered by: a number that is none has no weight, and more violations than answers no interval."""
    _written(tmp_path, "chaos_cells", [{**ROW, **changes}])
    with pytest.raises(WrongUseError, match=f"chaos_cells: {expected}.*: run kmigrate analyze again"):
        known_from(tmp_path, "kip-866")


def test_cells_without_counts_are_read(tmp_path: Path) -> None:
    """As of a night whose runs gave no answer."""
    _written(tmp_path, "chaos_cells", [{**ROW, "median_s": None, "violating": None}, {**ROW, "aim": "b"}])
    known, _ = known_from(tmp_path, "kip-866")
    assert [(each.violating, each.median_s) for each in known.values()] == [(0, None), (1, 50.0)]
