"""An operator who does to his nodes what a script asks of him."""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pytest_kmigrate.model.links import Arrived, Disturbance
from pytest_kmigrate.providers.owned.cluster import OwnedCluster

SCRIPT = Path(__file__).with_name("operator_script.py")


class Hands:
    """What the operator does, by the words of the script."""

    def __init__(self, cluster: OwnedCluster) -> None:
        self.url = ""
        """Where the script asks."""
        self.done: list[str] = []
        """Actions, as they were asked for."""
        self._cluster = cluster
        self._cuts: dict[str, tuple[ExitStack, Callable[[], Arrived | None]]] = {}

    def do(self, action: str, name: str, *more: str) -> str:
        """One action on one node; what the script prints."""
        self.done.append(" ".join([action, name, *more[:1]]))
        node = self._cluster.node(name)
        match action:
            case "start" | "stop" | "kill" | "pause" | "resume":
                getattr(node, action)()
            case "reconfigure":
                pairs = [line.partition("=") for line in Path(more[0]).read_text().splitlines()]
                node.reconfigure({key: value if equals else None for key, equals, value in pairs})
            case "cut":
                links, cut = self._cluster.links, ExitStack()
                arrived = cut.enter_context(links.disturb(links.between([more[0]], [name]), Disturbance("cut")))
                self._cuts[f"{more[0]} {name}"] = cut, arrived
            case "heal":
                self._cuts.pop(f"{more[0]} {name}")[0].close()
            case "arrived":
                so_far = self._cuts[f"{more[0]} {name}"][1]()
                return str(so_far.size_bytes if so_far else 0)
            case _:
                raise ValueError(action)
        return "done"


@contextmanager
def hands_of(cluster: OwnedCluster) -> Iterator[tuple[Hands, Mapping[str, str]]]:
    """The operator at work, and the commands of ``[hooks]`` by action, as TOML."""
    hands = Hands(cluster)

    class Asked(_Quiet):
        def do_POST(self) -> None:
            """Do it; what goes wrong is said with status 500."""
            words = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                self.answer(200, hands.do(*words))
            except Exception as error:  # noqa: BLE001 - the script fails by whatever it is
                self.answer(500, f"{type(error).__name__}: {error}")

    with serving(Asked) as hands.url:
        of_node = dict.fromkeys(("start", "stop", "kill", "pause", "resume"), "")
        of_link = dict.fromkeys(("cut", "heal", "arrived"), ', "{source}"')
        more = {**of_node, **of_link, "reconfigure": ', "{file}"'}
        begins = f'"{sys.executable}", "-I", "{SCRIPT}", "{hands.url}"'
        yield hands, {action: f'[{begins}, "{action}", "{{name}}"{rest}]' for action, rest in more.items()}


class _Quiet(BaseHTTPRequestHandler):
    def answer(self, status: int, text: str) -> None:
        """Send this text."""
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:  # type: ignore[override]
        """Say nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server in this process; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
