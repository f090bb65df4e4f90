"""Passwords as ZooKeeper-mode brokers store them: encrypted, with everything but the secret written beside them."""

import base64

from cryptography.hazmat.primitives import hashes, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

_MARK = "encryptedPassword:"
_DIGESTS: dict[str, type[hashes.HashAlgorithm]] = {
    "PBKDF2WithHmacSHA512": hashes.SHA512,
    "PBKDF2WithHmacSHA256": hashes.SHA256,
    "PBKDF2WithHmacSHA1": hashes.SHA1,
}


def is_encoded(value: str) -> bool:
    """Whether a config value is an encrypted password."""
    return _MARK in value


def decoded_password(value: str, secret: str) -> str | None:
    """The password behind an encoded value; None when ``password.encoder.secret`` or the cipher is another one."""
    parts = dict(part.split(":", 1) for part in value.split(",") if ":" in part)
    digest = _DIGESTS.get(parts.get("keyFactoryAlgorithm", ""))
    if digest is None or parts.get("cipherAlgorithm") != "AES/CBC/PKCS5Padding":
        return None
    try:
        derivation = PBKDF2HMAC(
            algorithm=digest(),
            length=int(parts["keyLength"]) // 8,
            salt=base64.b64decode(parts["salt"]),
            iterations=int(parts["iterations"]),
        )
        key = derivation.derive(secret.encode())
        cipher = Cipher(algorithms.AES(key), modes.CBC(base64.b64decode(parts["initializationVector"]))).decryptor()
        padded = cipher.update(base64.b64decode(parts["encryptedPassword"])) + cipher.finalize()
        unpadder = padding.PKCS7(128).unpadder()
        password = (unpadder.update(padded) + unpadder.finalize()).decode()
    except (KeyError, ValueError):  # a wrong secret shows as wrong padding, wrong text or wrong length
        return None
    return password if len(password) == int(parts.get("passwordLength", len(password))) else None
