"""The scan of what a certificate packs, by other means than those that redacted it when it was recorded.

Three look at every byte, packed ones included: the recorder's forms, the rules of gitleaks, and the values that the
vendor gives or that variables of this process hold.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from pytest_kmigrate.certificates import gitleaks
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.recording.hiding import PACKED, contents_of
from pytest_kmigrate.redaction import line_with_secret
from pytest_kmigrate.redaction.known import is_findable, known_in, learn, learn_named

_JSON = (".json", ".jsonl")
_OWN, _LONGEST_OWN = (
    re.compile(r"""(?:(?:digest|sha256|hidden|tokenId)[\\"':= ]{1,6}|"checkpoint": \{\s{0,9}"key": ")\Z"""),
    40,
)
"""What stands before our own digests, names of checkpoints, and ids of delegation tokens, which are public."""

_REQUIREMENT = re.compile(r"[A-Z]\d+-[A-Z]+-[a-z0-9-]+\b")
"""The id of a requirement, which may have ``api`` or ``auth`` in it."""

_READABLE = re.compile(rb"[\x20-\x7e]{6,}")


def learn_secrets(file: Path | None) -> None:
    """Know what no evidence may hold: each line of the file, and what variables that are named like secrets hold.

    WrongUseError for a file that cannot be read, or a line that ordinary text has as well.
    """
    learn_named(os.environ)
    if file is None:
        return
    try:
        values = [line for line in file.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "bytes that are no UTF-8"
        raise WrongUseError(f"--secrets {file}: expected a file with a secret a line, got {reason}") from error
    common = next((number for number, each in enumerate(values, 1) if not is_findable(each)), None)
    if common is not None:
        raise WrongUseError(
            f"--secrets {file}: line {common} of those with text: expected a value of eight characters or more that "
            "ordinary text has not, got a shorter one, a number, a path or a word; take it out, its forms are found"
        )
    learn(values)


def must_hold_no_secret(path: Path, content: bytes) -> None:
    """WrongUseError, which names the line and the means but no character of it, if a secret may be in a file."""
    found = next(_found_in(path, content), None)
    if found:
        raise WrongUseError(
            f"{path}: {found}: nothing was packed; leave this run out, or run its test again with another credential"
        )


def _found_in(path: Path, content: bytes) -> Iterator[str]:
    name = known_in(path.name.encode())
    if name:
        yield f"expected no secret in its name, got a known value, {name}"
    for number, part in enumerate(contents_of(content)):
        text, where = _text_of(part), "" if number == 0 else "unpacked, "
        line = line_with_secret(text, is_json=path.suffix in _JSON and number == 0)
        if line is not None:
            yield f"{where}line {line}: expected no secret in evidence, got what looks like one"
        for rule, at in gitleaks.secrets_in(text):
            if _OWN.search(text, max(0, at - _LONGEST_OWN), at) or _REQUIREMENT.match(text, at):
                continue
            line = text.count("\n", 0, at) + 1
            yield f"{where}line {line}: expected no secret in evidence, got what gitleaks calls {rule}"
        if how := known_in(part):
            yield f"{where}expected no secret in evidence, got a known value, {how}"


def _text_of(part: bytes) -> str:
    """A text as it is; of other bytes what can be read in them, a line each, but nothing of what is unpacked."""
    if b"\0" not in part:
        return part.decode("utf-8", errors="replace")
    return "" if part.startswith(PACKED) else b"\n".join(_READABLE.findall(part)).decode()
