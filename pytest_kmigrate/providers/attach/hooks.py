"""What does to nodes what the file allows: commands, or methods of a class that somebody brings."""

import importlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from tempfile import TemporaryFile

from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.providers.attach.loading import Site
from pytest_kmigrate.redaction import redacted

_MOST_SHOWN = 300


class Hooks:
    """The hooks of one site; ClusterError when one fails, or has not ended in its time."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._table = site.file.hooks

    def check(self) -> None:
        """WrongUseError when the class in Python cannot be had."""
        if self._table.python:
            _ = self._brought

    def call(self, action: str, node: str, file: str = "") -> None:
        """Do this to a node, and wait until it is done; ``file`` holds new properties."""
        command: list[str] | None = getattr(self._table, action)
        if command is not None:
            self._run(action, node, [self._site.filled(word, node, file) for word in command])
        else:
            method: Callable[..., object] = getattr(self._brought, action)
            self._await(action, node, (lambda: method(node, file)) if file else (lambda: method(node)))

    @cached_property
    def _brought(self) -> object:
        named = self._table.python or ""
        module, _, name = named.partition(":")
        try:
            return getattr(importlib.import_module(module), name)()
        # It is somebody else's code: whatever it raises is about this key.
        except Exception as error:
            text = f'expected a class that can be made without arguments, such as "ours:Hooks"; got {named!r}'
            raise WrongUseError(f"{self._site.path}: hooks.python: {text}: {type(error).__name__}: {error}") from error

    def _run(self, action: str, node: str, command: list[str]) -> None:
        """In a session of its own, ended with all it started if it is late; what it starts may go on writing."""
        with TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
                )
            except OSError as error:
                text = f"a program that is there; got {command[0]!r}: {error.strerror}"
                raise self._failed(action, node, text) from error
            try:
                status = process.wait(timeout=self._table.within_s)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise self._late(action, node) from None
            said.seek(0)
            words = redacted(said.read().decode("utf-8", "replace")).strip()[-_MOST_SHOWN:]
        if status != 0:
            raise self._failed(action, node, f"{command[0]} to end with 0; got {status}: {words or 'no words'}")

    def _await(self, action: str, node: str, call: Callable[[], object]) -> None:
        """A method that hangs cannot be ended, only left behind."""
        failed: list[Exception] = []

        def called() -> None:
            try:
                call()
            except Exception as error:  # noqa: BLE001 - it is somebody else's code: whatever it raises is its failure
                failed.append(error)

        thread = threading.Thread(target=called, name=f"{action} {node}", daemon=True)
        thread.start()
        thread.join(self._table.within_s)
        if thread.is_alive():
            raise self._late(action, node)
        if failed:
            text = redacted(f"{type(failed[0]).__name__}: {failed[0]}")
            raise self._failed(action, node, f"{self._table.python} to do it; got {text}") from failed[0]

    def _late(self, action: str, node: str) -> ClusterError:
        return self._failed(action, node, f"an end within {self._table.within_s} s (hooks.within_s); got none")

    def _failed(self, action: str, node: str, what: str) -> ClusterError:
        return ClusterError(f"{self._site.path}: hooks.{action} of {node}: expected {what}")
