"""Facts about the JSON Schema of a line: the file in the docs is the code's, and takes what is read."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_kmigrate.faults.schedules.reading import read_night, schedule_of
from pytest_kmigrate.faults.schedules.schedule import data_of
from pytest_kmigrate.faults.schedules.schema import json_schema
from pytest_kmigrate.faults.schedules.spelling import Mistake, kinds
from pytest_kmigrate.running.carrying_out import walkable

ROOT = Path(__file__).parents[4]


def test_the_file_in_the_docs_is_that_of_the_code() -> None:
    """`make docs` writes it anew."""
    assert json.loads((ROOT / "docs/reference/schedule.schema.json").read_text()) == json_schema()


def test_each_fault_is_in_it_with_its_keys() -> None:
    """An editor completes them."""
    faults = json_schema()["properties"]["happenings"]["items"]["oneOf"][0]["properties"]["fault"]["oneOf"]
    assert [each["properties"]["kind"]["const"] for each in faults] == list(kinds())


@pytest.mark.parametrize("file", sorted(ROOT.glob("suites/*/schedules.jsonl")), ids=lambda path: path.parent.name)
def test_each_shipped_line_has_keys_of_the_schema_only(file: Path) -> None:
    """And each can be read."""
    properties = json_schema()["properties"]
    for schedule in read_night(file, walkable).schedules:
        assert data_of(schedule).keys() <= properties.keys()


_LINE: dict[str, Any] = {
    "schema": 1,
    "document": "kip-866",
    "topology": "zk1-broker3-controller3",
    "starts_at": "HYBRID",
    "walk": ["HYBRID", "ALL_KRAFT"],
    "changes_per_s": 1,
    "seed": 11,
    "happenings": [
        {
            "id": 1,
            "fault": {"kind": "isolate", "target": "random-broker", "from_roles": ["broker"], "from_clients": True},
            "begin": {"state": "HYBRID", "after_operations": 100, "of": None, "when": "witnessed", "at": None},
            "release": {"operations": 600, "at_most_s": 20, "across": False},
        },
        {
            "id": 2,
            "fault": {"kind": "slow", "source": "every-broker", "destination": "every-controller", "latency_ms": 5},
            "begin": {"state": "HYBRID", "of": 1},
        },
    ],
}
_OVER_KEYS = ("an id of its", "the id of another", "a list of PREPARING", "a state on the walk", "or a jitter_ms")
_EDITOR = Draft202012Validator(json_schema())
_VALUES: tuple[Any, ...] = (None, True, 0, -1, 0.5, 99, 100, 101, 601, 10**20, [], {}, [1])


def _places(data: object) -> Iterator[tuple[str | int, ...]]:
    keys = data.keys() if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield (key,)
        yield from ((key, *each) for each in _places(data[key]))  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.parametrize("place", list(_places(_LINE)), ids=lambda place: ".".join(map(str, place)))
def test_what_a_key_may_hold_is_the_same_to_editors_and_to_us(place: tuple[str | int, ...]) -> None:
    """Whatever stands in its place: what the schema refuses is refused here by that key, and the other way round.

    Rules over several keys are not in the schema, so that a mistake of another key is none of it.
    """
    for value in _VALUES:
        line = copy.deepcopy(_LINE)
        inside: Any = line
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = value
        mistakes: list[Mistake] = []
        schedule_of(json.dumps(line), walkable, mistakes)
        key = re.sub(r"\.(\d+)", r"[\1]", ".".join(map(str, place)))
        own = [str(each) for each in mistakes if each.key.startswith(key) or key.startswith(each.key)]
        if not _EDITOR.is_valid(line):
            assert own, f"the schema refuses {value!r} in {key}"
        elif own:
            assert any(rule in own[0] for rule in _OVER_KEYS), f"the schema takes {value!r} in {key}"
