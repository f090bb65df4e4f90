"""Facts about passwords that Kafka has encrypted in ZooKeeper."""

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from pytest_kmigrate.probes.passwords import decoded

SALT, VECTOR = b"\x01" * 32, b"\x02" * 16


def encoded(padded: bytes, secret: str) -> str:
    """What Kafka writes by its defaults; ``padded`` to whole blocks."""
    key = hashlib.pbkdf2_hmac("sha512", secret.encode(), SALT, 4096, 16)
    encryptor = Cipher(AES(key), CBC(VECTOR)).encryptor()
    parts = {
        "keyFactoryAlgorithm": "PBKDF2WithHmacSHA512",
        "cipherAlgorithm": "AES/CBC/PKCS5Padding",
        "keyLength": "128",
        "salt": base64.b64encode(SALT).decode(),
        "encryptedPassword": base64.b64encode(encryptor.update(padded)).decode(),
        "iterations": "4096",
        "initializationVector": base64.b64encode(VECTOR).decode(),
        "passwordLength": "6",
    }
    return ",".join(":".join(each) for each in parts.items())


WRITTEN = encoded(b"opens!" + b"\x0a" * 10, "secret")


def test_a_password_is_decoded_by_the_secret_that_encoded_it() -> None:
    """By no other one."""
    assert decoded(WRITTEN, "secret") == "opens!"
    assert decoded(WRITTEN, "another") is None


@pytest.mark.parametrize(
    "text", ["opens!", "None", "", "salt:x", WRITTEN.replace("CBC", "GCM"), WRITTEN.replace("salt", "s")]
)
def test_what_is_not_encoded_so_is_no_password_that_a_broker_reads(text: str) -> None:
    """Nor is what lacks a part."""
    assert decoded(text, "secret") is None
