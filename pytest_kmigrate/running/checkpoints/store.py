"""Where checkpoints are kept: whole or not at all, one maker at a time, bounded in age and size.

Each has a lock. Processes that start from a checkpoint share it, a process that makes or removes one holds it alone.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pytest_kmigrate.distributions.sparse import digests_below, size_on_disk
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.running.checkpoints.checkpoint import (
    Checkpoint,
    Content,
    Key,
    content_as_json,
    content_from_json,
)
from pytest_kmigrate.running.checkpoints.locks import Lock

MOST_AGE = timedelta(hours=12)
"""Half of the shortest time after which Kafka drops anything filled in: a producer id that is idle for a day."""
MOST_BYTES = 1 << 30
"""Of all checkpoints together; one takes about 1 MB."""
_FILE = "checkpoint.json"
_DISKS = "disks"

Make = Callable[[Path], Content]
"""Fills an empty folder with a folder for each node's disk."""


class UnusableError(Exception):
    """A folder that cannot be started from; the text says why."""


class Store:
    """The checkpoints below one folder; ``notify`` gets one line about whatever takes time or goes wrong."""

    def __init__(
        self,
        folder: Path,
        notify: Callable[[str], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._folder = folder
        self._tell = notify
        self._now = now
        self._most_bytes = most_bytes
        self._failed: set[str] = set()

    @contextmanager
    def held(self, key: Key, make: Make) -> Iterator[Checkpoint | None]:
        """The checkpoint of this key, which is not removed while the block lasts; ``make`` makes it where it is not.

        None when it cannot be made. That is reported once, and the same process does not try again.
        """
        with Lock(self._lock_file(key.name)) as lock:
            yield None if key.name in self._failed else self._found_or_made(lock, key, make)

    def _found_or_made(self, lock: Lock, key: Key, make: Make) -> Checkpoint | None:
        try:
            found = self._found(lock, key, alone=False) or self._found(lock, key, alone=True)
            if found is None:
                self._make(key, make)
                found = self._read(key)
            lock.take(alone=False, waiting=lambda: None)
        except (OSError, KmigrateError, UnusableError) as error:
            self._failed.add(key.name)
            self._tell(f"no checkpoint {key.name}, so this run starts from scratch: {str(error).partition(chr(10))[0]}")
            return None
        return found

    def _found(self, lock: Lock, key: Key, *, alone: bool) -> Checkpoint | None:
        lock.take(alone=alone, waiting=lambda: self._tell(f"checkpoint {key.name}: another process is making it"))
        if not self._place(key.name).exists():
            return None
        try:
            return self._read(key)
        except (UnusableError, OSError) as error:
            if alone:
                self._tell(f"checkpoint {key.name}: {error}; made anew")
            return None

    def _read(self, key: Key) -> Checkpoint:
        place = self._place(key.name)
        held = _json(place / _FILE)
        if held.get("key") != _plain(key):
            raise UnusableError("it is of another harness")
        try:
            content, digests = content_from_json(held["content"]), dict(held["digests"])
        except (KeyError, TypeError, ValueError) as error:
            raise UnusableError(f"it is damaged: {_FILE} holds no checkpoint") from error
        if not timedelta(0) <= self._now() - content.filled_at <= MOST_AGE:
            raise UnusableError(f"it was filled at {content.filled_at:%F %H:%M}, longer ago than {MOST_AGE}")
        there = digests_below(place / _DISKS)
        unlike = sorted(name for name, _ in there.items() ^ digests.items())
        if unlike:
            raise UnusableError(f"it is damaged: {unlike[0]} is not as it was written")
        return Checkpoint(key, content, place / _DISKS)

    def _make(self, key: Key, make: Make) -> None:
        place = self._place(key.name)
        for leftover in [place, *self._folder.glob(f".{key.name}.making-*")]:
            shutil.rmtree(leftover, ignore_errors=True)
        making = Path(tempfile.mkdtemp(prefix=f".{key.name}.making-", dir=self._folder))
        try:
            (making / _DISKS).mkdir()
            content = make(making / _DISKS)
            digests = digests_below(making / _DISKS)
            held = {"key": _plain(key), "content": content_as_json(content), "digests": digests}
            (making / _FILE).write_text(json.dumps(held, indent=1))
            making.rename(place)
        finally:
            shutil.rmtree(making, ignore_errors=True)
        with suppress(OSError):  # another process may remove the same ones
            self._remove_old(but=key.name)

    def _remove_old(self, but: str) -> None:
        """Remove what is too old, and then the oldest until the rest is small enough; nothing that is in use."""
        for leftover in self._folder.glob(".*.making-*"):
            self._remove(leftover, leftover.name.split(".")[1])
        ages = sorted((self._filled_at(place), place) for place in self._folder.glob("[!.]*"))
        sizes = {place: size_on_disk(place) for _, place in ages}
        for filled_at, place in ages:
            is_old = self._now() - filled_at > MOST_AGE
            if (
                place.name != but
                and (is_old or sum(sizes.values()) > self._most_bytes)
                and self._remove(place, place.name)
            ):
                del sizes[place]

    def _remove(self, place: Path, name: str) -> bool:
        with Lock(self._lock_file(name)) as lock:
            if not lock.take_at_once():
                return False
            shutil.rmtree(place, ignore_errors=True)
            lock.remove()
            return True

    def _filled_at(self, place: Path) -> datetime:
        try:
            return content_from_json(_json(place / _FILE)["content"]).filled_at
        except (UnusableError, KeyError, TypeError, ValueError):
            return datetime.fromtimestamp(0, UTC)

    def _place(self, name: str) -> Path:
        return self._folder / name

    def _lock_file(self, name: str) -> Path:
        return self._folder / ".locks" / name


def _json(file: Path) -> Mapping[str, Any]:
    try:
        held = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise UnusableError(f"it is damaged: {file.name} cannot be read") from error
    if not isinstance(held, dict):
        raise UnusableError(f"it is damaged: {file.name} is no object")
    return held


def _plain(key: Key) -> object:
    return json.loads(json.dumps(asdict(key)))
