"""YAML whose scalars are texts, each value with its place: Kafka's settings are texts, and a bare 3.10 is no 3.1."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import yaml

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology.importing.found import Origin, Setting
from pytest_kmigrate.topology.importing.sources import Source
from pytest_kmigrate.topology.mistakes import shown

TEMPLATE = "{{"
"""What a template of Helm or Jinja begins with."""
_VAULT = "!vault"
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0", "none")
_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"


def _resolvers(loader: Any) -> dict[str, list[tuple[str, Any]]]:
    """Of what the library makes of a bare word, nothing and merges alone."""
    return {
        first: [each for each in resolvers if each[0] in (_MERGE, _NULL)]
        for first, resolvers in loader.yaml_implicit_resolvers.items()
    }


class _Texts(yaml.SafeLoader):  # type: ignore[misc] # the library has no types
    """Knows no other scalars than texts and nothing at all, and no key twice."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, Any]]]] = _resolvers(yaml.SafeLoader)

    def compose_mapping_node(self, anchor: Any) -> Any:
        """As the library does, with an error for a key that stands twice, before merges bring others in."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if key.tag == _MERGE:
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.composer.ComposerError(None, None, "a key that is no text", key.start_mark)
            if key.value in seen:
                raise yaml.composer.ComposerError(None, None, f"the key {key.value!r} again", key.start_mark)
            seen.add(key.value)
        return node


def _untagged(loader: Any, _suffix: str, node: Any) -> object:
    """The value behind a tag of somebody's own; of a vault, nothing."""
    if node.tag.startswith(_VAULT):
        return None
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Texts.add_multi_constructor("!", _untagged)


@dataclass(frozen=True)
class At:
    """A value of a document, and its place; every wrong type is one error with that place."""

    file: str
    key: str
    value: object
    short: str = ""
    """The key without a name that is one of many, such as a host's."""

    @property
    def origin(self) -> Origin:
        """Where it is."""
        return Origin(self.file, self.short or self.key, self.key)

    def wrong(self, expected: str, got: str = "", advice: str = "") -> TopologyError:
        """The error of this place."""
        found = got or _shown(self.value)
        text = f"expected {expected}, got {found}" + (f": {advice}" if advice else "")
        return TopologyError(self.file, [f"{self.key}: {text}" if self.key else text])

    def table(self) -> dict[str, "At"]:
        """The values of a mapping; none of nothing."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong("a mapping")
        return {str(name): self._below(str(name), each) for name, each in self.value.items()}

    def get(self, *names: str) -> "At":
        """The value below these names; nothing where one of them lacks."""
        here = self
        for name in names:
            here = here.table().get(name, here._below(name, None))
        return here

    def items(self) -> list["At"]:
        """The values of a list; none of nothing."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [At(self.file, f"{self.key}[{number}]", each) for number, each in enumerate(self.value)]

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value.strip()

    def number(self) -> int:
        """A whole number from 0 on."""
        if not (isinstance(self.value, str) and self.value.strip().isascii() and self.value.strip().isdecimal()):
            raise self.wrong("a whole number", self._named())
        if len(self.value) > 10:
            raise self.wrong("a number of at most ten digits")
        return int(self.value)

    def truth(self, *, default: bool) -> bool:
        """True or false, by any of YAML's words."""
        if self.value is None:
            return default
        word = self.text().lower()
        if word not in (*_TRUE, *_FALSE):
            raise self.wrong("true or false", self._named())
        return word in _TRUE

    def setting(self) -> Setting:
        """A text with its origin."""
        return Setting(self.text(), self.origin)

    @property
    def is_template(self) -> bool:
        """Whether it is a text that was not filled in."""
        return isinstance(self.value, str) and TEMPLATE in self.value

    def _named(self) -> str:
        """The value of a key that holds no secret."""
        return shown(self.value) if isinstance(self.value, str) and not self.is_template else ""

    def __bool__(self) -> bool:
        return self.value is not None

    def _below(self, name: str, value: object) -> "At":
        short = f"{self.short}.{name}" if self.short else ""
        return At(self.file, f"{self.key}.{name}" if self.key else name, value, short)


@cache
def documents(source: Source) -> tuple[At, ...]:
    """The documents of a file that hold anything; TopologyError with the line that is no YAML.

    Read once: its kind is seen by them, before they are read for that kind.
    """
    try:
        loaded = list(yaml.load_all(source.text, Loader=_Texts))
    except yaml.YAMLError as error:
        raise TopologyError(source.path, [_problem(source, error)]) from None
    except (RecursionError, ValueError) as error:
        raise TopologyError(source.path, [f"expected YAML, got what no reader takes: {type(error).__name__}"]) from None
    return tuple(At(source.path, "", each) for each in loaded if each is not None)


def _problem(source: Source, error: yaml.YAMLError) -> str:
    if TEMPLATE in source.text:
        return (
            "expected YAML, got a template that was not filled in: give the result, as `helm template` or "
            "`ansible-inventory --list --yaml` prints it"
        )
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark else ""
    what = getattr(error, "problem", None) or "a character that YAML forbids"
    return f"{where}expected YAML, got {what}"


def _shown(value: object) -> str:
    """What is there, without its value: it may be a secret."""
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case str() if TEMPLATE in value:
            return "a template that was not filled in"
        case _:
            return "a text" if value else "an empty text"


def leaves(at: At, depth: int = 6) -> Iterator[At]:
    """The values at the ends of a tree; what is deeper than ``depth`` is one of them."""
    if depth and isinstance(at.value, dict) and at.value:
        for each in at.table().values():
            yield from leaves(each, depth - 1)
    else:
        yield at
