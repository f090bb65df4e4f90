"""Files of a cluster in, the text of a topology file out, checked by the rules of topology files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology.importing.draft import Draft, Taken, Wish
from pytest_kmigrate.topology.importing.drafting import drafted
from pytest_kmigrate.topology.importing.found import Assumed, Left
from pytest_kmigrate.topology.importing.kinds import found_in
from pytest_kmigrate.topology.importing.sources import sources
from pytest_kmigrate.topology.importing.toml_text import rendered
from pytest_kmigrate.topology.loading import mistakes_of
from pytest_kmigrate.topology.mistakes import KeyPath, key_text

_PROPERTIES = "properties"


@dataclass(frozen=True)
class Imported:
    """A topology file, and what became of each setting."""

    kind: str
    text: str
    taken: tuple[Taken, ...]
    left: tuple[Left, ...]
    assumed: tuple[Assumed, ...]


def imported(paths: Iterable[Path], wish: Wish, kind: str | None = None) -> Imported:
    """The topology that these files describe; TopologyError when they do not describe one cluster."""
    draft = drafted(found_in(sources(paths), kind), wish)
    _keep_the_rules(draft)
    return Imported(
        draft.found.kind,
        rendered(draft),
        tuple(dict.fromkeys(draft.taken)),
        tuple(dict.fromkeys(draft.notes.left)),
        tuple(draft.notes.assumed),
    )


def _keep_the_rules(draft: Draft) -> None:
    """Leave out properties that the rules of topology files refuse; TopologyError for any other mistake."""
    while mistakes := mistakes_of(draft.document):
        of_properties = [each for each in mistakes if _property(each.path)]
        if not of_properties:
            file = draft.found.nodes[0].origin.file
            raise TopologyError(file, [f"{key_text(each.path, draft.document)}: {each.text}" for each in mistakes])
        for each in of_properties:
            _remove(draft, each.path, each.text)


def _property(path: KeyPath) -> str | None:
    """The name of the property that a path leads to."""
    return str(path[-1]) if len(path) > 2 and path[-2] == _PROPERTIES else None


def _remove(draft: Draft, path: KeyPath, why: str) -> None:
    here: Any = draft.document
    for step in path[:-1]:
        here = here[step]
    if path[-1] not in here:
        return
    del here[path[-1]]
    name = str(path[-1])
    for each in [each for each in draft.taken if each.key.endswith(_PROPERTIES) and _is_of(each.origin.key, name)]:
        draft.taken.remove(each)
        draft.notes.leave(each.origin, why)


def _is_of(key: str, name: str) -> bool:
    """Whether a key of a file is this property, in whatever way its kind spells it."""
    return key.endswith(name) or key.upper().endswith(name.upper().replace(".", "_"))
