"""Passwords among dynamic configs, as Kafka encrypts them in ZooKeeper by ``password.encoder.secret`` (KIP-226)."""

import base64
import hashlib

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7

_HASH = {"PBKDF2WithHmacSHA512": "sha512", "PBKDF2WithHmacSHA256": "sha256", "PBKDF2WithHmacSHA1": "sha1"}
_CIPHER = "AES/CBC/PKCS5Padding"


def decoded(encoded: str, secret: str) -> str | None:
    """The password that a broker with this secret reads; None if it reads none, as where it was not encrypted."""
    parts = dict(part.partition(":")[::2] for part in encoded.split(","))
    try:
        if parts["cipherAlgorithm"] != _CIPHER:
            return None
        salt, vector, text = (
            base64.b64decode(parts[name]) for name in ("salt", "initializationVector", "encryptedPassword")
        )
        bits, rounds = int(parts["keyLength"]), int(parts["iterations"])
        key = hashlib.pbkdf2_hmac(_HASH[parts["keyFactoryAlgorithm"]], secret.encode(), salt, rounds, bits // 8)
        return _plain(text, key, vector)
    except (KeyError, ValueError):
        return None


def _plain(text: bytes, key: bytes, vector: bytes) -> str:
    decryptor, unpadder = Cipher(AES(key), CBC(vector)).decryptor(), PKCS7(AES.block_size).unpadder()
    padded = decryptor.update(text) + decryptor.finalize()
    return (unpadder.update(padded) + unpadder.finalize()).decode()
