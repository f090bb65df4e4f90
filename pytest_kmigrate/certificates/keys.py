"""Keys: Ed25519 in PEM files, known by the SHA-256 of the public key."""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from pytest_kmigrate.model.errors import EnvironmentLackError, WrongUseError

_FINGERPRINT = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_MAKE_ONE = "make one: openssl genpkey -algorithm ed25519 -out FILE"


class SigningKey:
    """The private key of a vendor or a witness."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        return self._key.sign(message)


def signing_key(file: Path, option: str = "--key") -> SigningKey:
    """The private key in a file; WrongUseError if it holds none of Ed25519. ``option``: which one named the file."""
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except OSError as error:
        raise WrongUseError(f"{option} {file}: expected a private key, got {error.strerror}; {_MAKE_ONE}") from error
    except (ValueError, TypeError) as error:
        raise WrongUseError(f"{option} {file}: expected an Ed25519 private key as plain PEM; {_MAKE_ONE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise WrongUseError(f"{option} {file}: expected an Ed25519 private key, got another kind; {_MAKE_ONE}")
    return SigningKey(key)


def new_key(file: Path) -> SigningKey:
    """A new private key, written to a file that only its owner can read, and its public key beside it.

    EnvironmentLackError where one of them cannot be written; then neither is there.
    """
    key = Ed25519PrivateKey.generate()
    content = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(content)
        with taken_back(file):
            public_file(file).write_bytes(public)
    except OSError as error:
        raise EnvironmentLackError(
            f"{file}: a new key cannot be written there: {error.strerror}; give one by --key, or another --out"
        ) from error
    return SigningKey(key)


@contextmanager
def taken_back(*files: Path) -> Iterator[None]:
    """Remove files that were made for what then fails, and for nothing else."""
    try:
        yield
    except BaseException:
        for each in files:
            each.unlink(missing_ok=True)
        raise


def public_file(file: Path) -> Path:
    """Where the public key of a new private one lies: beside it."""
    return file.with_name(f"{file.name}.pub")


def pinned(given: str) -> str:
    """The fingerprint of the key that a reader trusts, given as such or as a file with the public key."""
    if match := _FINGERPRINT.fullmatch(given.lower()):
        return match[1]
    expected = "expected a fingerprint (sha256:...) or a file with an Ed25519 public key as PEM"
    try:
        key = load_pem_public_key(Path(given).read_bytes())
    except OSError as error:
        raise WrongUseError(f"--key {given}: {expected}, got {error.strerror}") from error
    except ValueError as error:
        raise WrongUseError(f"--key {given}: {expected}, got neither; give the vendor's .pub file") from error
    if not isinstance(key, Ed25519PublicKey):
        raise WrongUseError(f"--key {given}: {expected}, got a key of another kind")
    return fingerprint(key.public_bytes_raw())


def fingerprint(public: bytes) -> str:
    """The SHA-256 of a public key, in hexadecimal."""
    return hashlib.sha256(public).hexdigest()


def is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature of a message is by the owner of a public key."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
