"""DSSE envelopes: a payload and its signatures in one line of canonical JSON."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_kmigrate.certificates.keys import SigningKey, fingerprint, is_signed
from pytest_kmigrate.model.errors import CertificateError

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_MOST_BYTES = 256 * 2**20
_CUT = "it is cut or damaged: take another copy of it"


@dataclass(frozen=True)
class Envelope:
    """The payload of a file, and its signatures by the fingerprint of their keys."""

    payload: bytes
    signatures: Mapping[str, bytes]

    def must_be_signed(self, public_keys: Sequence[bytes], where: str) -> None:
        """CertificateError unless each of these keys, and no other, has signed the payload."""
        message = _pre_authenticated(self.payload)
        keys = {fingerprint(each): each for each in public_keys}
        if keys.keys() != self.signatures.keys():
            raise CertificateError(
                f"{where}: expected signatures by {', '.join(sorted(keys))}, got some by "
                f"{', '.join(sorted(self.signatures)) or 'none'}: it was signed anew or changed; do not trust it"
            )
        for name, key in keys.items():
            if not is_signed(key, self.signatures[name], message):
                raise CertificateError(
                    f"{where}: expected a signature of its contents by the key {name}, got another: it was changed "
                    "after it was signed; do not trust it"
                )


def sealed(payload: object, signers: Sequence[SigningKey]) -> bytes:
    """A file that holds the payload, signed by each of these keys."""
    content = canonical(payload)
    message = _pre_authenticated(content)
    signatures = [{"keyid": fingerprint(each.public), "sig": _encoded(each.sign(message))} for each in signers]
    return canonical({"payload": _encoded(content), "payloadType": PAYLOAD_TYPE, "signatures": signatures}) + b"\n"


def opened(file: Path) -> Envelope:
    """The envelope in a file; CertificateError if it is none, or not written as ``sealed`` writes one."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise CertificateError(f"{file}: expected a certificate, got a file of more than {_MOST_BYTES} bytes")
        content = file.read_bytes()
    except OSError as error:
        raise CertificateError(f"{file}: expected a certificate, got {error.strerror}") from error
    if not content.endswith(b"\n"):
        raise CertificateError(f"{file}: expected a certificate, one whole line; {_CUT}")
    try:
        return _envelope(parsed(content[:-1]))
    except (ValueError, KeyError, TypeError) as error:
        raise CertificateError(f"{file}: expected a certificate in a DSSE envelope ({error}); {_CUT}") from error


def payload_of(envelope: Envelope, where: str) -> Any:
    """The value of a payload; CertificateError if it is not canonical."""
    try:
        return parsed(envelope.payload)
    except ValueError as error:
        raise CertificateError(f"{where}: expected a statement as canonical JSON, got another: {error}") from error


def _envelope(content: dict[str, Any]) -> Envelope:
    if content.keys() != {"payload", "payloadType", "signatures"}:
        raise ValueError(f"the keys {', '.join(sorted(content))}")
    if content["payloadType"] != PAYLOAD_TYPE:
        raise ValueError(f"the payload type {content['payloadType']!r}")
    signatures = {each["keyid"]: _decoded(each["sig"]) for each in content["signatures"]}
    if len(signatures) != len(content["signatures"]) or any(
        each.keys() != {"keyid", "sig"} for each in content["signatures"]
    ):
        raise ValueError("signatures of other keys")
    return Envelope(_decoded(content["payload"]), signatures)


def _pre_authenticated(payload: bytes) -> bytes:
    """What DSSE signs: type and payload with their lengths."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _decoded(text: str) -> bytes:
    """The bytes of base64, of which each value has many spellings; ValueError for any but one."""
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if _encoded(content) != text:
        raise ValueError("base64 of another spelling")
    return content


def canonical(value: object) -> bytes:
    """The value as JSON with sorted keys and without spaces; it has no fractions, which have many spellings."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def parsed(content: bytes) -> Any:
    """The value of canonical JSON; ValueError if it is JSON of any other spelling, or none."""
    try:
        value = json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if canonical(value) != content:
        raise ValueError("it is not written canonically")
    return value
