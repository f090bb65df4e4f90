"""The watcher reports every state it meets once, and goes on after a lost session."""

from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from kazoo.client import KazooState
from kazoo.exceptions import ConnectionLoss, KazooException, NoNodeError

from pytest_kmigrate.model.history import ZnodeChange
from pytest_kmigrate.probes.znode_watcher import ZnodeWatcher


class Done:
    """A finished asynchronous result."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        """The value, or the error."""
        if isinstance(self.value, KazooException):
            raise self.value
        return self.value

    def rawlink(self, callback: Callable[["Done"], None]) -> None:
        """Called back at once."""
        callback(self)


class FakeZookeeper:
    """Znodes with versions and one-shot watches; a lost session forgets the watches, as the real one does."""

    def __init__(self) -> None:
        self.nodes: dict[str, tuple[bytes, int, list[str]]] = {}
        self.owners: dict[str, int] = {}
        self.watches: defaultdict[str, list[Callable[[Any], None]]] = defaultdict(list)
        self.listeners: list[Callable[[str], None]] = []
        self.up = True

    def add_listener(self, listener: Callable[[str], None]) -> None:
        """Remember it."""
        self.listeners.append(listener)

    def remove_listener(self, listener: Callable[[str], None]) -> None:
        """Forget it."""
        self.listeners.remove(listener)

    def get_async(self, path: str, watch: Callable[[Any], None]) -> Done:
        """Data and stat; the watch stays only when the node exists."""
        data, version, _ = self.nodes.get(path, (b"", -1, []))
        stat = SimpleNamespace(version=version, mzxid=version, ephemeralOwner=self.owners.get(path, 0))
        return self._answer(path, watch, (data, stat))

    def exists_async(self, path: str, watch: Callable[[Any], None]) -> Done:
        """None when absent, and the watch stays."""
        return Done(ConnectionLoss()) if not self.up else self._watched(path, watch, self.nodes.get(path))

    def get_children_async(self, path: str, watch: Callable[[Any], None]) -> Done:
        """Names below."""
        return self._answer(path, watch, self.nodes.get(path, (b"", 0, []))[2])

    def _answer(self, path: str, watch: Callable[[Any], None], value: Any) -> Done:
        if not self.up:
            return Done(ConnectionLoss())
        return self._watched(path, watch, value) if path in self.nodes else Done(NoNodeError())

    def _watched(self, path: str, watch: Callable[[Any], None], value: Any) -> Done:
        if watch not in self.watches[path]:
            self.watches[path].append(watch)
        return Done(value)

    def put(self, path: str, data: bytes | None, children: tuple[str, ...] = ()) -> None:
        """Set (None: delete) a node and fire its watches."""
        version = self.nodes[path][1] + 1 if path in self.nodes else 0
        if data is None:
            del self.nodes[path]
        else:
            self.nodes[path] = (data, version, list(children))
        for watch in self.watches.pop(path, []):
            watch(SimpleNamespace(path=path))

    def lose_session(self) -> None:
        """No connection and no watches; each watch hears so without a path."""
        self.up = False
        lost = [watch for watches in self.watches.values() for watch in watches]
        self.watches.clear()
        for watch in lost:
            watch(SimpleNamespace(path=None))

    def reconnect(self) -> None:
        """Up again, in a new session."""
        self.up = True
        for listener in self.listeners:
            listener(KazooState.CONNECTED)


def watching(client: FakeZookeeper) -> tuple[ZnodeWatcher, list[ZnodeChange]]:
    """A started watcher of one data path and one path with children; its clock counts the reports."""
    seen: list[ZnodeChange] = []
    watcher = ZnodeWatcher(client, seen.append, lambda: len(seen), ["/controller", "/ids/*"])
    watcher.start()
    return watcher, seen


def data(seen: list[ZnodeChange], path: str = "/controller") -> list[str | None]:
    """What a path was reported to hold."""
    return [change.data for change in seen if change.path == path]


def test_each_state_is_told_once_in_order() -> None:
    """Absent, created, changed, deleted and created again, with version and time."""
    client = FakeZookeeper()
    _, seen = watching(client)
    for content in (b"1", b"2", None, b"3"):
        client.put("/controller", content)
    assert data(seen) == [None, "1", "2", None, "3"]
    assert [change.version for change in seen if change.path == "/controller"] == [-1, 0, 1, -1, 0]
    assert [change.at_ns for change in seen] == list(range(len(seen)))


def test_what_goes_with_a_session_is_told_as_such() -> None:
    """ZooKeeper says which session owns a znode; one that is not there is neither."""
    client = FakeZookeeper()
    client.owners["/controller"] = 0x1000
    _, seen = watching(client)
    client.put("/controller", b"1")
    client.put("/controller", None)
    client.owners.clear()
    client.put("/controller", b"2")
    assert [change.is_ephemeral for change in seen if change.path == "/controller"] == [None, True, None, False]


def test_children_are_told_with_their_parent() -> None:
    """Also when the parent comes into being later."""
    client = FakeZookeeper()
    _, seen = watching(client)
    client.put("/ids", b"", ("2", "1"))
    client.put("/ids", b"", ("2",))
    assert [change.children for change in seen if change.path == "/ids"] == [(), ("1", "2"), ("2",)]


def test_changes_go_on_after_a_lost_session() -> None:
    """What happened meanwhile is reported at the reconnection, once, and new watches are set."""
    client = FakeZookeeper()
    client.put("/controller", b"1")
    _, seen = watching(client)
    client.lose_session()
    client.nodes["/controller"] = (b"2", 7, [])
    client.reconnect()
    client.put("/controller", b"3")
    assert data(seen) == ["1", "2", "3"]
    assert data(seen, "/ids") == [None], "an unchanged path is not reported again"


def test_a_secret_in_a_znode_is_not_told() -> None:
    """Reports go to the run folder."""
    client = FakeZookeeper()
    _, seen = watching(client)
    client.put("/controller", b'{"ssl.key.password":"hunter2"}')
    assert "hunter2" not in str(seen)


def test_nothing_is_told_after_stop() -> None:
    """A stopped watcher is silent, also when the session comes back."""
    client = FakeZookeeper()
    watcher, seen = watching(client)
    watcher.stop()
    client.put("/controller", b"1")
    client.reconnect()
    assert data(seen) == [None]
