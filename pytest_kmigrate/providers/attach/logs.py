"""What the nodes of a standing cluster log from now on, copied into the run folder without secrets."""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.attach.commands import begun, end, not_zero, ran
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.redaction import redacted

_TRIED_FOR_S = 2.0
_AGAIN_AFTER_S = 1.0


def command_for(site: Site, node: str) -> list[str]:
    """What prints the lines of a node's log from now on, to its end; of a file, also after it was put aside."""
    logs = site.file.logs
    assert logs is not None, "who has no logs is not asked for them"
    if logs.command is not None:
        return [site.filled(word, node) for word in logs.command]
    return ["tail", "-n", "0", "-F", site.filled(logs.file or "", node)]


def try_logs(site: Site) -> str:
    """The log of each broker can be read, in words; ClusterError where it cannot. A controller may come later."""
    brokers = [spec.name for spec in site.topology.of_role(Role.BROKER)]
    with ThreadPoolExecutor(len(brokers)) as pool:
        list(pool.map(lambda node: _try(site, node), brokers))
    return f"those of {', '.join(brokers)} can be read"


def _try(site: Site, node: str) -> None:
    file = site.file.logs.file if site.file.logs else None
    if file is not None:
        path = site.filled(file, node)
        if not (Path(path).is_file() and os.access(path, os.R_OK)):
            raise ClusterError(f"logs.file: expected a file that can be read for {node}; got {path}")
        return
    command = command_for(site, node)
    status, words = ran(command, _TRIED_FOR_S)
    if status:
        raise ClusterError(f"logs.command of {node}: {not_zero(command, status, words)}")


@contextmanager
def copied(site: Site, logs: Mapping[str, Path]) -> Iterator[None]:
    """Copy while the block runs; ``logs`` are the files of nodes by name."""
    over = threading.Event()
    followers = [_Follower(command_for(site, node), log, over) for node, log in logs.items()]
    for each in followers:
        each.start()
    try:
        yield
    finally:
        over.set()
        for each in followers:
            each.end()


class _Follower:
    """Copies one log, in a thread of its own: what prints it dies with the thread."""

    def __init__(self, command: Sequence[str], log: Path, over: threading.Event) -> None:
        self._command = bound_to_us(command)
        self._log = log
        self._over = over
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._follow, name=f"log of {log.parent.name}")

    def start(self) -> None:
        """Begin."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def end(self) -> None:
        """Return when nothing more is copied."""
        while self._thread.is_alive():
            if self._process is not None:
                end(self._process)
            self._thread.join(_AGAIN_AFTER_S)

    def _follow(self) -> None:
        with self._log.open("a", encoding="utf-8") as copy:
            while not self._over.is_set():
                with begun(self._command, subprocess.PIPE, subprocess.DEVNULL) as self._process:
                    for line in self._process.stdout or ():
                        copy.write(redacted(line.decode("utf-8", "replace")))
                        copy.flush()
                self._over.wait(_AGAIN_AFTER_S)
