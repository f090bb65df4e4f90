"""The supervisor: a small process of its own that owns every process of one cluster and outlives pytest by moments.

Run as ``python -I supervisor.py SCRATCH``; it needs nothing but the standard library. Orders come as JSON lines on
standard input, one at a time, and each is answered by a JSON line on standard output; the end of any child is
announced there too. When standard input ends (pytest is gone, however) or SIGTERM comes, every child is killed and
reaped and SCRATCH is removed. Children are also tied to this process by the kernel (PR_SET_PDEATHSIG), so that
killing the supervisor kills them.

Orders: {"do": "spawn", "argv": [...], "cwd": dir, "log": file} -> {"pid": n} | {"error": text}
        {"do": "adopt", "pid": n} -> {}       a child of pytest, killed with the rest if it still runs then
        {"do": "hold", "engine": socket, "container": id, "label": text} -> {} | {"error": text}
                                              the container's standard input, which ends with this process; all that
                                              has the label is removed with the rest
        {"do": "starve", "pid": n, "percent": p} -> {}
                                              a child runs for so much of the time only, and stands still for the rest
        {"do": "feed", "pid": n} -> {}        it runs all the time again
        {"do": "stood", "pid": n} -> {"times": n, "ms": n}
        {"do": "keep"} -> {}                  the end of standard input shall not end the cluster
Announcements: {"exited": pid, "code": n}     negative: the signal
"""

import ctypes
import http.client
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class Labelled:
    """All that has a label at an engine."""

    def __init__(self, engine: str, label: str) -> None:
        self.engine = engine
        self.filters = urllib.parse.quote(json.dumps({"label": [label]}))
        self.label = label

    def remove(self) -> None:
        """Remove it; what an engine that does not answer keeps is written to stderr."""
        try:
            containers = self._asked("GET", f"/containers/json?all=1&filters={self.filters}")
            removing = [
                threading.Thread(target=self._removed, args=(f"/containers/{each['Id']}?force=1&v=1",))
                for each in containers
            ]
            for thread in removing:
                thread.start()
            for thread in removing:
                thread.join()
            for network in self._asked("GET", f"/networks?filters={self.filters}"):
                self._removed(f"/networks/{network['Id']}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            sys.stderr.write(
                f"{self.engine} does not answer ({error}): what has the label {self.label} stays there; "
                "`kmigrate gc` removes it when the engine is back\n"
            )

    def _removed(self, path: str) -> None:
        with suppress(OSError, http.client.HTTPException):  # what stays is found by its label
            self._asked("DELETE", path)

    def _asked(self, method: str, path: str) -> list[dict[str, str]]:
        connection = http.client.HTTPConnection("engine", timeout=30)
        connection.sock = self._connected()
        try:
            connection.request(method, path)
            answer = connection.getresponse().read()
        finally:
            connection.close()
        return list(json.loads(answer)) if method == "GET" else []

    def _connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(30)
        connection.connect(self.engine)
        return connection


class Held(Labelled):
    """The standard input of one container, and all that has a label at its engine; OSError when it does not answer."""

    def __init__(self, engine: str, container: str, label: str) -> None:
        super().__init__(engine, label)
        self.stdin = self._connected()
        path = f"/containers/{container}/attach?stream=1&stdin=1"
        self.stdin.sendall(
            f"POST {path} HTTP/1.1\r\nHost: engine\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n".encode()
        )
        answer = self.stdin.recv(4096)
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise ValueError(answer.decode(errors="replace").strip())

    def remove(self) -> None:
        """End the container and with it all that are in its PID namespace, then remove what has the label."""
        self.stdin.close()
        super().remove()


class Starved:
    """A child that is stopped and continued many times a second."""

    PERIOD_S = 0.1

    def __init__(self, pid: int, percent: int) -> None:
        self.pid = pid
        self.runs_s = self.PERIOD_S * percent / 100
        self.times = 0
        self.stood_s = 0.0
        self.is_over = False
        self._stopped_at: float | None = None
        self.next_at = time.monotonic()

    def turn(self) -> None:
        """Stop it, or let it go on, if it is time to."""
        now = time.monotonic()
        if self.is_over or now < self.next_at:
            return
        if self._stopped_at is None:
            self._signal(signal.SIGSTOP)
            self._stopped_at, self.times = now, self.times + 1
            self.next_at = now + self.PERIOD_S - self.runs_s
        else:
            self._go_on(now)
            self.next_at = now + self.runs_s

    def end(self) -> None:
        """It runs all the time again."""
        self.is_over = True
        self._go_on(time.monotonic())

    def _go_on(self, now: float) -> None:
        if self._stopped_at is not None:
            self._signal(signal.SIGCONT)
            self.stood_s += now - self._stopped_at
            self._stopped_at = None

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


