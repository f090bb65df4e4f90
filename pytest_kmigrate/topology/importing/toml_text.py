"""A draft as the text of a topology file, with the origin of each key beside it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_kmigrate.topology.importing.draft import Draft
from pytest_kmigrate.topology.importing.found import Origin
from pytest_kmigrate.topology.values import LONGEST_NAME

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ORDER = ("zookeeper", "broker", "combined", "controller", "node", "security")


def fit_name(text: str) -> str:
    """A text as the name of a topology."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:LONGEST_NAME] or "imported"


def rendered(draft: Draft) -> str:
    """The file. Values of what is not taken over are not in it."""
    document = draft.document
    lines = [f"{key} = {_value(each)}" for key, each in document.items() if not isinstance(each, dict | list)]
    for name in _ORDER:
        for each in document.get(name, []) if name == "node" else [document[name]] if name in document else []:
            lines += ["", *_table(name, each, is_entry=name == "node")]
    assumed = (f"{each.key}: {each.why}" for each in draft.notes.assumed)
    lines += ["", *_comments("Assumed, because no file has it", assumed)]
    left = grouped((each.origin, each.why) for each in draft.notes.left)
    lines += _comments("Not taken over", (f"{setting}: {why}" for setting, why in left))
    return "\n".join(lines).rstrip() + "\n"


def _table(name: str, table: Mapping[str, Any], *, is_entry: bool) -> Iterator[str]:
    yield f"[[{name}]]" if is_entry else f"[{name}]"
    for key, value in table.items():
        if not isinstance(value, dict) or name == "security":
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if isinstance(value, dict) and value and name != "security":
            yield ""
            yield f"[{name}.{_key(key)}]"
            yield from (f"{_key(each)} = {_value(found)}" for each, found in value.items())


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f") if isinstance(value, str) else text


def grouped(rows: Iterable[tuple[Origin, str]]) -> Iterator[tuple[str, str]]:
    """Each setting once with what became of it, however many nodes have it."""
    places: dict[tuple[str, str], dict[Origin, None]] = {}
    for origin, what in rows:
        places.setdefault((origin.key, what), {})[origin] = None
    for (key, what), origins in places.items():
        first, *others = origins
        more = f" and {len(others)} more" if others else ""
        file = Path(first.file).name
        yield (f"{key} ({file}{more})" if key else f"{file}{more}"), what


def _comments(title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"# {title}:"
        yield from (f"#   {_plain(line)}" for line in found)


def _plain(text: str) -> str:
    """A line of a comment, whatever characters a key has."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
