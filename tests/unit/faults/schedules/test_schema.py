"""Facts about the JSON Schema of a line: the file in the docs is the code's, and takes what is read."""

import json
from pathlib import Path

import pytest

from pytest_kmigrate.faults.schedules.reading import read_night
from pytest_kmigrate.faults.schedules.schedule import data_of
from pytest_kmigrate.faults.schedules.schema import json_schema
from pytest_kmigrate.faults.schedules.spelling import kinds
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
