"""Requests to nodes go past a proxy that the environment names."""

import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import pytest_kmigrate
from pytest_kmigrate.past_proxies import opened


@pytest.fixture
def node() -> Iterator[str]:
    """The address of something that answers."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"here")

        def log_message(self, *_: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_a_proxy_is_not_asked(node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own way would go to it, and never reach the node."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setattr(urllib.request, "_opener", None)  # another test may have had one made, without a proxy
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(node, timeout=5)
    with opened(node, 5) as answer:
        assert answer.read() == b"here"


_OUTSIDE = ["oauth.py"]
"""Asks an issuer of tokens, which is no node and may lie behind a proxy, as librdkafka does."""


def test_nothing_of_ours_asks_a_node_in_another_way() -> None:
    """``requests`` is used by the library of Toxiproxy alone, which gets no proxies."""
    package = Path(pytest_kmigrate.__file__).parent
    sources = {file: file.read_text() for file in package.rglob("*.py")}
    asks = re.compile(r"urlopen\(|urlretrieve\(|^\s*(import|from) (requests|urllib3|httpx)\b", re.MULTILINE)
    assert [file.name for file, text in sources.items() if asks.search(text)] == _OUTSIDE
