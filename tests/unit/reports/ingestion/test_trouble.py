"""Trouble with files, without a JVM; real file systems that refuse are in ``tests/spark/test_elsewhere.py``."""

import errno
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_kmigrate.model.errors import EnvironmentLackError, WrongUseError
from pytest_kmigrate.reports.ingestion import trouble
from pytest_kmigrate.reports.ingestion.trouble import trouble_named


@dataclass(frozen=True)
class Thrown:
    """What the JVM throws, as far as it is looked at."""

    name: str
    message: str | None

    def getClass(self) -> SimpleNamespace:  # noqa: N802  # Java's name
        """Java's word."""
        return SimpleNamespace(getSimpleName=lambda: self.name)

    def getMessage(self) -> str | None:  # noqa: N802  # Java's name
        """Java's word."""
        return self.message


def test_a_file_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    """The environment lacks it, and which one it is."""
    with (
        pytest.raises(EnvironmentLackError, match=r"expected to read and write files, got: .*/absent"),
        trouble_named(),
    ):
        (tmp_path / "absent").read_text()


def test_a_full_disk_is_named() -> None:
    """It comes without the name of a file."""
    with pytest.raises(EnvironmentLackError, match="No space left"), trouble_named():
        raise OSError(errno.ENOSPC, "No space left on device")


def test_what_is_no_trouble_with_a_file_stays_as_it_is() -> None:
    """Whoever reads our output has gone: that is not for us to explain."""
    with pytest.raises(BrokenPipeError), trouble_named():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.mark.parametrize(
    ("thrown", "error", "reported"),
    [
        (
            [Thrown("UnknownStoreException", "`s3a://nights/': Bucket does not exist")],
            WrongUseError,
            "got UnknownStoreException: `s3a://nights/': Bucket does not exist; give a bucket that exists",
        ),
        (
            [Thrown("RuntimeException", "wrapped"), Thrown("AccessDeniedException", "403\nRequest ID: 1")],
            EnvironmentLackError,
            "got AccessDeniedException: 403; check the address",
        ),
        (
            [Thrown("NullPointerException", None)],
            EnvironmentLackError,
            "got NullPointerException: no reason; check the address",
        ),
    ],
)
def test_a_bucket_nobody_has_is_wrong_use_and_all_else_a_lack(
    monkeypatch: pytest.MonkeyPatch, thrown: list[Thrown], error: type[Exception], reported: str
) -> None:
    """By the first exception that is about input and output; of its message the first line."""
    of_files = ("UnknownStoreException", "AccessDeniedException")
    monkeypatch.setattr(trouble, "_is_a", lambda each, _name: each.name in of_files)
    got = trouble._first_answer("s3a://nights", thrown)
    assert type(got) is error
    assert str(got).startswith(f"s3a://nights: expected a file system that answers, {reported}")
