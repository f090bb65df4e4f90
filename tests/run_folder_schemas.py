"""Writes the JSON Schemas of the run folder from the dataclasses: ``python -m tests.run_folder_schemas``.

They document the format by its number. A release writes all that they type. A reader of the number also takes folders
that lack keys which came later, so no key of an event's data is required.
"""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict, Violation
from pytest_kmigrate.recording.run_folder import SCHEMA
from tests.unit.typical_events import event_classes

FOLDER = Path(__file__).parent.parent / "docs" / "reference" / f"run-folder-{SCHEMA}"
Schema = dict[str, Any]
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_NOT_STORED = {Verdict: {"every"}, About: {"observed", "awaited"}, Violation: {"awaited"}}
"""Fields that serve judging alone."""
_AS_NAMES = (Outcome, Kind)
"""Enumerations that are stored by the names of their members."""


def schemas() -> Mapping[str, Schema]:
    """The schemas of ``run.json`` and of a line of ``history.jsonl`` and ``verdicts.jsonl``, by their files."""
    header = _of_class(RunHeader)
    header["properties"] = {"schema": {"const": SCHEMA}, **header["properties"]}
    header["required"] = ["schema", "run_id", "test_id", "seed", "kafka", "topology"]
    verdict = _of_class(Verdict)
    verdict["properties"]["requirements"] = _of(Sequence[str])
    verdict["required"] = ["check", "outcome", "kind", "summary", "violations", "count", "requirements"]
    return {
        "run.schema.json": _titled("run.json: the header of a run", header),
        "event.schema.json": _titled("history.jsonl: one event a line", _event()),
        "verdict.schema.json": _titled("verdicts.jsonl: one verdict a line", verdict),
    }


def _titled(title: str, schema: Schema) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def _event() -> Schema:
    by_kind = groupby(sorted(event_classes(), key=lambda each: each.event_kind), key=lambda each: each.event_kind)
    return {
        "type": "object",
        "properties": {
            "seq": {"type": "integer", "minimum": 0},
            "at_ns": {"type": "integer"},
            "kind": {"enum": sorted(EventKind)},
            "node": {"type": ["string", "null"]},
            "data": {"type": "object"},
        },
        "required": ["seq", "at_ns", "kind", "node", "data"],
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}},
                "then": {"properties": {"data": _any_of(map(_of_class, classes))}},
            }
            for kind, classes in by_kind
        ],
    }


def _of_class(kind: type[Any]) -> Schema:
    hints = get_type_hints(kind)
    stored = [each.name for each in fields(kind) if each.name not in _NOT_STORED.get(kind, ())]
    return {"type": "object", "properties": {name: _of(hints[name]) for name in stored}}


def _of(hint: Any) -> Schema:  # noqa: PLR0911  # one line for each form of a type
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return _any_of(map(_of, arguments))
    if origin is Mapping or origin is dict:
        return {"type": "object", "additionalProperties": _of(arguments[1])}
    if origin is tuple and Ellipsis not in arguments:
        return {"type": "array", "prefixItems": [_of(each) for each in arguments], "minItems": len(arguments)}
    if origin in (Sequence, tuple):
        return {"type": "array", "items": _of(arguments[0])}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [each.name if hint in _AS_NAMES else each.value for each in hint]}
    return _of_class(hint) if hasattr(hint, "__dataclass_fields__") else {}


def _any_of(choices: Any) -> Schema:
    listed = list(choices)
    found = [each for at, each in enumerate(listed) if each not in listed[:at]]
    if {} in found:
        return {}
    types = [each["type"] for each in found if each.keys() == {"type"}]
    if len(types) == len(found) > 1:
        return {"type": types}
    return found[0] if len(found) == 1 else {"anyOf": found}


def render() -> dict[Path, str]:
    """The files as the code has them now."""
    return {FOLDER / name: f"{json.dumps(schema, indent=1)}\n" for name, schema in schemas().items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, content in render().items():
        path.write_text(content, encoding="utf-8")
