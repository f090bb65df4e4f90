"""The first line of a night: what it was drawn from, and the digest by which a damaged file is found."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_kmigrate.faults.schedules.lines import json_of
from pytest_kmigrate.faults.schedules.schedule import Schedule, line_of
from pytest_kmigrate.faults.schedules.spelling import Mistake, refuse_others, wrong

NIGHT = "night"
FORMAT = 1
"""Number of the format of a night."""

_DIGESTS = ("space", "tables", "harness", "digest")
SHRINKS, SIGNATURE = "shrinks", "signature"
"""Keys of a file that shrinks a red: the id of the run that was red, and what it violates."""
WITHOUT = "without"
"""Key of such a file: what its runs go without, as the red that is looked for does not rest on it."""
FINAL_READ, IMAGES = "final-read", "images"
"""What a run can go without: reading back what was acknowledged, and comparing the sides of the metadata."""

KEYS = (NIGHT, "document", "seed", *_DIGESTS, "lines", SHRINKS, SIGNATURE, WITHOUT)
_DAMAGED = "the file was changed after it was drawn; take a whole copy, or leave line 1 out if it was on purpose"
_HEXADECIMAL = re.compile(r"[0-9a-f]{64}")


def header_of(
    schedules: Sequence[Schedule], *, document: str, seed: int, space: str, tables: str | None, harness: str
) -> dict[str, object]:
    """The first line of a night of these schedules."""
    return {
        NIGHT: FORMAT,
        "document": document,
        "seed": seed,
        "space": space,
        "tables": tables,
        "harness": harness,
        "lines": len(schedules),
        "digest": digest_of([line_of(each) for each in schedules]),
    }


def digest_of(lines: Sequence[str]) -> str:
    """SHA-256 of the lines of a night behind its first."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def header_in(lines: Sequence[str]) -> tuple[Mapping[str, Any], int, list[Mistake]]:
    """The first line, if it is one of a night, where the schedules begin, and the mistakes of that line."""
    mistakes: list[Mistake] = []
    first = json_of(lines[0], mistakes) if lines else None
    if not isinstance(first, dict) or NIGHT not in first:
        return {}, 0, []
    refuse_others("", first, KEYS, mistakes)
    if type(first[NIGHT]) is not int or first[NIGHT] != FORMAT:
        mistakes.append(wrong(NIGHT, str(FORMAT), first[NIGHT]))
    given = {key: value for key, value in first.items() if value is not None}
    odd = [key for key in _DIGESTS if key in given and not _HEXADECIMAL.fullmatch(str(given[key]))]
    mistakes += [wrong(key, "64 hexadecimal digits", first[key]) for key in odd]
    odd = [key for key in ("seed", "lines") if key in first and not (type(first[key]) is int and first[key] >= 0)]
    mistakes += [wrong(key, "a whole number from 0 on", first[key]) for key in odd]
    odd = [key for key in ("document", SHRINKS, SIGNATURE) if not isinstance(first.get(key, ""), str)]
    mistakes += [wrong(key, "a name", first[key]) for key in odd]
    without = [] if first.get(WITHOUT) is None else first[WITHOUT]
    if not isinstance(without, list) or not set(map(str, without)) <= {FINAL_READ, IMAGES}:
        mistakes.append(wrong(WITHOUT, f"a list of {FINAL_READ}, {IMAGES}", without))
    return first, 1, mistakes


def damages(header: Mapping[str, Any], lines: Sequence[str], schedules: Sequence[Schedule]) -> list[Mistake]:
    """What the first line promises and the file does not hold."""
    if header.get("lines", len(schedules)) != len(schedules):
        return [Mistake("lines", f"expected {header['lines']} schedules to follow; got {len(schedules)}: {_DAMAGED}")]
    others = sorted({each.document for each in schedules} - {header.get("document")})
    if "document" in header and others:
        return [wrong("document", f"the document of every line ({', '.join(others)})", header["document"])]
    found = digest_of([each.strip() for each in lines if each.strip()])
    if header.get("digest") not in (None, found):
        text = f"expected that of the lines that follow ({found[:12]}); got {str(header['digest'])[:12]}"
        return [Mistake("digest", f"{text}: {_DAMAGED}")]
    return []
