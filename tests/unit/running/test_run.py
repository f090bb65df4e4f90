"""The end of a run whose reports cannot be written."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.run import _finish


def test_reports_that_cannot_be_written_do_not_hide_what_ended_the_run(tmp_path: Path) -> None:
    """The first error stays the one that is told; that there are no reports is a note to it."""
    (tmp_path / "file").touch()
    folder = RunFolder(tmp_path / "file" / "gone")
    with pytest.raises(ZeroDivisionError) as caught:  # noqa: PT012 - what is tested runs while it is on its way
        try:
            raise ZeroDivisionError
        finally:
            _finish(folder, lambda _folder: None, is_kept=False)
    (note,) = caught.value.__notes__
    assert "the reports cannot be written" in note
    with pytest.raises(EnvironmentLackError, match="make room and judge it again"):
        _finish(folder, lambda _folder: None, is_kept=False)
