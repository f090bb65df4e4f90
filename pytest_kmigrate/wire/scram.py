"""The client's half of a SCRAM exchange (RFC 5802), for raw requests to protected listeners."""

import base64
import hashlib
import hmac
import secrets

from pytest_kmigrate.model.errors import ClusterError

GS2_HEADER = "n,,"
DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class ScramClient:
    """One exchange: ``first``, then ``final`` of the server's first message, then ``verify`` of its final one."""

    def __init__(
        self, mechanism: str, user: str, password: str, nonce: str | None = None, *, is_token: bool = False
    ) -> None:
        self._digest = DIGESTS[mechanism]
        self._password = password.encode()
        self._nonce = nonce or secrets.token_urlsafe(18)
        name = user.replace("=", "=3D").replace(",", "=2C")
        extension = ",tokenauth=true" if is_token else ""  # Kafka's: user and password are a token's id and HMAC
        self._first_bare = f"n={name},r={self._nonce}{extension}"
        self._server_signature = b""

    def first(self) -> bytes:
        """The client's first message."""
        return (GS2_HEADER + self._first_bare).encode()

    def final(self, server_first: bytes) -> bytes:
        """The client's final message, which proves that it knows the password."""
        attributes = _attributes(server_first)
        if not attributes.get("r", "").startswith(self._nonce):
            raise ClusterError(f"expected the broker to repeat our nonce; got {server_first!r}")
        salt = base64.b64decode(attributes["s"])
        salted = hashlib.pbkdf2_hmac(self._digest, self._password, salt, int(attributes["i"]))
        bare = f"c={base64.b64encode(GS2_HEADER.encode()).decode()},r={attributes['r']}"
        signed = f"{self._first_bare},{server_first.decode()},{bare}".encode()
        client_key = self._hmac(salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._digest, client_key).digest(), signed)
        self._server_signature = self._hmac(self._hmac(salted, b"Server Key"), signed)
        proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
        return f"{bare},p={base64.b64encode(proof).decode()}".encode()

    def verify(self, server_final: bytes) -> None:
        """ClusterError unless the server knows the password as well."""
        reported = base64.b64decode(_attributes(server_final).get("v", ""))
        if not hmac.compare_digest(reported, self._server_signature):
            raise ClusterError(f"expected the broker to prove that it knows the credential; got {server_final!r}")

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._digest).digest()


def _attributes(message: bytes) -> dict[str, str]:
    return dict(part.split("=", 1) for part in message.decode().split(",") if "=" in part)
