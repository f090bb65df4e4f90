"""What a run says of itself before it begins."""

import shlex
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.providers.process.cluster import Software
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.run import RunSettings, _finish, _new_folder, _reproduce
from tests.unit.fakes import topology


def test_the_command_that_does_it_again_names_everything_chosen(tmp_path: Path) -> None:
    """Distribution, seed and profile always; topology and rules when the command line chose them."""
    plain = _reproduce(RunSettings(tmp_path, seed=7), topology(kafka="3.9.1"), "t.py::test_it")
    chosen = RunSettings(tmp_path, seed=7, topology="shape.toml", byteman=Path("rules.btm"))

    assert plain == "pytest t.py::test_it --kmigrate-kafka 3.9.1 --kmigrate-seed 7 --kmigrate-profile kip-866"
    assert _reproduce(chosen, topology(), "t.py::test_it").endswith(
        " --kmigrate-topology shape.toml --kmigrate-byteman rules.btm"
    )


def test_the_command_that_does_it_again_survives_a_shell(tmp_path: Path) -> None:
    """A path with a space, and a quote in the id of a test, come back as the words they were."""
    settings = RunSettings(tmp_path, seed=7, topology="my shapes/it's one.toml")
    words = shlex.split(_reproduce(settings, topology(kafka="/my builds/kafka"), "t.py::test_it[it's]"))

    assert words[:4] == ["pytest", "t.py::test_it[it's]", "--kmigrate-kafka", "/my builds/kafka"]
    assert words[-2:] == ["--kmigrate-topology", "my shapes/it's one.toml"]


def test_a_run_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """In one sentence with its path and the option, and not as whatever the system said."""
    (tmp_path / "file").touch()
    shape = topology()
    software = Software(tmp_path, {shape.kafka: Distribution(shape.kafka, (), "d1")}, tmp_path, tmp_path, tmp_path)
    with pytest.raises(EnvironmentLackError, match=r"cannot be made: Not a directory; .* --kmigrate-runs"):
        _new_folder(RunSettings(tmp_path / "file", seed=7), shape, software, "t.py::test_it", [])


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


def test_the_header_names_the_commit_that_was_told(tmp_path: Path) -> None:
    """Reports say with which commit a change began; where nobody told it, it is none."""
    shape = topology()
    kafka = Distribution(shape.kafka, (), "d1")
    software = Software(tmp_path, {shape.kafka: kafka}, tmp_path, tmp_path, tmp_path)
    _, told = _new_folder(RunSettings(tmp_path, seed=7, commit="1a2b"), shape, software, "t.py::test_it", [])
    _, untold = _new_folder(RunSettings(tmp_path, seed=7), shape, software, "t.py::test_it", [])
    assert (told.extra["commit"], untold.extra["commit"]) == ("1a2b", None)


def test_a_run_whose_nodes_all_chose_a_release_is_of_the_one_the_topology_names(tmp_path: Path) -> None:
    """Nobody runs it, so it was not fetched, and cannot be asked what it is."""
    shape = topology(kafka="3.9.1")
    software = Software(tmp_path, {"3.8.1": Distribution("3.8.1", (), "d1")}, tmp_path, tmp_path, tmp_path)
    _, header = _new_folder(RunSettings(tmp_path, seed=7), shape, software, "t.py::test_it", [])
    assert header.kafka == "3.9.1"
