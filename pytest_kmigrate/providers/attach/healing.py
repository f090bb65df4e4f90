"""Undoes what runs have done to somebody's cluster: what a run left at its end, and what one left that was killed."""

import fcntl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, KmigrateError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.hooks import Hooks
from pytest_kmigrate.providers.attach.journal import (
    Journal,
    LeftJournal,
    Note,
    Remove,
    Undo,
    journals_of,
    locked,
)
from pytest_kmigrate.providers.attach.looking import Looker
from pytest_kmigrate.providers.attach.making import remove
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.waiting import NotYet, until

_ANSWERS_WITHIN_S = 120


def left_behind(site: Site) -> Sequence[Note]:
    """What runs that have ended did and did not undo; nothing is done about it."""
    with _left(site) as journals:
        return [note for each in journals for note in each.left]


def heal_left(site: Site, notify: Callable[[str], None]) -> int:
    """Undo what runs did that were killed, the last act first; return how many acts that was.

    Runs that are under way heal by themselves. All is tried; ClusterError has a line for each act that could not be
    undone and for each line of a journal that cannot be read. Their journals stay.
    """
    undoing = _Undoing(site, MemoryRecorder())
    failures: list[str] = []
    count = 0
    with _left(site) as journals:
        for journal in journals:
            for note in journal.left:
                try:
                    undoing.undo(note)
                except KmigrateError as error:
                    failures.append(f"{error}: what {journal.path} has of it stays")
                else:
                    journal.undone(note)
                    count += 1
                    notify(f"{site.path}: undone, as a run ended before it did so: {note}")
            journal.remove_if_empty()
            failures += journal.mistakes
    if failures:
        raise ClusterError("\n".join(failures))
    return count


def heal_own(site: Site, journal: Journal, recorder: Recorder) -> None:
    """Undo what the run of this journal has left, as a test did that failed in the midst; ClusterError as above."""
    undoing = _Undoing(site, recorder)
    failures = []
    for note in journal.left:
        try:
            undoing.undo(note)
        except KmigrateError as error:
            failures.append(str(error))
        else:
            journal.undone(note)
    journal.close()
    if failures:
        raise ClusterError("\n".join(failures))


class _Undoing:
    def __init__(self, site: Site, recorder: Recorder) -> None:
        self._site = site
        self._hooks = Hooks(site, recorder)
        self._looker = Looker(site, MemoryRecorder())

    def undo(self, note: Note) -> None:
        """Return when it is undone; a node that answers needs no hook to have ended well."""
        if isinstance(note, Remove):
            remove(self._site, note)
            return
        if note.hook == "start" and self._answers(note.node):
            return
        self._require_hook(note)
        try:
            self._hooks.call(note.hook, note.node, note.more)
        except ClusterError:
            if note.hook == "heal" or not self._answers(note.node):
                raise
        if note.hook != "heal":
            self._await_answer(note)

    def _await_answer(self, note: Undo) -> None:
        awaited = f"{self._site.path}: hooks.{note.hook} of {note.node}: an answer of {note.node} after it"
        try:
            until(lambda: self._answers(note.node) or NotYet("no answer"), awaited=awaited, within_s=_ANSWERS_WITHIN_S)
        except AwaitTimeoutError as error:
            raise ClusterError(f"{error}: see whether the cluster is there at all") from error

    def _answers(self, node: str) -> bool:
        seen = self._looker.seen(node)
        return seen.is_alive and not seen.stands_still

    def _require_hook(self, note: Undo) -> None:
        hooks = self._site.file.hooks
        if hooks.python is None and getattr(hooks, note.hook) is None:
            raise ClusterError(
                f"{self._site.path}: hooks.{note.hook}: expected, as a run left {note.node} without it; got nothing: "
                f"add it, or {note.hook} {note.node} by hand"
            )


@contextmanager
def _left(site: Site) -> Iterator[Sequence[LeftJournal]]:
    """The journals of processes that have ended, locked; one process at a time looks at them."""
    nodes = [node.name for node in site.topology.nodes]
    with site.path.open("rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        found = []
        for path in journals_of(site):
            try:
                file = path.open("r+b", buffering=0)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ClusterError(
                    f"{path}: expected the journal of what a run did to the cluster; got {error.strerror}: "
                    "let its owner heal"
                ) from error
            if locked(file, path):
                found.append((LeftJournal(path, file, nodes), file))
            else:
                file.close()
        try:
            yield [journal for journal, _ in found]
        finally:
            for _, file in found:
                file.close()
