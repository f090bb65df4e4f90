"""Requests by HTTP to nodes: past every proxy that the environment names, which knows no loopback addresses."""

import urllib.request
from http.client import HTTPResponse
from typing import cast

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def opened(url: str, within_s: float) -> HTTPResponse:
    """The answer of ``url``, to be closed; OSError or HTTPException, as of ``urlopen``."""
    return cast("HTTPResponse", _DIRECT.open(url, timeout=within_s))
