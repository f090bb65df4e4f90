"""Paths and URIs: how Spark must be given one, and how two of them relate."""

import posixpath
import re

PATTERN_CHARACTERS = frozenset(r"\[]{}*?^")
"""What Hadoop reads as a pattern in a path; each can be escaped, but not beside a colon."""

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:)(?://([^/]*))?(/.*)", re.DOTALL)


def literal(uri: str) -> str:
    """``uri`` for Spark to read: as it is (Hadoop decodes nothing), but for what it would read as a pattern."""
    return "".join(f"\\{each}" if each in PATTERN_CHARACTERS else each for each in uri)


def why_closed(path: str) -> str | None:
    """Why Spark cannot read this path, which has no scheme; None when it can."""
    if ":" in path and PATTERN_CHARACTERS & set(path):
        return "its path has a colon and one of []{}*?^\\, which Spark cannot open: rename it"
    if shown_path(path) != path:
        return "its name is not UTF-8, which Spark cannot open: rename it"
    return None


def why_overlooked(path: str) -> str | None:
    """Why Spark does not read this file, without a word; None when it does."""
    name = posixpath.basename(path)
    if name.startswith("_") and "=" not in name:
        return "its name begins with _, which Spark overlooks: rename it"
    return None


def shown_path(path: str) -> str:
    """A path as text: what is no UTF-8 in it, which Python keeps in a way of its own, is marked."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def way(start: str, to: str) -> str:
    """How a page in folder ``start`` links to ``to``: relative where that is possible, else the whole URI."""
    scheme_of_start, path_of_start = _parts(start)
    scheme, path = _parts(to)
    return posixpath.relpath(path, path_of_start) if scheme == scheme_of_start else to


def path_of(uri: str) -> str:
    """The path in a URI; a path alone is itself. Nothing is decoded, so ``?`` and ``#`` are part of it.

    Without the slash at its end: that of a root, as of a bucket, is empty.
    """
    return _parts(uri)[1].rstrip("/")


def _parts(uri: str) -> tuple[str, str]:
    """Scheme with authority, and path; ``file:/x`` and ``file:///x`` are the same."""
    found = _URI.fullmatch(uri)
    return (f"{found[1]}//{found[2] or ''}", found[3]) if found else ("file://", uri)
