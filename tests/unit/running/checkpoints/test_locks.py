"""Locks between processes; two locks of one process stand for them, as the kernel keeps them apart."""

import threading
from pathlib import Path

import pytest

from pytest_kmigrate.running.checkpoints.locks import Lock


def never() -> None:
    """Nobody shall wait."""
    raise AssertionError("waits")


def test_many_share_it_and_one_has_it_alone(tmp_path: Path) -> None:
    """Shared it keeps off who wants it alone, and until it is given back."""
    with Lock(tmp_path / "a") as one, Lock(tmp_path / "a") as other, Lock(tmp_path / "a") as third:
        one.take(alone=False, waiting=never)
        other.take(alone=False, waiting=never)
        assert not third.take_at_once()
        one.close()
        assert not third.take_at_once()
        other.close()
        assert third.take_at_once()
        with pytest.raises(AssertionError, match="waits"):
            one.take(alone=False, waiting=never)


def test_a_lock_whose_file_was_removed_counts_for_nothing(tmp_path: Path) -> None:
    """Who waited for it has waited for a file that is gone: the lock of the new one counts."""
    file, waits, got = tmp_path / "a", threading.Event(), Lock(tmp_path / "a")
    with Lock(file) as holder:
        holder.take(alone=True, waiting=never)
        waiting = threading.Thread(target=lambda: got.take(alone=True, waiting=waits.set))
        waiting.start()
        assert waits.wait(10)
        holder.remove()
    waiting.join(10)
    with Lock(file) as third:
        assert file.exists()
        assert not third.take_at_once()
    got.close()


def test_who_shares_it_may_have_it_alone_later(tmp_path: Path) -> None:
    """And share it again."""
    with Lock(tmp_path / "a") as one, Lock(tmp_path / "a") as other:
        one.take(alone=False, waiting=never)
        one.take(alone=True, waiting=never)
        assert not other.take_at_once()
        one.take(alone=False, waiting=never)
        other.take(alone=False, waiting=never)
