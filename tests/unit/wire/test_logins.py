"""Logins of raw requests by PLAIN and by OAUTHBEARER: what goes over the wire, and where a token comes from."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.wire import request
from pytest_kmigrate.wire.oauth import CLIENT_ID, CLIENT_SECRET, ENDPOINT, SCOPE, bearer, token_of

ASKED: list[tuple[str, str]] = []


class Issuer(BaseHTTPRequestHandler):
    """Gives a token for the right secret."""

    def do_POST(self) -> None:
        """One answer."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        who = base64.b64decode(self.headers["Authorization"].partition(" ")[2]).decode()
        ASKED.append((who, body))
        self.send_response(200 if who == "us:secret" else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"access_token": f"token-{len(ASKED)}", "expires_in": 300}).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an issuer of tokens."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    ASKED.clear()
    with HTTPServer(("127.0.0.1", 0), Issuer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()


def by(issuer: str, secret: str = "secret") -> dict[str, str]:
    """How a token is had."""
    return {ENDPOINT: issuer, CLIENT_ID: "us", CLIENT_SECRET: secret, SCOPE: "kafka"}


def test_a_token_is_had_by_client_credentials_and_kept(issuer: str) -> None:
    """It is asked for once while it is good."""
    assert [token_of(by(issuer)), token_of(by(issuer))] == ["token-1"] * 2
    assert ASKED == [("us:secret", "grant_type=client_credentials&scope=kafka")]


def test_a_token_that_is_not_given_is_one_sentence(issuer: str) -> None:
    """With the endpoint and the client, and without the secret."""
    with pytest.raises(ClusterError, match=r"expected a token for us; got 401") as raised:
        token_of(by(issuer, secret="guessed"))
    assert "guessed" not in str(raised.value)


@pytest.mark.parametrize(
    ("security", "first"),
    [
        ({"sasl.mechanism": "PLAIN", "sasl.username": "us", "sasl.password": "word"}, b"\0us\0word"),
        ({"sasl.mechanism": "OAUTHBEARER"}, b"n,,\x01auth=Bearer a-token\x01\x01"),
    ],
)
def test_a_login_in_one_message(monkeypatch: pytest.MonkeyPatch, security: dict[str, str], first: bytes) -> None:
    """After the handshake about its mechanism."""
    sent: list[Any] = []

    def exchange(_connection: object, asked: Any, answer: Any, _deadline: float) -> Any:
        sent.append(asked)
        if answer is request.SaslHandshakeResponse:
            return answer(error_code=request.ErrorCode.none, mechanisms=())
        return answer(
            error_code=request.ErrorCode.none, error_message=None, auth_bytes=b"", session_lifetime=_no_end(answer)
        )

    monkeypatch.setattr(request, "_exchange", exchange)
    monkeypatch.setattr(request, "token_of", lambda _: "a-token")
    request._authenticate(object(), security, 0)  # type: ignore[arg-type]  # nothing is dialled
    assert [sent[0].mechanism, sent[1].auth_bytes] == [security["sasl.mechanism"], first]
    assert bearer("a-token").startswith(b"n,,")


def _no_end(answer: Any) -> Any:
    """A session that does not end, in the type of the answer."""
    return answer.__dataclass_fields__["session_lifetime"].default
