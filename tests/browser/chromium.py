"""A real browser under test control: Chromium, by its own DevTools protocol, over two pipes.

No driver program, no library and no port: the protocol is JSON, each message ended by a zero byte. What Playwright or
Selenium would add to it (46 MB with a Node of its own; a dozen packages and a driver to match the browser) is more than
these tests need.
"""

import fcntl
import json
import os
import select
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.waiting import until

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WITHIN_S = 30

_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    # Whatever a page or the browser itself may want from elsewhere: there is nothing.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_BROWSER_READS, _BROWSER_WRITES = 3, 4
"""The file descriptors of ``--remote-debugging-pipe``."""

_FREE_DESCRIPTOR = 10
"""Ours lie at or above it, so that none is overwritten by those that the browser expects."""

_ZERO = b"\0"

Message = dict[str, Any]


class BrowserError(AssertionError):
    """The browser refused a command, fell silent, or a script of ours failed in a page."""


class Chromium:
    """A headless browser that ends with the block; every command waits for its answer."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self.events: list[Message] = []
        self._to, self._from = to_browser, from_browser
        self._numbers = count(1)
        self._read = bytearray()

    def call(self, method: str, session: str = "", **parameters: object) -> Message:
        """What the browser answers to one command; events that come meanwhile are kept."""
        number = next(self._numbers)
        command: Message = {"id": number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        left = memoryview(json.dumps(command).encode() + _ZERO)
        while left:
            left = left[os.write(self._to, left) :]
        while (message := self._next(method)).get("id") != number:
            self.events.append(message)
        if "error" in message:
            raise BrowserError(f"{method}: expected an answer, got {message['error']}")
        result: Message = message["result"]
        return result

    def wait_for(self, event: str, session: str, **parameters: object) -> None:
        """Read on until an event of a session, with these parameters and any others, is among those kept."""

        def is_awaited(message: Message) -> bool:
            is_of_it = message.get("method") == event and message.get("sessionId") == session
            return is_of_it and parameters.items() <= message["params"].items()

        while not any(map(is_awaited, self.events)):
            self.events.append(self._next(event))

    def _next(self, awaited: str) -> Message:
        while _ZERO not in self._read:
            ready, _, _ = select.select([self._from], [], [], WITHIN_S)
            content = os.read(self._from, 1 << 20) if ready else b""
            if not content:
                why = "it ended" if ready else f"it said nothing for {WITHIN_S} s"
                raise BrowserError(f"{awaited}: expected an answer of the browser, but {why}")
            self._read += content
        text, _, self._read = self._read.partition(_ZERO)
        message: Message = json.loads(text)
        return message


def installed() -> str | None:
    """The path of a Chromium on this machine, if there is one."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


@contextmanager
def chromium(program: str, folder: Path) -> Iterator[Chromium]:
    """A browser for the time of the block, with everything it writes below ``folder``."""
    commands, answers = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FREE_DESCRIPTOR) for end in (commands[0], answers[1])]
    for end in (commands[0], answers[1]):
        os.close(end)
    # Root may not use the sandbox; the pages are our own.
    flags = [*_FLAGS, f"--user-data-dir={folder / 'profile'}", *["--no-sandbox"] * (os.geteuid() == 0)]
    log = os.open(folder / "browser.log", os.O_WRONLY | os.O_CREAT)
    descriptors = {theirs[0]: _BROWSER_READS, theirs[1]: _BROWSER_WRITES, log: 2}
    wiring = [(os.POSIX_SPAWN_DUP2, ours, wanted) for ours, wanted in descriptors.items()]
    process = os.posix_spawn(program, [program, *flags], _environment(folder), file_actions=wiring)
    for end in descriptors:
        os.close(end)
    browser = Chromium(commands[1], answers[0])
    try:
        yield browser
        browser.call("Browser.close")
    finally:
        # A browser whose pipes are closed ends, also one that no longer answers commands.
        os.close(commands[1])
        os.close(answers[0])
        _reap(process)


def _reap(process: int) -> None:
    """Wait for its end, and see to it in the end."""
    try:
        until(lambda: os.waitpid(process, os.WNOHANG)[0], awaited="the end of the browser", within_s=WITHIN_S)
    except AwaitTimeoutError:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _environment(folder: Path) -> Mapping[str, str]:
    """Ours, but with a home of its own: the browser looks for fonts' caches and certificates in it."""
    return {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
