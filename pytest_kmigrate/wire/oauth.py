"""Tokens of OAUTHBEARER for raw requests: had by client credentials, as librdkafka's method ``oidc`` has them."""

import base64
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.redaction.known import learn

METHOD, CLIENT_ID, CLIENT_SECRET, ENDPOINT, SCOPE = (
    f"sasl.oauthbearer.{each}" for each in ("method", "client.id", "client.secret", "token.endpoint.url", "scope")
)
"""librdkafka's names of what a token is had by."""
_ANSWER_WITHIN_S = 10
_SPARE_S = 30
_LIFE_S = 300
"""What a token is taken to live whose issuer does not say."""
_kept: dict[tuple[str, str, str], tuple[float, str]] = {}
_keeping = threading.Lock()


def token_of(security: Mapping[str, str]) -> str:
    """A token that is valid for a while; ClusterError when the endpoint gives none."""
    asked = security[ENDPOINT], security[CLIENT_ID], security.get(SCOPE, "")
    with _keeping:
        until_s, token = _kept.get(asked, (0.0, ""))
        if time.monotonic() >= until_s:
            token, life_s = _fetched(security)
            learn((token,))
            _kept[asked] = time.monotonic() + max(0, life_s - _SPARE_S), token
        return token


def bearer(token: str) -> bytes:
    """The client's only message (RFC 7628)."""
    return f"n,,\x01auth=Bearer {token}\x01\x01".encode()


def _fetched(security: Mapping[str, str]) -> tuple[str, float]:
    scope = {"scope": security[SCOPE]} if security.get(SCOPE) else {}
    body = urllib.parse.urlencode({"grant_type": "client_credentials", **scope}).encode()
    login = base64.b64encode(f"{security[CLIENT_ID]}:{security[CLIENT_SECRET]}".encode()).decode()
    request = urllib.request.Request(security[ENDPOINT], body, {"Authorization": f"Basic {login}"})  # noqa: S310 - http(s)
    try:
        with urllib.request.urlopen(request, timeout=_ANSWER_WITHIN_S) as answer:  # noqa: S310 - as above
            held = json.loads(answer.read())
        return str(held["access_token"]), float(held.get("expires_in", _LIFE_S))
    except urllib.error.HTTPError as error:
        error.close()
        text = f"{security[ENDPOINT]}: expected a token for {security[CLIENT_ID]}; got {error.code} {error.reason}"
        raise ClusterError(text) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(
            f"{security[ENDPOINT]}: expected a token for {security[CLIENT_ID]}; got {error!r}"
        ) from error
