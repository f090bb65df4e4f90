"""Where checkpoints are kept: found, made once, never used when they are not whole, and removed in time."""

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pytest_kmigrate.model.checkpoint import Frozen
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.running.checkpoints.checkpoint import Content, Key
from pytest_kmigrate.running.checkpoints.locks import Lock
from pytest_kmigrate.running.checkpoints.store import MOST_AGE
from tests.unit.running.checkpoints.bench import KEY, KIB, NODES, Bench


def test_a_checkpoint_is_made_once_and_read_back_as_it_was(bench: Bench) -> None:
    """By another process, too, with all that lies beside the disks; nothing else is left."""
    first = bench.get()
    bench.store = bench.another()
    again = bench.get()
    assert again == first
    assert again is not None
    assert again.content == Content(
        Frozen(NODES, 474, 1138), bench.now, [{"change": "create-topic", "wanted": {"partitions": 3}}], []
    )
    assert (again.disks / "broker-0/orders-0/0.log").stat().st_size == 64 * KIB
    assert (len(bench.made), bench.reported, bench.there) == (1, [], [KEY.name])
    assert (bench.place.stat().st_mode & 0o777) == 0o700


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, provider="docker"),
        replace(KEY, distributions={"3.9.1": "another"}),
        replace(KEY, topology="another"),
        replace(KEY, document="kip-866-draft"),
        replace(KEY, state="ALL_KRAFT"),
        replace(KEY, families=()),
        replace(KEY, harness="another"),
        replace(KEY, format=KEY.format + 1),
    ],
    ids=lambda key: key.name,
)
def test_each_part_of_the_key_decides(bench: Bench, other: Key) -> None:
    """Whatever differs, it is another checkpoint, beside the first."""
    bench.get()
    bench.get(other)
    assert len(bench.made) == 2
    assert bench.there == sorted([KEY.name, other.name])


def test_identity_says_what_run_json_holds(bench: Bench) -> None:
    """Key, state, filling, age, and how far the evidence is that every clone shares."""
    checkpoint = bench.get()
    assert checkpoint is not None
    assert checkpoint.identity == {
        "key": KEY.name,
        "state": "HYBRID",
        "families": ["topics", "acls"],
        "made_at": "2026-11-26T12:00:00+00:00",
        "log_offset": 474,
        "zxid": 1138,
    }


def cut(place: Path) -> None:
    """A file lost its end."""
    (place / "disks/broker-0/orders-0/0.log").write_bytes(b"x" * KIB)


def changed(place: Path) -> None:
    """A byte is another one."""
    (place / "disks/controller-3000/meta.properties").write_bytes(b"x" * (64 * KIB - 1) + b"y")


def lacking(place: Path) -> None:
    """A file is gone."""
    (place / "disks/broker-0/orders-0/0.log").unlink()


def added(place: Path) -> None:
    """There is a foreign file."""
    (place / "disks/broker-0/left.over").touch()


def half_written(place: Path) -> None:
    """The machine lost its power: the folder is there, and what was in the file is not."""
    (place / "checkpoint.json").write_bytes(b"")


def without_description(place: Path) -> None:
    """A folder with disks only."""
    (place / "checkpoint.json").unlink()


def emptied(place: Path) -> None:
    """The file holds JSON, and nothing of a checkpoint."""
    held = json.loads((place / "checkpoint.json").read_text())
    (place / "checkpoint.json").write_text(json.dumps({"key": held["key"]}))


def of_another_harness(place: Path) -> None:
    """The folder was put there by a harness that gave it the same name."""
    held = json.loads((place / "checkpoint.json").read_text())
    held["key"]["harness"] = "another"
    (place / "checkpoint.json").write_text(json.dumps(held))


DAMAGED = "it is damaged: broker-0/orders-0/0.log is not as it was written"


