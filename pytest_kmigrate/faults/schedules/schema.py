"""The JSON Schema of a line, for editors and for programs that write schedules; rules that span keys are not in it."""

import enum
from dataclasses import MISSING, Field
from typing import Any, get_args

from pytest_kmigrate.faults.schedules.reading import (
    KEYS,
    LARGEST_ID,
    LARGEST_SEED,
    LONGEST_S,
    MOST_CHANGES_PER_S,
    MOST_HAPPENINGS,
    MOST_OPERATIONS,
)
from pytest_kmigrate.faults.schedules.schedule import SCHEMA, Begin, Moment, Release
from pytest_kmigrate.faults.schedules.spelling import keys_of, kinds, range_of
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.topology import Role

_TEXT: dict[str, Any] = {"type": "string"}


def json_schema() -> dict[str, Any]:
    """The schema of one line of a night."""
    happening = {
        "id": {"type": "integer", "minimum": 0, "maximum": LARGEST_ID},
        "fault": {"oneOf": [_fault(name, kind) for name, kind in kinds().items()]},
        "begin": _table(
            state={"type": ["string", "null"]},
            after_operations=_number("integer", MOST_OPERATIONS, Begin.after_operations),
            of={"type": ["integer", "null"], "minimum": 0, "maximum": LARGEST_ID},
            when={"enum": list(get_args(Moment)), "default": Begin.when},
            at={"type": ["string", "null"]},
        ),
        "release": _table(
            operations=_number("integer", MOST_OPERATIONS, Release.operations),
            at_most_s={"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_S, "default": Release.at_most_s},
            across={"type": "boolean", "default": Release.across},
        ),
    }
    values = {
        "schema": {"const": SCHEMA},
        "document": _TEXT,
        "topology": _TEXT,
        "starts_at": {"type": ["string", "null"]},
        "walk": {"type": "array", "items": _TEXT},
        "changes_per_s": {"type": "number", "minimum": 0, "maximum": MOST_CHANGES_PER_S},
        "seed": {"type": "integer", "minimum": 0, "maximum": LARGEST_SEED},
        "happenings": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_HAPPENINGS,
            "items": {
                "oneOf": [
                    {**_table(**happening), "required": ["id", "fault"]},
                    {**_table(id=happening["id"], act=_TEXT), "required": ["id", "act"]},
                ]
            },
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A schedule of pytest-kmigrate",
        **_table(**{key: values[key] for key in KEYS}),
        "required": ["schema", "document", "topology", "happenings"],
    }


def _fault(name: str, kind: type[Any]) -> dict[str, Any]:
    keys = dict(keys_of(kind))
    needed = [each.name for each in keys if each.default is MISSING]
    table = _table(kind={"const": name}, **{each.name: _of_field(each, hint) for each, hint in keys.items()})
    return {**table, "required": ["kind", *needed]}


def _of_field(of: Field[Any], hint: Any) -> dict[str, Any]:
    least, most = range_of(of)
    return {**_value(hint), **({"minimum": least, "maximum": most} if hint is int else {})}


def _value(hint: Any) -> dict[str, Any]:
    if hint in (tuple[Target, ...], tuple[Role, ...]):
        return {"type": "array", "minItems": 1, "items": _value(get_args(hint)[0])}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [str(each.value) for each in hint]}
    return {"type": {bool: "boolean", int: "integer"}.get(hint, "string")}


def _number(kind: str, most: float, default: float) -> dict[str, Any]:
    return {"type": kind, "minimum": 0, "maximum": most, "default": default}


def _table(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}
