"""Characters that XML forbids, and that tools write all the same."""

import re
import sys

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML does not allow, but what tools copy into it, such as the colours of a terminal."""

_REFERENCE = re.compile(r"&#(?:x0*([0-9a-fA-F]+)|0*([0-9]+));")
_MOST_DIGITS = 8
"""More digits than any character has, without leading zeros."""


def allowed(text: str) -> str:
    """The text without characters that XML forbids, also where they are written as references, such as ``&#27;``.

    A parser would stop there, and lose this case and all that come after it.
    """

    def instead(found: re.Match[str]) -> str:
        digits, base = (found[1], 16) if found[1] else (found[2], 10)
        code = int(digits, base) if len(digits) < _MOST_DIGITS else sys.maxunicode + 1
        is_character = code <= sys.maxunicode and not _FORBIDDEN.match(chr(code))
        return found[0] if is_character else "\ufffd"

    return _FORBIDDEN.sub("\ufffd", _REFERENCE.sub(instead, text))
