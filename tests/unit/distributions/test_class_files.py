"""Facts about class files that are read: members, whether they are deprecated, and the fields their code is about."""

import struct
import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.class_files import java_class, parsed

PUBLIC, FINAL, ENUM = 0x0001, 0x0010, 0x4000


class Written:
    """A class file in the making: places of constants by what they hold."""

    def __init__(self) -> None:
        self._pool: list[bytes] = []
        self._places: dict[tuple[object, ...], int] = {}

    def text(self, text: str) -> int:
        """The place of a text."""
        return self._placed(("text", text), b"\x01" + struct.pack(">H", len(text)) + text.encode())

    def field(self, name: str) -> int:
        """The place of a reference to a field of this class."""
        named = self._placed(("named", name), b"\x0c" + struct.pack(">HH", self.text(name), self.text("Z")))
        return self._placed(("field", name), b"\x09" + struct.pack(">HH", 1, named))

    def member(self, flags: int, name: str, descriptor: str, code: bytes = b"", *, deprecated: bool = False) -> bytes:
        """A field or method with these instructions."""
        attributes = []
        if code:
            body = struct.pack(">HHI", 2, 2, len(code)) + code + struct.pack(">HH", 0, 0)
            attributes.append(struct.pack(">HI", self.text("Code"), len(body)) + body)
        if deprecated:
            attributes.append(struct.pack(">HI", self.text("Deprecated"), 0))
        head = struct.pack(">HHHH", flags, self.text(name), self.text(descriptor), len(attributes))
        return head + b"".join(attributes)

    def content(self, fields: list[bytes], methods: list[bytes]) -> bytes:
        """The whole file; a long takes two places among the constants."""
        long = b"\x05" + struct.pack(">q", 1)
        count = 1 + len(self._pool) + 2
        head = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 61, count) + b"".join(self._pool) + long
        after = struct.pack(">HHHHH", PUBLIC, 1, 1, 1, 1)  # one interface
        return head + after + b"".join(struct.pack(">H", len(each)) + b"".join(each) for each in (fields, methods))

    def _placed(self, key: tuple[object, ...], entry: bytes) -> int:
        if key not in self._places:
            self._pool.append(entry)
            self._places[key] = len(self._pool)
        return self._places[key]


def written() -> bytes:
    """A class with a constant, a field that its constructor sets to false, and one that another one is set to."""
    made = Written()
    off = bytes([0x2A, 0x03, 0xB5]) + struct.pack(">H", made.field("dryRun")) + b"\xb1"
    latest = (
        b"\xb2" + struct.pack(">H", made.field("SECOND")) + b"\xb3" + struct.pack(">H", made.field("LATEST")) + b"\xb1"
    )
    fields = [made.member(PUBLIC | ENUM, "FIRST", "LA;"), made.member(PUBLIC | ENUM, "SECOND", "LA;")]
    fields.append(made.member(PUBLIC | FINAL, "LATEST", "LA;"))
    methods = [
        made.member(PUBLIC, "<init>", "()V", off),
        made.member(PUBLIC, "<init>", "(SZ)V", b"\xb1", deprecated=True),
        made.member(0, "hidden", "()Z"),
        made.member(8, "<clinit>", "()V", latest),
    ]
    return made.content(fields, methods)


def test_members_are_read() -> None:
    """Constants in order, public constructors by what they take, and what is deprecated."""
    found = parsed(written())
    assert found.constants == ["FIRST", "SECOND"]
    assert {kind: each.is_deprecated for kind, each in found.public("<init>").items()} == {"()V": False, "(SZ)V": True}
    assert found.public("hidden") == {}


def test_what_code_does_with_fields_is_read() -> None:
    """It sets one to false, and a static one to another."""
    found = parsed(written())
    assert found.public("<init>")["()V"].falsifies == ("dryRun",)
    assert found.methods[-1].sets_static == (("LATEST", "SECOND"),)
    assert found.methods[-1].reads == ("SECOND",)


def test_a_class_is_found_in_a_jar(tmp_path: Path) -> None:
    """The first jar that has it; None where none has."""
    empty, full = tmp_path / "empty.jar", tmp_path / "full.jar"
    with zipfile.ZipFile(empty, "w"), zipfile.ZipFile(full, "w") as archive:
        archive.writestr("org/acme/A.class", written())
    found = java_class([empty, full], "org.acme.A")
    assert found
    assert found.constants == ["FIRST", "SECOND"]
    assert java_class([empty, full], "org.acme.B") is None


def test_other_content_is_an_error() -> None:
    """A text, say."""
    with pytest.raises(ValueError, match="expected a class file"):
        parsed(b"public class A {}")
