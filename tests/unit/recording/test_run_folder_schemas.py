"""The format of run folders is documented by JSON Schemas: recorded runs and every kind of event keep to them."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_kmigrate.model.event import EventData
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.verdicts import stored_verdicts
from tests.run_folder_schemas import render, schemas
from tests.unit.typical_events import event_classes, typical_of

RECORDED = sorted((Path(__file__).parent / "recorded").iterdir())
"""Parts of two runs of Kafka 3.9.1, as a release of format 1 left them: they are never written anew."""


@cache
def validator(name: str) -> Draft202012Validator:
    """Of the schema of this name."""
    Draft202012Validator.check_schema(schemas()[f"{name}.schema.json"])
    return Draft202012Validator(schemas()[f"{name}.schema.json"])


def mistakes(name: str, row: Any) -> list[str]:
    """What a schema finds wrong."""
    return [each.message for each in validator(name).iter_errors(row)]


def rows(file: Path) -> Iterator[Any]:
    """The lines of a file."""
    yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def test_the_schemas_are_those_of_the_code() -> None:
    """`make docs` writes them."""
    for path, content in render().items():
        assert path.read_text(encoding="utf-8") == content, path


@pytest.mark.parametrize("run", RECORDED, ids=lambda each: each.name)
def test_recorded_runs_keep_to_them(run: Path) -> None:
    """Header, events and verdicts."""
    assert mistakes("run", json.loads((run / "run.json").read_text())) == []
    assert [each for row in rows(run / "history.jsonl") for each in mistakes("event", row)] == []
    assert [each for row in rows(run / "verdicts.jsonl") for each in mistakes("verdict", row)] == []


@pytest.mark.parametrize("run", RECORDED, ids=lambda each: each.name)
def test_recorded_runs_are_read(run: Path) -> None:
    """By this release, as it has the same format."""
    history = read_history(RunFolder(run))
    assert history.header.kafka == "3.9.1"
    assert len(history.events) == len((run / "history.jsonl").read_text().splitlines())
    assert len(stored_verdicts(RunFolder(run))) == len((run / "verdicts.jsonl").read_text().splitlines())


@pytest.mark.parametrize("kind", [*event_classes()], ids=lambda each: each.__name__)
def test_every_kind_of_event_keeps_to_its_schema(kind: type[EventData]) -> None:
    """As it is written."""
    event = typical_of(kind).event(3, 5, "broker-0")
    row = {"seq": event.seq, "at_ns": event.at_ns, "kind": event.kind, "node": event.node, "data": dict(event.data)}
    assert mistakes("event", json.loads(json.dumps(row))) == []


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("run", {"schema": 2}),
        ("run", {"seed": "1"}),
        ("event", {"kind": "node-started", "data": {"pid": "one"}}),
        ("event", {"kind": "unheard-of"}),
        ("event", {"seq": -1}),
        ("verdict", {"outcome": "GREEN"}),
        ("verdict", {"violations": [{"expected": 1}]}),
    ],
)
def test_what_is_of_no_such_format_is_seen(name: str, damage: dict[str, Any]) -> None:
    """A number, a type or a word that the format does not have."""
    files = {"run": "run.json", "event": "history.jsonl", "verdict": "verdicts.jsonl"}
    text = (RECORDED[0] / files[name]).read_text(encoding="utf-8")
    row = json.loads(text if name == "run" else text.splitlines()[0])
    assert mistakes(name, row) == []
    assert mistakes(name, {**deepcopy(row), **damage}) != []
    del row[next(iter(validator(name).schema["required"]))]
    assert mistakes(name, row) != []
