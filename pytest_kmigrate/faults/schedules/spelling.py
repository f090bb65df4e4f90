"""Faults and targets as data, and back: by the fields of their dataclasses, so a new fault needs no line here."""

import enum
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from decimal import Decimal
from functools import partial
from types import ModuleType
from typing import Any, get_type_hints

from pytest_kmigrate.faults import disks, holding, links, name_service, processes, resources, targets, znodes
from pytest_kmigrate.faults.effect import LEAST, MOST, Fault
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.spelling import did_you_mean
from pytest_kmigrate.model.topology import Role

_PARTITION = re.compile(r"(?P<of>leader-of|owner-of)\((?P<topic>[\w.-]+)-(?P<partition>[0-9]{1,9})\)")
_PLAIN: dict[str, Callable[[], Target]] = {
    "active-controller": targets.active_controller,
    "quorum-leader": targets.quorum_leader,
    "follower-controller": targets.follower_controller,
    "zookeeper-leader": targets.zookeeper_leader,
    "random-broker": targets.random_broker,
    "broker-besides-controller": targets.broker_besides_controller,
    **{text: partial(targets.every, role) for text, role in targets.EVERY.items()},
}
_LARGEST = 10**9
_LONGEST_SHOWN = 100


@dataclass(frozen=True)
class _Named:
    """What a line may name: nodes of its topology, and crash points of its document."""

    nodes: Collection[str]
    points: Collection[CrashPoint]


@dataclass(frozen=True)
class Act:
    """What an operator does, by the name that a document has for it; it is over when it is done."""

    name: str
    needs = frozenset[Capability]()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Mistake:
    """One mistake in data: the key, and what was expected and found there."""

    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.key}: {self.text}"


def wrong(key: str, expected: str, got: object, known: Collection[str] = (), *, written: object = None) -> Mistake:
    """The mistake that ``key`` holds ``got``; with the word that is nearest to what was ``written``."""
    return Mistake(key, f"expected {expected}; got {_shown(got)}{did_you_mean(_cut(str(written or got)), known)}")


def _shown(got: object) -> str:
    """A value as an error has it: what is not there, or null, is none, and a long one is cut."""
    return "none" if got is None else _cut(str(got) if isinstance(got, Decimal) else repr(got))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def refuse_others(
    prefix: str, given: Mapping[str, object], names: Sequence[str], mistakes: list[Mistake], whose: str = "there are"
) -> None:
    """Add a mistake for each key that is none of these."""
    expected = f"no such key: {whose} {', '.join(names)}"
    others = [each for each in given if each not in names]
    mistakes += [wrong(f"{prefix}{each}", expected, given[each], names, written=each) for each in others]


def kind_of(fault: Fault | Act) -> str:
    """The name of a fault's effect, ``fail-log-dir``, or of an act."""
    return fault.name if isinstance(fault, Act) else _kebab(type(fault).__name__)


def kinds() -> dict[str, type[Any]]:
    """The faults that can be spelled, by name."""
    found = [
        value
        for module in (processes, links, znodes, disks, holding, resources, name_service)
        for value in _faults_of(module)
    ]
    return {_kebab(each.__name__): each for each in found}


