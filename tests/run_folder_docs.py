"""Writes the tables of docs/run-folder.md from the dataclasses they describe: ``python -m tests.run_folder_docs``."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields
from itertools import groupby, pairwise
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pytest_kmigrate.model.event import EventData
from pytest_kmigrate.model.operations import COLUMNS, OPTIONAL_COLUMNS, Operations
from tests.unit.typical_events import event_classes

DOCUMENT = Path(__file__).parent.parent / "docs" / "run-folder.md"
_TYPES = {bool: "truth value", int: "whole number", float: "number", object: "any", Any: "any"}
_CONTAINERS = {Mapping: "object", Sequence: "list", Literal: "text"}


def render() -> str:
    """The page with its generated sections as the code has them now."""
    return filled(DOCUMENT, {"events": _events(), "columns": _columns()})


def filled(page: Path, sections: Mapping[str, str]) -> str:
    """A page of the documentation with the text of each generated section replaced."""
    document = page.read_text()
    for name, text in sections.items():
        section = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        assert section.search(document), f"{page}: expected a section 'generated: {name}'; there is none"
        document = section.sub(lambda found, text=text: f"{found[1]}\n{text}\n{found[2]}", document)
    return document


def field_docs(documented: type) -> dict[str, str]:
    """The docstring below each field of a dataclass; KeyError names the first field that has none."""
    (node,) = ast.parse(inspect.getsource(documented)).body
    assert isinstance(node, ast.ClassDef)
    docs = dict(_field_docs(node.body))
    return {each.name: docs[each.name] for each in fields(documented)}


def _field_docs(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for each, after in pairwise(body):
        if isinstance(each, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            yield ast.unparse(each.target), markdown(str(after.value.value))


def _events() -> str:
    by_file = groupby(event_classes(), key=inspect.getmodule)
    return "\n".join(_area(module, list(classes)) for module, classes in by_file if module is not None)


def _area(module: ModuleType, classes: Sequence[type[EventData]]) -> str:
    return "\n".join([f"### {markdown(module)}\n", *map(_event, classes)])


def _event(data: type[EventData]) -> str:
    heading = f"#### `{data.event_kind}` ({data.__name__})\n\n{markdown(data)}\n"
    docs, hints = field_docs(data), get_type_hints(data)
    rows = [f"| `{each.name}` | {_type_of(each, hints[each.name])} | {docs[each.name]} |" for each in fields(data)]
    table = ["\n| key of `data` | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"] if rows else []
    return "".join([heading, *table])


def _type_of(each: Field[Any], hint: Any) -> str:
    choices = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    named = [_TYPES.get(one) or _CONTAINERS.get(get_origin(one), "text") for one in choices if one is not NoneType]
    if each.default is None:
        return f"{' or '.join(named)}; may be missing"
    return " or ".join([*named, "null"] if NoneType in choices else named)


def _columns() -> str:
    docs = field_docs(Operations)
    types = {**COLUMNS, **{name: f"{kind}, optional" for name, (kind, _) in OPTIONAL_COLUMNS.items()}}
    rows = [f"| `{name}` | {types[name]} | {text} |" for name, text in docs.items()]
    return "| column | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def markdown(documented: object) -> str:
    """A docstring, or that of an object, with code as Markdown has it."""
    text = documented if isinstance(documented, str) else str(inspect.getdoc(documented))
    return text.replace("``", "`")


if __name__ == "__main__":
    DOCUMENT.write_text(render())
