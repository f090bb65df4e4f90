"""Public Java classes of a distribution: constructors, methods, constants and what a constructor's code refers to.

Read from the class files in its jars (format: Java Virtual Machine Specification, chapter 4), so that no class is
loaded and no compiler is needed.
"""

import struct
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_PUBLIC, _ENUM = 0x0001, 0x4000
_UTF8, _CLASS, _FIELD, _NAMED = 1, 7, 9, 12
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, _CLASS: 2, 8: 2, _FIELD: 4, 10: 4, 11: 4, _NAMED: 4, 15: 3, 16: 2, 17: 4, 18: 4}
_TAKE_TWO = (5, 6)
"""Constants of 8 bytes, which take two places."""
_GETSTATIC, _PUTSTATIC, _PUTFIELD = 0xB2, 0xB3, 0xB5
_FALSE = 0x03
"""The instruction that puts 0, or false, on the stack."""


@dataclass(frozen=True)
class Member:
    """A field, method or constructor (``<init>``)."""

    name: str
    descriptor: str
    """Its type, such as ``(SZ)V`` for what takes a short and a boolean and returns nothing."""
    is_public: bool
    is_deprecated: bool
    is_constant: bool
    """Whether it is a constant of an enumeration."""
    reads: tuple[str, ...] = ()
    """The static fields that its code reads, by name, in order."""
    sets_static: tuple[tuple[str, str], ...] = ()
    """The static fields that its code sets to another one that it has just read: both names."""
    falsifies: tuple[str, ...] = ()
    """The fields that its code sets to false or 0."""


@dataclass(frozen=True)
class JavaClass:
    """What a class file declares."""

    fields: tuple[Member, ...]
    methods: tuple[Member, ...]

    @property
    def constants(self) -> list[str]:
        """The constants of an enumeration, in order."""
        return [each.name for each in self.fields if each.is_constant]

    def public(self, name: str) -> dict[str, Member]:
        """Public methods of this name, or constructors (``<init>``), by descriptor."""
        return {each.descriptor: each for each in self.methods if each.name == name and each.is_public}


def java_class(jars: Sequence[Path], name: str) -> JavaClass | None:
    """The class of this full name (``$`` before that of a nested one) in the first jar that has it; None: in none."""
    file = f"{name.replace('.', '/')}.class"
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            if file in archive.namelist():
                return parsed(archive.read(file))
    return None


def parsed(content: bytes) -> JavaClass:
    """A class file's members; ValueError for other content."""
    if content[:4] != b"\xca\xfe\xba\xbe":
        raise ValueError("expected a class file, got other content")
    return _Reader(content).read()


class _Reader:
    """Reads one class file from its beginning to its end."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 8
        self._texts: dict[int, str] = {}
        self._pairs: dict[int, tuple[int, int]] = {}

    def read(self) -> JavaClass:
        self._constants()
        self._taken(6)
        self._taken(2 * self._number(2))
        return JavaClass(tuple(self._members()), tuple(self._members()))

    def _constants(self) -> None:
        place, count = 1, self._number(2)
        while place < count:
            tag = self._number(1)
            if tag == _UTF8:
                size = self._number(2)
                self._texts[place] = self._taken(size).decode("utf-8", "replace")
            else:
                body = self._taken(_SIZES[tag])
                if tag in (_FIELD, _NAMED):
                    first, second = struct.unpack(">HH", body)
                    self._pairs[place] = first, second
            place += 2 if tag in _TAKE_TWO else 1

    def _members(self) -> Iterator[Member]:
        for _ in range(self._number(2)):
            flags, name, descriptor = (self._number(2) for _ in range(3))
            attributes = dict(self._attributes())
            code = _code_of(attributes.get("Code", b""))
            yield Member(
                self._texts[name],
                self._texts[descriptor],
                is_public=bool(flags & _PUBLIC),
                is_deprecated="Deprecated" in attributes,
                is_constant=bool(flags & _ENUM),
                reads=tuple(self._field(code, at) for at in _at(code, _GETSTATIC)),
                sets_static=tuple(
                    (self._field(code, at), self._field(code, at - 3))
                    for at in _at(code, _PUTSTATIC)
                    if at >= 3 and code[at - 3] == _GETSTATIC
                ),
                falsifies=tuple(
                    self._field(code, at) for at in _at(code, _PUTFIELD) if at >= 1 and code[at - 1] == _FALSE
                ),
            )

    def _attributes(self) -> Iterator[tuple[str, bytes]]:
        for _ in range(self._number(2)):
            name, size = self._texts[self._number(2)], self._number(4)
            yield name, self._taken(size)

    def _field(self, code: bytes, at: int) -> str:
        """The name of the field that the instruction there is about; empty where it is no such instruction."""
        place = int.from_bytes(code[at + 1 : at + 3], "big")
        name_and_type = self._pairs.get(place, (0, 0))[1]
        return self._texts.get(self._pairs.get(name_and_type, (0, 0))[0], "")

    def _number(self, size: int) -> int:
        return int.from_bytes(self._taken(size), "big")

    def _taken(self, size: int) -> bytes:
        taken = self._content[self._at : self._at + size]
        self._at += size
        return taken


def _code_of(attribute: bytes) -> bytes:
    """The instructions in a method's attribute ``Code``."""
    return attribute[8 : 8 + int.from_bytes(attribute[4:8], "big")]


def _at(code: bytes, instruction: int) -> list[int]:
    """Where the byte of an instruction stands, with room for its operand."""
    return [at for at, each in enumerate(code[:-2]) if each == instruction]