class Supervisor:
    """The children, the adopted, and what to remove at the end.

    An adopted process is held by a pidfd: it is not ours to reap, so by the end its number may be another process's.
    One that leads a group takes the group with it.
    """

    def __init__(self, scratch: str) -> None:
        self.scratch = scratch
        self.children: dict[int, subprocess.Popen[bytes]] = {}
        self.adopted: list[tuple[int, int]] = []
        self.held: list[Held] = []
        self.starved: dict[int, Starved] = {}
        self.keep = False

    def obey(self, order: dict[str, object]) -> dict[str, object]:
        """Carry out one order and return the answer."""
        if order["do"] == "spawn":
            return self._spawn(order)
        if order["do"] == "adopt":
            self._adopt(int(str(order["pid"])))
            return {}
        if order["do"] == "hold":
            return self._hold(order)
        if order["do"] in ("starve", "feed", "stood"):
            return self._starve(str(order["do"]), int(str(order["pid"])), int(str(order.get("percent", 0))))
        if order["do"] == "keep":
            self.keep = True
            return {}
        raise ValueError(order)

    def _starve(self, do: str, pid: int, percent: int) -> dict[str, object]:
        if do == "starve" and pid in self.children:
            self.starved[pid] = Starved(pid, percent)
        starved = self.starved.get(pid)
        if do == "feed" and starved is not None:
            starved.end()
        return {"times": starved.times if starved else 0, "ms": int(starved.stood_s * 1000) if starved else 0}

    def wait_s(self) -> float | None:
        """How long there is nothing to do but to listen; None: for ever."""
        turns = [each.next_at for each in self.starved.values() if not each.is_over]
        return max(min(turns) - time.monotonic(), 0) if turns else None

    def turn(self) -> None:
        """Stop and continue those that are starved."""
        for each in self.starved.values():
            each.turn()

    def _adopt(self, pid: int) -> None:
        with suppress(ProcessLookupError):  # it has ended already
            self.adopted.append((pid, os.pidfd_open(pid)))

    def _hold(self, order: dict[str, object]) -> dict[str, object]:
        try:
            self.held.append(Held(str(order["engine"]), str(order["container"]), str(order["label"])))
        except (OSError, ValueError) as error:
            return {"error": str(error)}
        return {}

    def _spawn(self, order: dict[str, object]) -> dict[str, object]:
        argv = [str(word) for word in order["argv"]]  # type: ignore[attr-defined]
        try:
            with Path(str(order["log"])).open("ab") as log:
                child = subprocess.Popen(
                    argv,
                    cwd=str(order["cwd"]),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=_tie_to_parent,  # noqa: PLW1509 - this process has one thread
                )
        except OSError as error:
            return {"error": str(error)}
        self.children[child.pid] = child
        return {"pid": child.pid}

    def reap(self) -> list[dict[str, object]]:
        """The announcements for children that ended since the last call."""
        ended = [(pid, child.poll()) for pid, child in self.children.items()]
        for pid, code in ended:
            if code is not None:
                del self.children[pid]
                if pid in self.starved:
                    self.starved[pid].is_over = True
        return [{"exited": pid, "code": code} for pid, code in ended if code is not None]

    def end(self) -> None:
        """Kill and reap all, remove the scratch folder."""
        for pid in self.children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid, held in self.adopted:
            with suppress(ProcessLookupError):
                is_leader = os.getpgid(pid) == pid
                signal.pidfd_send_signal(held, signal.SIGKILL)
                # It is not reaped before we end, so that the group is still its own, with what it started.
                if is_leader:
                    os.killpg(pid, signal.SIGKILL)
        for child in self.children.values():
            child.wait()
        for containers in self.held:
            containers.remove()
        shutil.rmtree(self.scratch, ignore_errors=True)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, however that ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_with_parent(number: int | None) -> None:
    """Have the kernel send this process a signal when its parent dies; None: no more."""
    _libc.prctl(PR_SET_PDEATHSIG, number or 0)


def _tie_to_parent() -> None:
    """In the child, before exec: die with the supervisor, and meet signals as a program started by hand would."""
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def _say(answer: dict[str, object]) -> None:
    with suppress(BrokenPipeError):  # pytest is gone: the end of standard input follows
        os.write(1, json.dumps(answer).encode() + b"\n")


def main(scratch: str) -> None:
    """Serve until standard input ends."""
    supervisor = Supervisor(scratch)
    wakeup_read, wakeup_write = os.pipe()
    os.set_blocking(wakeup_write, False)
    signal.set_wakeup_fd(wakeup_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    inputs = selectors.DefaultSelector()
    inputs.register(wakeup_read, selectors.EVENT_READ)
    inputs.register(0, selectors.EVENT_READ)
    pending = b""
    try:
        while True:
            for key, _ in inputs.select(supervisor.wait_s()):
                if key.fd == wakeup_read:
                    os.read(wakeup_read, 4096)
                    continue
                chunk = os.read(0, 65536)
                if not chunk:
                    if not supervisor.keep:
                        return
                    inputs.unregister(0)
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    _say(supervisor.obey(json.loads(line)))
            supervisor.turn()
            for announcement in supervisor.reap():
                _say(announcement)
    finally:
        supervisor.end()


if __name__ == "__main__":
    main(sys.argv[1])
