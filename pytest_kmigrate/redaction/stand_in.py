"""What stands for a secret: a digest by a key that this process makes and keeps nowhere.

Equal secrets have equal stand-ins within one process, so two images still show whether they hold the same value. A
dictionary opens none: without the key nothing can be computed from a guess.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets

HIDDEN = "[hidden]"
"""What stands for a sensitive value that the source itself does not show (brokers never report passwords)."""

_KEY = secrets.token_bytes(32)
_LENGTH = 12
STAND_IN = re.compile(rf"(?:hidden|sha256):[0-9a-f]{{{_LENGTH}}}")
"""A stand-in as it is, and as evidence of earlier releases has it."""

_ALREADY = re.compile(rf"{STAND_IN.pattern}\Z|\[(?:hidden|redacted)[^\]\n]*\]\Z|[*\u2022]{{3,}}\Z", re.IGNORECASE)


def hashed(value: str) -> str:
    """The stand-in of a sensitive value; one that is empty, or stands for a value already, stays."""
    if not value or _ALREADY.match(value):
        return value
    return f"hidden:{_digest(value.encode())[:_LENGTH]}"


def nameless(value: str) -> str:
    """What stands for a value where it must be the same in each process, as in the name of a test."""
    return value if not value or _ALREADY.match(value) else HIDDEN


def scram_digest(salt: str, stored_key: str, server_key: str) -> str:
    """One digest over the three base64 parts of a SCRAM credential, however they were padded or written."""
    return _digest(b",".join(_canonical_base64(part) for part in (salt, stored_key, server_key)))


def _digest(content: bytes) -> str:
    return hmac.new(_KEY, content, hashlib.sha256).hexdigest()


def _canonical_base64(text: str) -> bytes:
    try:
        return base64.b64encode(base64.b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError):  # not base64: still a secret, and equal texts must stay equal
        return text.encode()