@pytest.mark.parametrize(
    ("damage", "reported"),
    [
        (cut, DAMAGED),
        (lacking, DAMAGED),
        (changed, "it is damaged: controller-3000/meta.properties is not as it was written"),
        (added, "it is damaged: broker-0/left.over is not as it was written"),
        (half_written, "it is damaged: checkpoint.json cannot be read"),
        (without_description, "it is damaged: checkpoint.json cannot be read"),
        (emptied, "it is damaged: checkpoint.json holds no checkpoint"),
        (of_another_harness, "it is of another harness"),
    ],
)
def test_what_is_not_whole_is_made_anew_and_told_in_one_line(
    bench: Bench, damage: Callable[[Path], None], reported: str
) -> None:
    """Nothing of it is used."""
    first = bench.get()
    damage(bench.place)
    again = bench.get()
    assert again == first
    assert len(bench.made) == 2
    assert bench.reported == [f"checkpoint {KEY.name}: {reported}; made anew"]
    assert not (bench.place / "disks/broker-0/left.over").exists()


@pytest.mark.parametrize(("later", "made"), [(MOST_AGE, 1), (MOST_AGE + timedelta(seconds=1), 2), (timedelta(-1), 2)])
def test_it_is_not_used_for_ever(bench: Bench, later: timedelta, made: int) -> None:
    """Nor when it comes from the future: of its age nothing is known then."""
    bench.get()
    bench.now += later
    bench.get()
    assert len(bench.made) == made
    assert len(bench.reported) == made - 1


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), ClusterError("broker-0 died\nits log ends: ...")]
)
def test_where_it_cannot_be_made_the_run_starts_from_scratch(bench: Bench, error: Exception) -> None:
    """Told once, in one line, with nothing left of it; the same process does not try again, another one does."""

    def fail(disks: Path) -> Content:
        bench.make(disks)
        raise error

    assert (bench.get(make=fail), bench.get(make=fail)) == (None, None)
    text = str(error).splitlines()[0]
    assert bench.reported == [f"no checkpoint {KEY.name}, so this run starts from scratch: {text}"]
    assert (len(bench.made), bench.there) == (1, [])
    bench.store = bench.another()
    assert bench.get() is not None


def test_a_folder_that_cannot_be_made_costs_no_run(bench: Bench) -> None:
    """A file is in its place, say."""
    bench.folder.touch()
    assert bench.get() is None
    assert len(bench.reported) == 1


def test_an_interrupt_leaves_nothing(bench: Bench) -> None:
    """Nobody wants to wait for what was asked for only by the way."""

    def interrupt(disks: Path) -> Content:
        bench.make(disks)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.get(make=interrupt)
    assert bench.there == []


def test_what_a_killed_maker_left_is_removed(bench: Bench) -> None:
    """By the next one, whichever checkpoint that was of; of a maker that is at work nothing is."""
    busy, dead = replace(KEY, state="BUSY"), replace(KEY, state="DEAD")
    for key in (KEY, busy, dead):
        (bench.folder / f".{key.name}.making-x1").mkdir(parents=True)
    with Lock(bench.folder / ".locks" / busy.name) as lock:
        lock.take(alone=True, waiting=lambda: None)
        bench.get()
    assert bench.there == [f".{busy.name}.making-x1", KEY.name]


def test_the_oldest_go_when_there_are_too_many(bench: Bench) -> None:
    """Until the rest is small enough; never the one that was just made, nor one that is in use."""
    keys = [replace(KEY, state=f"S{number}") for number in range(4)]
    bench.store = bench.another(most_bytes=300 * KIB)  # room for two, of 128 KiB each and a little
    with bench.store.held(keys[0], bench.make):
        for key in keys[1:]:
            bench.now += timedelta(minutes=1)
            bench.get(key)
    assert bench.there == sorted([keys[0].name, keys[3].name])
    assert {lock.name for lock in (bench.folder / ".locks").iterdir()} == {keys[0].name, keys[3].name}


def test_what_is_too_old_goes_when_another_is_made(bench: Bench) -> None:
    """And so do folders of unknown age."""
    bench.get()
    (bench.folder / "hybrid-unknown").mkdir()
    bench.now += MOST_AGE + timedelta(minutes=1)
    bench.get(replace(KEY, state="ALL_KRAFT"))
    assert bench.there == [replace(KEY, state="ALL_KRAFT").name]
