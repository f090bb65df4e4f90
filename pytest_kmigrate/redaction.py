"""Redaction: passwords, JAAS lines, SCRAM credentials and key material never reach an artefact.

A sensitive value becomes ``sha256:`` and the first 12 hex digits of its hash, so that two images still show whether
they hold the same value. Redacting twice changes nothing.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping

HIDDEN = "[hidden]"
"""What stands for a sensitive value that the source itself does not show (brokers never report passwords)."""

_SENSITIVE_ENDING = (
    r"(?:password|passwd|jaas\.config|ssl\.keystore\.key|ssl\.keystore\.certificate\.chain"
    r"|ssl\.truststore\.certificates|secret|secret\.key|master\.key|private\.key|private_key|hmac"
    r"|stored_?key|server_?key|salt)"
)
_SENSITIVE_KEY = re.compile(_SENSITIVE_ENDING + r"\Z", re.IGNORECASE)
_ALREADY = re.compile(r"sha256:[0-9a-f]{12}\Z|\[(?:hidden|redacted[^\]]*)\]\Z|[*\u2022]{3,}\Z", re.IGNORECASE)

_STAND_IN = re.compile("sha256:[0-9a-f]{12}")
_SCRAM = re.compile(
    r"salt=([^\s,\"\\]+),\s*stored_key=([^\s,\"\\]+),\s*server_key=([^\s,\"\\]+),\s*iterations=(\d+)", re.IGNORECASE
)
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
_PLACEHOLDER = r"\[(?:hidden|redacted)[^\]\n]*\]"
_LOGICAL_LINE = r"((?:[^\n\\]|\\\r?\n|\\.)+)"  # goes on after a backslash at its end, as in a properties file
_JAAS_LINE = re.compile(r"jaas\.config\s*[=:]\s*" + _LOGICAL_LINE, re.IGNORECASE)
_PROPERTY_LINE = re.compile(
    r"^[\w.\-]*" + _SENSITIVE_ENDING + r"[ \t]*=[ \t]*" + _LOGICAL_LINE, re.IGNORECASE | re.MULTILINE
)
_JAAS_MODULE = re.compile(r"(LoginModule\s+(?:required|requisite|sufficient|optional)\b)(?!\s*\[redacted\])[^;]*;?")
_PLAIN_JSON = re.compile(_SENSITIVE_ENDING + r'"\s*:\s*"((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_ESCAPED_JSON = re.compile(_SENSITIVE_ENDING + r'\\"\s*:\s*\\"((?:[^"\\]|\\\\(?:\\"|.))*)\\"', re.IGNORECASE)
_NAMED_VALUE = re.compile(  # in a metadata record the name of the config is itself a value
    r'"name\\?"\s*:\s*\\?"[^"\\]*' + _SENSITIVE_ENDING + r'\\?"\s*,\s*\\?"value\\?"\s*:\s*\\?"((?:[^"\\]|\\[^"])*)',
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(
    _SENSITIVE_ENDING
    + r"\s*[=:]\s*(?:("
    + _PLACEHOLDER
    + r")|\"([^\"\n]*)\"|'([^'\n]*)'|(\[-?\d[-\d, ]*\])|([^\s,;\]}\"']+))",
    re.IGNORECASE,
)
_HINTS = ("passw", "jaas", "key", "certificate", "secret", "hmac", "salt", "-----begin", "loginmodule", "://")
"""Whatever is sensitive has one of these beside it: looking for them first spares most texts the patterns."""

_HINT = re.compile("|".join(map(re.escape, _HINTS)), re.IGNORECASE)
_UNSET = re.compile(r"=\s*null\b")
_URL_CREDENTIALS = re.compile(r"(://[^\s/:@]+:)([^\s/@]+)(?=@)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def is_sensitive(key: str) -> bool:
    """Whether a property of this name holds a secret; listener and mechanism prefixes do not matter."""
    return _SENSITIVE_KEY.search(key) is not None


def hashed(value: str) -> str:
    """The stand-in of a sensitive value: equal values give equal stand-ins; empty and already redacted ones stay."""
    if not value or _ALREADY.match(value):
        return value
    return f"sha256:{hashlib.sha256(value.encode()).hexdigest()[:12]}"


def shown(key: str, value: str) -> str:
    """A config value as an artefact may show it."""
    return hashed(value) if is_sensitive(key) else redacted(value)


def redacted_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with every sensitive value hashed, and secrets inside other values removed."""
    return {key: shown(key, value) for key, value in properties.items()}


def scram_digest(salt: str, stored_key: str, server_key: str) -> str:
    """One SHA-256 over the three base64 parts of a SCRAM credential, however they were padded or written."""
    parts = (_canonical_base64(part) for part in (salt, stored_key, server_key))
    return hashlib.sha256(b",".join(parts)).hexdigest()


def redacted(text: str) -> str:
    """Any text - a log line, a znode, a properties file - without its secrets."""
    folded = text.casefold()  # as the patterns do, which ignore case
    if not any(hint in folded for hint in _HINTS):
        return text
    text = _PEM.sub(lambda match: f"[redacted {match[1]}]", text)
    text = _SCRAM.sub(lambda match: f"digest={scram_digest(match[1], match[2], match[3])},iterations={match[4]}", text)
    for pattern in (_JAAS_LINE, _PROPERTY_LINE, _PLAIN_JSON, _ESCAPED_JSON, _NAMED_VALUE):
        text = pattern.sub(_with_hashed_value, text)
    text = _JAAS_MODULE.sub(r"\1 [redacted];", text)
    text = _ASSIGNMENT.sub(_with_hashed_value, text)
    return _URL_CREDENTIALS.sub(lambda match: match[1] + hashed(match[2]), text)


def line_with_secret(text: str, *, is_json: bool = False) -> int | None:
    """The number of the first line that ``redacted`` would change; None if there is none.

    Kafka logs a secret that is not set as null. ``is_json``: each line is an object, whose texts were redacted before
    they were escaped: a line feed ends a value there, and its escape would not.
    """
    for number, line in enumerate(_UNSET.sub(f"= {HIDDEN}", text).splitlines(), 1):
        if not _HINT.search(line):
            continue
        content = _ESCAPE.sub(_unescaped, line) if is_json else line
        if redacted(content) != content:
            return number
    return None


def without_secrets(log: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line of a log that has a secret: where it begins, and the line without it, as many bytes as it had.

    What stands for a short secret may be longer: then it is stars.
    """
    begin = 0
    for line in log.splitlines(keepends=True):
        content = line.rstrip(b"\r\n")
        text = content.decode("utf-8", errors="replace")
        if line_with_secret(text) is not None:
            hidden = redacted(text)
            fitting = hidden if len(hidden.encode()) <= len(content) else _STAND_IN.sub("***", hidden)
            yield begin, fitting.encode()[: len(content)].ljust(len(content))
        begin += len(line)


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _ESCAPED.get(escaped, escaped)


def _with_hashed_value(match: re.Match[str]) -> str:
    group = next((number for number, value in enumerate(match.groups(), start=1) if value is not None), None)
    if group is None:
        return match[0]
    begin, end = (position - match.start() for position in match.span(group))
    return match[0][:begin] + hashed(match[group].strip()) + match[0][end:]


def _canonical_base64(text: str) -> bytes:
    try:
        return base64.b64encode(base64.b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError):  # not base64: still a secret, and equal texts must stay equal
        return text.encode()