def keys_of(kind: type[Any]) -> Iterator[tuple[Field[Any], Any]]:
    """The fields of a fault, each with its type."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        yield each, hints[each.name]


def spelled(fault: Fault) -> dict[str, Any]:
    """A fault as data; what is as by default is left out."""
    assert is_dataclass(fault), "a fault is a frozen dataclass"
    values = {
        each.name: getattr(fault, each.name) for each in fields(fault) if getattr(fault, each.name) != each.default
    }
    return {"kind": kind_of(fault), **{key: _plain(value) for key, value in values.items()}}


def fault_of(
    key: str,
    data: object,
    nodes: Collection[str],
    mistakes: list[Mistake],
    points: Collection[CrashPoint] = (),
) -> Fault | None:
    """The fault that ``data`` spells; None, and every mistake is added, if it spells none.

    ``nodes``: names of those of the topology; ``points``: crash points of the document.
    """
    there = _Named(nodes, points)
    if not isinstance(data, Mapping):
        mistakes.append(wrong(key, "a fault, such as {kind: kill, target: random-broker}", data))
        return None
    known = kinds()
    kind = known.get(str(data.get("kind")))
    if kind is None:
        mistakes.append(wrong(f"{key}.kind", f"one of {', '.join(known)}", data.get("kind"), known))
        return None
    before = len(mistakes)
    allowed = dict(keys_of(kind))
    names = [each.name for each in allowed]
    others = {name: value for name, value in data.items() if name != "kind"}
    refuse_others(f"{key}.", others, names, mistakes, f"{data['kind']} has")
    values = {}
    for each, hint in allowed.items():
        if each.name in data:
            values[each.name] = _of_field(f"{key}.{each.name}", each, hint, data[each.name], there, mistakes)
        elif each.default is MISSING:
            mistakes.append(
                Mistake(f"{key}.{each.name}", f"expected, as {data['kind']} has no default for it; got none")
            )
    return kind(**values) if len(mistakes) == before else None


def target_of(key: str, text: object, nodes: Collection[str], mistakes: list[Mistake]) -> Target | None:
    """The target that a name means: a way to choose, or a node of the topology."""
    if isinstance(text, str) and text in _PLAIN:
        return _PLAIN[text]()
    if isinstance(text, str) and (found := _PARTITION.fullmatch(text)):
        made = targets.partition_leader if found["of"] == "leader-of" else targets.owner_of
        return made(found["topic"], int(found["partition"]))
    if isinstance(text, str) and text in nodes:
        return targets.node(text)
    known = [*_PLAIN, *nodes]
    expected = f"a target ({', '.join(_PLAIN)}, leader-of(TOPIC-N), owner-of(TOPIC-N)) or a node of the topology"
    mistakes.append(wrong(key, expected, text, known))
    return None


def point_of(key: str, name: object, points: Collection[CrashPoint], mistakes: list[Mistake]) -> CrashPoint | None:
    """The crash point of this name."""
    found = next((each for each in points if each.name == name), None)
    if found is None:
        known = [each.name for each in points]
        mistakes.append(wrong(key, f"a crash point of the document ({', '.join(known) or 'it has none'})", name, known))
    return found


def _of_field(key: str, of: Field[Any], hint: Any, given: object, there: _Named, mistakes: list[Mistake]) -> object:
    """A value, within what its field may have."""
    if hint is not int:
        return _value(key, hint, given, there, mistakes)
    least, most = range_of(of)
    if type(given) is not int or not least <= given <= most:
        mistakes.append(wrong(key, f"a whole number from {least} to {most}", given))
    return given


def _value(key: str, hint: Any, given: object, there: _Named, mistakes: list[Mistake]) -> object:
    if hint is Target:
        return target_of(key, given, there.nodes, mistakes)
    if hint is CrashPoint:
        return point_of(key, given, there.points, mistakes)
    if hint in (tuple[Target, ...], tuple[Role, ...]):
        if not isinstance(given, list) or not given:
            mistakes.append(wrong(key, "a list", given))
            return ()
        one = hint.__args__[0]
        return tuple(_value(f"{key}[{n}]", one, each, there, mistakes) for n, each in enumerate(given))
    is_enum = isinstance(hint, type) and issubclass(hint, enum.Enum)
    return _of_enum(key, hint, given, mistakes) if is_enum else _scalar(key, hint, given, mistakes)


def _of_enum(key: str, hint: type[enum.Enum], given: object, mistakes: list[Mistake]) -> enum.Enum | None:
    values = [str(each.value) for each in hint]
    if given not in values:
        mistakes.append(wrong(key, f"one of {', '.join(values)}", given, values))
        return None
    return hint(given)


def _scalar(key: str, hint: type[Any], given: object, mistakes: list[Mistake]) -> object:
    names = {bool: "true or false", str: "text"}
    assert hint in names, f"a field of a fault is of a type that cannot be spelled: {hint}"
    if type(given) is not hint:
        mistakes.append(wrong(key, names[hint], given))
    return given


def range_of(of: Field[Any]) -> tuple[int, int]:
    """The least and the largest number that a field of a fault may have."""
    return of.metadata.get(LEAST, 0), of.metadata.get(MOST, _LARGEST)


def _plain(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Target | CrashPoint) else value


def _faults_of(module: ModuleType) -> Iterator[type[Any]]:
    """The faults that a module defines."""
    for name, value in vars(module).items():
        is_own = isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_")
        if is_own and hasattr(value, "applied_to"):
            yield value


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
