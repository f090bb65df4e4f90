"""Watches a few znodes and reports every change, with what they hold afterwards."""

import threading
from collections.abc import Callable, Iterable

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.interfaces import IAsyncResult
from kazoo.protocol.states import WatchedEvent, ZnodeStat

from pytest_kmigrate.model.history import ZnodeChange
from pytest_kmigrate.redaction import redacted

_AND_CHILDREN = "/*"


class ZnodeWatcher:
    """Keeps watches on paths of a started client and reports each state it has not reported before.

    Of a path that ends with ``/*`` it reports the names of the children, too.
    The first report of a path is what it holds at ``start``, also when that is nothing. ZooKeeper's watches fire once
    and carry no data, so of two changes in quick succession only the second may be seen; the versions show it. After a
    lost connection or session everything is looked at again. Reports come on kazoo's threads, one at a time.
    """

    def __init__(
        self,
        client: KazooClient,
        report: Callable[[ZnodeChange], None],
        now_ns: Callable[[], int],
        paths: Iterable[str],
    ) -> None:
        self._client = client
        self._report = report
        self._now_ns = now_ns
        chosen = tuple(paths)
        self._with_children = {each.removesuffix(_AND_CHILDREN) for each in chosen if each.endswith(_AND_CHILDREN)}
        self._paths = tuple(dict.fromkeys(each.removesuffix(_AND_CHILDREN) for each in chosen))
        self._last: dict[str, tuple[str | None, int, int, tuple[str, ...]]] = {}
        self._lock = threading.Lock()
        self._watching = False

    def start(self) -> None:
        """Look at every path and watch it from now on."""
        self._watching = True
        self._client.add_listener(self._on_state)
        self._look_at_all()

    def stop(self) -> None:
        """Report nothing any more; the client stays as it is."""
        self._watching = False
        self._client.remove_listener(self._on_state)

    def _on_state(self, state: str) -> None:
        # Runs on the connection's own thread, where nothing may block: the looks are only sent from here.
        if state == KazooState.CONNECTED:
            self._look_at_all()

    def _look_at_all(self) -> None:
        for path in self._paths:
            self._look(path)

    def _on_event(self, event: WatchedEvent) -> None:
        if event.path is not None:  # without one the session changed, and the state listener looks at everything
            self._look(event.path)

    def _look(self, path: str) -> None:
        if self._watching:
            self._client.get_async(path, watch=self._on_event).rawlink(lambda result: self._on_data(path, result))

    def _on_data(self, path: str, result: IAsyncResult) -> None:
        try:
            data, stat = result.get()
        except NoNodeError:
            self._client.exists_async(path, watch=self._on_event).rawlink(lambda found: self._on_absent(path, found))
        except KazooException:  # connection or session trouble: the listener looks again once connected
            return
        else:
            self._on_node(path, (data or b"").decode("utf-8", "replace"), stat)

    def _on_absent(self, path: str, result: IAsyncResult) -> None:
        try:
            came_meanwhile = result.get() is not None
        except KazooException:  # as above
            return
        if came_meanwhile:
            self._look(path)
        else:
            self._tell(path, None, None, ())

    def _on_node(self, path: str, data: str, stat: ZnodeStat) -> None:
        if path not in self._with_children:
            self._tell(path, data, stat, ())
            return
        asked = self._client.get_children_async(path, watch=self._on_event)
        asked.rawlink(lambda result: self._on_children(path, data, stat, result))

    def _on_children(self, path: str, data: str, stat: ZnodeStat, result: IAsyncResult) -> None:
        try:
            children = tuple(sorted(result.get()))
        except NoNodeError:
            self._look(path)
        except KazooException:  # as above
            return
        else:
            self._tell(path, data, stat, children)

    def _tell(self, path: str, data: str | None, stat: ZnodeStat | None, children: tuple[str, ...]) -> None:
        version, mzxid = (stat.version, stat.mzxid) if stat else (-1, -1)
        is_ephemeral = stat.ephemeralOwner != 0 if stat else None
        with self._lock:
            state = (data, version, mzxid, children)
            if not self._watching or self._last.get(path) == state:
                return
            self._last[path] = state
            shown = None if data is None else redacted(data)
            self._report(ZnodeChange(self._now_ns(), path, shown, version, mzxid, children, is_ephemeral))
