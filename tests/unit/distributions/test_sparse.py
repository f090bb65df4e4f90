"""Folders with sparse files."""

from pathlib import Path

import pytest

from pytest_kmigrate.distributions.sparse import copy_sparse, digests_below, size_on_disk

MIB = 1 << 20


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with a file that is nearly all zeros, a short one in a folder of its own, and an empty one."""
    folder = tmp_path / "source"
    (folder / "deep").mkdir(parents=True)
    (folder / "log.1").write_bytes(b"begin" + bytes(8 * MIB) + b"end")
    (folder / "deep" / "short").write_bytes(b"\0\0x")
    (folder / "empty").touch()
    return folder


def test_a_copy_is_equal_and_has_holes(source: Path, tmp_path: Path) -> None:
    """Byte for byte, zeros at the end included, and it takes next to nothing."""
    with (source / "log.1").open("ab") as log:
        log.write(bytes(MIB))
    copy_sparse(source, tmp_path / "copy")
    for file in ("log.1", "deep/short", "empty"):
        assert (tmp_path / "copy" / file).read_bytes() == (source / file).read_bytes()
    assert size_on_disk(tmp_path / "copy") < MIB < size_on_disk(source)
    assert digests_below(tmp_path / "copy") == digests_below(source)


@pytest.mark.parametrize(("at", "byte"), [(2, b"X"), (4 * MIB, b"X"), (8 * MIB + 6, b"X")])
def test_each_byte_counts(source: Path, at: int, byte: bytes) -> None:
    """A digest shows whether any byte is another one, in a hole too."""
    before = digests_below(source)
    with (source / "log.1").open("r+b") as log:
        log.seek(at)
        log.write(byte)
    assert {name for name, digest in digests_below(source).items() if digest != before[name]} == {"log.1"}


def test_a_block_of_zeros_is_not_nothing(source: Path) -> None:
    """Nor does a file that lost its end pass, although there were only zeros."""
    before = digests_below(source)
    with (source / "deep" / "short").open("ab") as short:
        short.write(bytes(MIB))
    assert digests_below(source)["deep/short"] != before["deep/short"]


def test_a_file_may_be_replaced(source: Path, tmp_path: Path) -> None:
    """As ZooKeeper's ``myid``, which a node may have written before its disk is put back."""
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "empty").write_text("longer than it was")
    copy_sparse(source, tmp_path / "copy")
    assert (tmp_path / "copy" / "empty").read_bytes() == b""
