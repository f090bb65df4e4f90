"""What does to nodes what the file allows: commands, or methods of a class that somebody brings."""

import importlib
import threading
from collections.abc import Callable, Mapping
from functools import cached_property

from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.providers.attach.commands import late, said_by
from pytest_kmigrate.providers.attach.file.loading import NOTHING_MORE, Site
from pytest_kmigrate.redaction import redacted


def brought(site: Site) -> object:
    """What the class in Python makes, None where there is none; WrongUseError when it cannot be had."""
    named = site.file.hooks.python
    if named is None:
        return None
    module, _, name = named.partition(":")
    try:
        return getattr(importlib.import_module(module), name)()
    # It is somebody else's code: whatever it raises is about this key.
    except Exception as error:
        text = f'expected a class that can be made without arguments, such as "ours:Hooks"; got {named!r}'
        raise WrongUseError(f"{site.path}: hooks.python: {text}: {type(error).__name__}: {error}") from error


class Hooks:
    """The hooks of one site; ClusterError, and recorded, when one fails or has not ended in its time.

    No verdict of such a run is about Kafka.
    """

    def __init__(self, site: Site, recorder: Recorder) -> None:
        self._site = site
        self._table = site.file.hooks
        self._recorder = recorder

    def call(self, action: str, node: str, more: Mapping[str, str] = NOTHING_MORE) -> str:
        """Do this to a node, and wait until it is done; what was said, without spaces around it.

        ``more`` is what a command has in braces besides the node; a method gets it in the same order.
        """
        command: list[str] | None = getattr(self._table, action)
        if command is not None:
            return self._run(action, node, [self._site.filled(word, node, more) for word in command])
        return self._await(action, node, lambda: getattr(self._brought, action)(node, *more.values()))

    @cached_property
    def _brought(self) -> object:
        return brought(self._site)

    def _run(self, action: str, node: str, command: list[str]) -> str:
        try:
            return said_by(command, self._table.within_s, "hooks.within_s")
        except ClusterError as error:
            raise self._failed(action, node, str(error)) from error

    def _await(self, action: str, node: str, call: Callable[[], object]) -> str:
        """A method that hangs cannot be ended, only left behind."""
        said: list[object] = []
        failed: list[Exception] = []

        def called() -> None:
            try:
                said.append(call())
            except Exception as error:  # noqa: BLE001 - it is somebody else's code: whatever it raises is its failure
                failed.append(error)

        thread = threading.Thread(target=called, name=f"{action} {node}", daemon=True)
        thread.start()
        thread.join(self._table.within_s)
        if thread.is_alive():
            raise self._failed(action, node, str(late(self._table.within_s, "hooks.within_s")))
        if failed:
            text = redacted(f"{type(failed[0]).__name__}: {failed[0]}")
            raise self._failed(action, node, f"expected {self._table.python} to do it; got {text}") from failed[0]
        return str(said[0])

    def _failed(self, action: str, node: str, what: str) -> ClusterError:
        hook = f"{self._site.path}: hooks.{action} of {node}"
        self._recorder.record(HarnessTrouble(hook, what))
        return ClusterError(f"{hook}: {what}")
