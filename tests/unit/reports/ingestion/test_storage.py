"""Storage on this machine, and how a location is distinguished from one elsewhere."""

from pathlib import Path

import pytest

from pytest_kmigrate.reports.ingestion.storage import Copies, Entry, LocalStorage, is_local, local_path, location

EVERYTHING = (9, Copies())


def test_entries_are_listed_down_to_a_depth_without_hidden_ones_and_copies(tmp_path: Path) -> None:
    """Files with their size, folders too, also empty ones; a folder of copies is one only beside what it copies."""
    for name in ("a/b/c/file", "r/copies/file", "r/run.json", "copies/a", ".hidden/file", "a/.partial"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("xyz")
    (tmp_path / "empty").mkdir()
    copies = Copies(frozenset({"copies"}), frozenset({"run.json"}))

    reported = [(each.path, each.is_folder, each.size_bytes) for each in LocalStorage(tmp_path).entries(3, copies)]

    assert reported == [
        ("a", True, 0),
        ("a/b", True, 0),
        ("a/b/c", True, 0),
        ("copies", True, 0),
        ("copies/a", False, 3),
        ("empty", True, 0),
        ("r", True, 0),
        ("r/run.json", False, 3),
    ]
    assert [each.path for each in LocalStorage(tmp_path / "a").entries(*EVERYTHING)] == ["b", "b/c", "b/c/file"]


def test_a_link_to_what_is_listed_anyway_is_not_followed(tmp_path: Path) -> None:
    """Back up, or to the latest night: all in it would count twice. One to elsewhere is a folder like others."""
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    (elsewhere / "d").mkdir(parents=True)
    (root / "a" / "b").mkdir(parents=True)
    (root / ".hidden" / "h").mkdir(parents=True)
    (root / "a" / "b" / "up").symlink_to(root)
    (root / "latest").symlink_to(root / "a")
    (root / "c").symlink_to(elsewhere)
    (root / "shown").symlink_to(root / ".hidden")

    reported = [each.path for each in LocalStorage(root).entries(*EVERYTHING)]

    assert reported == ["a", "a/b", "c", "c/d", "shown", "shown/h"]


def test_a_link_in_a_run_is_followed_wherever_it_leads(tmp_path: Path) -> None:
    """What a run folder holds belongs to it, also if it lies elsewhere."""
    (tmp_path / "logs" / "broker-0").mkdir(parents=True)
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "run.json").write_text("{}")
    (tmp_path / "r" / "logs").symlink_to(tmp_path / "logs")
    runs = Copies(frozenset(), frozenset({"run.json"}))

    reported = [each.path for each in LocalStorage(tmp_path).entries(9, runs)]

    assert reported == ["logs", "logs/broker-0", "r", "r/logs", "r/logs/broker-0", "r/run.json"]


def test_a_changed_file_shows_in_its_entry(tmp_path: Path) -> None:
    """Size and time of change are what a run that is being written is known by."""
    storage, file = LocalStorage(tmp_path), tmp_path / "file"
    file.write_text("1")
    (before,) = storage.entries(*EVERYTHING)
    file.write_text("12")
    assert list(storage.entries(*EVERYTHING)) != [before]
    assert before == Entry("file", is_folder=False, size_bytes=1, modified_ms=before.modified_ms)


def test_files_are_written_whole_moved_and_deleted(tmp_path: Path) -> None:
    """Folders come into being when needed; nothing partial stays; deleting what is not there is fine."""
    storage = LocalStorage(tmp_path / "new")
    storage.write("deep/file", b"old")
    storage.write("deep/file", b"content")
    assert (storage.names("deep"), storage.contents(["deep/file"])) == (["file"], {"deep/file": b"content"})
    assert storage.digests(["deep/file"])["deep/file"].startswith("ed7002b439e9ac84")
    storage.move("deep", "moved/here")
    assert storage.place("moved/here/file").read_text() == "content"
    for path in ("moved", "moved", "file"):
        storage.delete(path)
    assert (storage.names(""), storage.kind()) == ([], "folder")


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/a/b", "/a/b"),
        ("file:///a/b%20c", "/a/b c"),
        ("file:/a/b", "/a/b"),
        ("/a/b%20c", "/a/b%20c"),
        ("/a:/b", "/a:/b"),
    ],
)
def test_paths_and_file_uris_are_of_this_machine(given: str, path: str) -> None:
    """A URI may be encoded, a path is what it is."""
    assert (is_local(given), local_path(given)) == (True, Path(path))


@pytest.mark.parametrize("given", ["s3a://bucket/a", "hdfs://host:8020/a", "viewfs:/a"])
def test_other_schemes_are_elsewhere(given: str) -> None:
    """Also when a URI has been through ``Path``, which takes a slash from it."""
    assert not is_local(given)
    assert location(Path("s3a://bucket/a")) == location("s3a://bucket/a") == "s3a://bucket/a"
    assert location("s3a://bucket") == location(Path("s3a://bucket/")) == "s3a://bucket/"
