"""A topology on its way into a file: its document, and what became of each setting."""

from dataclasses import dataclass, field
from typing import Any

from pytest_kmigrate.topology.importing.found import Found, Notes, Origin, Setting


@dataclass(frozen=True)
class Taken:
    """A setting that is taken over, and the key of the topology it becomes."""

    origin: Origin
    key: str


@dataclass(frozen=True)
class Wish:
    """What the user wants beside what the files have; None: as the files have it, or as it is assumed."""

    name: str
    kafka: str | None = None
    controllers: int | None = None


@dataclass
class Draft:
    """The document as TOML holds it, and the notes of those who wrote it."""

    found: Found
    wish: Wish
    document: dict[str, Any] = field(default_factory=dict)
    taken: list[Taken] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)

    def table(self, *path: str) -> dict[str, Any]:
        """The table at this path, made where it lacks."""
        here = self.document
        for name in path:
            here = here.setdefault(name, {})
        return here

    def take(self, key: str, *settings: Setting | Origin | None) -> None:
        """Note where a key comes from."""
        for each in settings:
            if each is not None:
                self.taken.append(Taken(each.origin if isinstance(each, Setting) else each, key))

    def node(self, name: str) -> dict[str, Any]:
        """The table of one node, made where it lacks."""
        nodes: list[dict[str, Any]] = self.document.setdefault("node", [])
        for each in nodes:
            if each["name"] == name:
                return each
        nodes.append({"name": name})
        return nodes[-1]
