"""Every container of one cluster: nodes that are started and end, tools that run, and the root that all end with.

The root's process is the first one of the PID namespace that all others join, and ends with its standard input. The
supervisor holds the other end: whatever ends the supervisor, the kernel then kills every process of the cluster.
"""

import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.protocols import Stood
from pytest_kmigrate.providers.docker.addresses import BridgeAddresses
from pytest_kmigrate.providers.docker.engine import EMPTY_ROOT, Engine, EngineLostError
from pytest_kmigrate.providers.docker.mounts import Mounts
from pytest_kmigrate.providers.owned.commands import Command
from pytest_kmigrate.providers.owned.supervision import ON_EXIT, Supervision

_INTO_LOG = ("/bin/sh", "-c", 'exec "$@" >>"$0" 2>&1')
_KILLED = 128 + signal.SIGKILL
USER = f"{os.getuid()}:{os.getgid()}"
"""Files that nodes write are to be ours."""


@dataclass(frozen=True)
class Site:
    """Where the containers of one cluster are: network, root, labels, what each has mounted."""

    network: str
    root: str
    labels: dict[str, str]
    addresses: BridgeAddresses
    mounts: Mounts


class Containers:
    """Implements ``Supervised`` by an engine; ends with its supervisor."""

    def __init__(self, engine: Engine, supervision: Supervision, site: Site, recorder: Recorder) -> None:
        self.pid = supervision.pid
        self._engine = engine
        self._supervision = supervision
        self._site = site
        self._recorder = recorder
        self._state = threading.Lock()
        self._running: dict[int, str] = {}
        self._waiting: list[threading.Thread] = []
        self._is_over = False
        self._is_lost = False

    @property
    def is_lost(self) -> bool:
        """Whether the supervisor is gone, and with it the root that all others end with."""
        return self._supervision.is_lost

    def spawn(self, command: Command, *, cwd: Path, log: Path, on_exit: ON_EXIT) -> int:
        """Start the node that has this folder; ``on_exit`` gets its exit code (negative: the signal) later."""
        node, site = cwd.name, self._site
        container = self._created(
            replace(command, argv=(*_INTO_LOG, str(log.absolute()), *command.argv)),
            (site.network, site.addresses.real(node)),
            hostname=node,
            working_dir=str(cwd.absolute()),
            LogConfig={"Type": "none"},
        )
        with self._reporting_loss():
            pid = self._engine.start(container)
        with self._state:
            self._running[pid] = container
        thread = threading.Thread(
            target=self._await, args=(container, pid, on_exit), name=f"end of {node}", daemon=True
        )
        self._waiting.append(thread)
        thread.start()
        return pid

    def run(self, command: Command, within_s: float) -> subprocess.CompletedProcess[str]:
        """Run a tool to its end in a container of its own; subprocess.TimeoutExpired."""
        container = self._created(command, None, NetworkMode=f"container:{self._site.root}")
        with self._reporting_loss():
            try:
                self._engine.start(container)
                code = self._engine.exit_code(container, within_s)
                return subprocess.CompletedProcess(command.argv, code, self._engine.said(container))
            except TimeoutError as late:
                raise subprocess.TimeoutExpired(command.argv, within_s) from late
            finally:
                self._engine.remove(container)

    def start_beside(self, argv: Sequence[str], log: Path, on_exit: Callable[[int], None]) -> None:
        """Start a program in the root's container, such as that of the links' proxies."""

        def until_it_ends() -> None:
            try:
                code = self._engine.run_in(self._site.root, [*_INTO_LOG, str(log.absolute()), *argv], USER)
            except ClusterError as error:
                self._lost(error)
                return
            if not self._is_over:
                on_exit(code)

        thread = threading.Thread(target=until_it_ends, name="links", daemon=True)
        self._waiting.append(thread)
        thread.start()

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to a node; nothing when it has ended."""
        with self._state:
            container = self._running.get(pid)
        if container is not None:
            with self._reporting_loss():
                self._engine.signal(container, number)

    def starved(self, pid: int, percent: int) -> AbstractContextManager[Callable[[], Stood]]:
        """Not offered, so never called: the engine's own signals are too slow for it."""
        raise NotImplementedError

    def adopt(self, pid: int) -> None:
        """Let that child of ours end with the cluster."""
        self._supervision.adopt(pid)

    def end(self) -> None:
        """End everything; returns when nothing is left."""
        self._is_over = True
        self._supervision.end()
        for thread in self._waiting:
            thread.join()
        self._engine.close()

    def keep(self) -> None:
        """Let the cluster outlive us; ``kmigrate down`` ends it."""
        self._is_over = True
        self._supervision.keep()

    def _created(self, command: Command, address: tuple[str, str] | None, **options: object) -> str:
        site = self._site
        with self._reporting_loss():
            return self._engine.create(
                command.image or EMPTY_ROOT,
                command.argv,
                address,
                user=USER,
                environment=dict(command.environment),
                labels=site.labels,
                PidMode=f"container:{site.root}",
                CapDrop=["ALL"],
                **site.mounts.options(has_system=command.image is not None),
                **options,
            )

    @contextmanager
    def _reporting_loss(self) -> Iterator[None]:
        try:
            yield
        except EngineLostError as error:
            self._lost(error)
            raise

    def _lost(self, error: ClusterError) -> None:
        """An engine that is gone is trouble of ours: nothing is known of the nodes, which may run on."""
        with self._state:
            is_new, self._is_lost = not (self._is_lost or self._is_over), True
        if is_new:
            self._recorder.record(HarnessTrouble("the container engine is gone", str(error), lost="engine"))

    def _await(self, container: str, pid: int, on_exit: ON_EXIT) -> None:
        """Until the node has ended and its address is free again."""
        try:
            code = self._engine.exit_code(container)
            self._engine.remove(container)
        except ClusterError as error:
            self._lost(error)
            return
        with self._state:
            self._running.pop(pid, None)
        if self._is_over:
            return
        try:
            on_exit(-signal.SIGKILL if code == _KILLED else code)
        # One listener's mistake must not end the wait silently.
        except Exception:
            logging.getLogger(__name__).exception("reporting a container's end failed")
