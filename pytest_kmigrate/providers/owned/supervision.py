"""Our end of the supervisor: spawn a process, learn when it ends, end everything."""

import contextlib
import json
import logging
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar, cast

from pytest_kmigrate.distributions.java import java_environment
from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError, HarnessLostError
from pytest_kmigrate.model.protocols import Stood
from pytest_kmigrate.providers.owned import supervisor
from pytest_kmigrate.providers.owned.commands import Command

ON_EXIT = Callable[[int], None]
Ended = TypeVar("Ended", int, str)
_GONE = "the supervisor of this cluster has ended, and its nodes with it"
_NONE: dict[str, object] = {}
"""Stands for the answer of a supervisor that is gone."""


class Supervision:
    """One supervisor process; safe to call from several threads."""

    def __init__(
        self, scratch: Path, held: Sequence[int] = (), on_loss: Callable[[str], None] = lambda _: None
    ) -> None:
        """Start the supervisor; it inherits the locks ``held``, which stay taken until the last child died.

        ``on_loss`` gets how it ended, if it ends before ``end`` is called; its children are then dead.
        """
        scratch.mkdir(parents=True, exist_ok=True)
        self.is_lost = False
        """Whether it crashed or was killed, and its children with it."""
        self._scratch = scratch
        self._on_loss = on_loss
        self._is_ending = False
        self._adopted: list[int] = []
        self._labels: list[tuple[Path, str]] = []
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as it runs
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(supervisor.__file__), str(scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,  # a reader of ours would wait for the end of a kept cluster
            start_new_session=True,
            pass_fds=held,
            env=java_environment(),
        )
        self.pid = self._process.pid
        self._orders = threading.Lock()
        self._answers: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()
        self._state = threading.Lock()
        self._on_exit: dict[int, ON_EXIT] = {}
        self._exited: dict[int, int] = {}
        self._listening = threading.Thread(target=self._listen, name="supervision", daemon=True)
        self._listening.start()

    def spawn(self, command: Command, *, cwd: Path, log: Path, on_exit: ON_EXIT) -> int:
        """Start a process; ``on_exit`` gets its exit code (negative: the signal) from another thread."""
        answer = self._order({"do": "spawn", "argv": list(command.argv), "cwd": str(cwd), "log": str(log)})
        if "pid" not in answer:
            raise EnvironmentLackError(f"cannot start {command.argv[0]}: {answer.get('error')}")
        pid = cast("int", answer["pid"])
        with self._state:
            already = self._exited.pop(pid, None)
            if already is None:
                self._on_exit[pid] = on_exit
        if already is not None:
            on_exit(already)
        return pid

    def adopt(self, pid: int) -> None:
        """Let the supervisor kill that child of ours too, when everything ends."""
        self._adopted.append(os.pidfd_open(pid))
        self._order({"do": "adopt", "pid": pid})

    def hold(self, engine: Path, container: str, label: str) -> None:
        """Let a container end with the supervisor, and all that has this label at the engine go with the rest."""
        self._labels.append((engine, label))
        answer = self._order({"do": "hold", "engine": str(engine), "container": container, "label": label})
        if "error" in answer:
            raise ClusterError(f"the container engine at {engine} does not let us hold a container: {answer['error']}")

    def keep(self) -> None:
        """Let the cluster outlive us; ``kmigrate down`` ends it."""
        self._order({"do": "keep"})

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to a process that this supervisor owns; nothing when it has ended."""
        with self._state:
            if pid in self._on_exit:
                with contextlib.suppress(ProcessLookupError):  # reaped, and not announced yet
                    os.kill(pid, number)

    @contextlib.contextmanager
    def starved(self, pid: int, percent: int) -> Iterator[Callable[[], Stood]]:
        """Have the supervisor let a process run for so much of the time only."""
        self._order({"do": "starve", "pid": pid, "percent": percent})
        try:
            yield lambda: self._stood(pid)
        finally:
            self._order({"do": "feed", "pid": pid})

    def _stood(self, pid: int) -> Stood:
        answer = self._order({"do": "stood", "pid": pid})
        return Stood(int(str(answer["times"])), int(str(answer["ms"])))

    def end(self) -> None:
        """Kill every process, remove the scratch folder; returns when all are reaped. Safe to call twice."""
        self._is_ending = True
        with self._state:
            self._on_exit.clear()  # what ends now ends because we want it to: it did not crash
        with self._orders:
            if self._process.stdin and not self._process.stdin.closed:
                with contextlib.suppress(BrokenPipeError):  # it has ended already, an order to it was never read
                    self._process.stdin.close()
        self._process.wait()
        self._listening.join()
        if self._process.stdout:
            self._process.stdout.close()
        if self._process.returncode != 0:
            self._do_its_work()
        for held in self._adopted:
            os.close(held)
        self._adopted.clear()

    def _do_its_work(self) -> None:
        """End what a supervisor that was killed, or failed, has left: its own children died with it."""
        for held in self._adopted:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(held, signal.SIGKILL)
        for engine, label in self._labels:
            supervisor.Labelled(str(engine), label).remove()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _order(self, order: dict[str, object]) -> dict[str, object]:
        with self._orders:
            stdin = self._process.stdin
            assert stdin is not None
            try:
                stdin.write(json.dumps(order).encode() + b"\n")
                stdin.flush()
            except (BrokenPipeError, ValueError) as error:
                raise HarnessLostError(_GONE) from error
            answer = self._answers.get()
        if answer is _NONE:
            raise HarnessLostError(_GONE)
        return answer

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if "exited" not in said:
                self._answers.put(said)
                continue
            with self._state:
                on_exit = self._on_exit.pop(said["exited"], None)
                if on_exit is None:
                    self._exited[said["exited"]] = said["code"]
            _tell(on_exit, said["code"])
        if not self._is_ending:
            self.is_lost = True
            _tell(self._on_loss, f"exit code {self._process.wait()}")
        self._answers.put(_NONE)
        self._tell_last_words()
        with self._state:
            orphans, self._on_exit = self._on_exit, {}
        for on_exit in orphans.values():
            _tell(on_exit, -signal.SIGKILL)  # the kernel has killed them with their parent

    def _tell_last_words(self) -> None:
        with self._said as said:
            said.seek(0)
            if words := said.read().decode(errors="replace").strip():
                logging.getLogger(__name__).error("the supervisor failed:\n%s", words)


def _tell(listener: Callable[[Ended], None] | None, ended: Ended) -> None:
    if listener is None:
        return
    try:
        listener(ended)
    # One listener's mistake must not make us deaf for the end of every other process.
    except Exception:
        logging.getLogger(__name__).exception("reporting a process's end failed")
