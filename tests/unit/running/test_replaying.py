"""A replay names the same test, seed, Kafka, topology and profile, wherever the suite's file is."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.running.replaying import replay, replay_command, runs_of
from tests.unit.reports.recorded_runs import HEADER as RECORDED
from tests.unit.reports.recorded_runs import RecordedRun

TEST = "suites/kip_866/test_happy_path.py::test_migration_ends_finalized_with_all_metadata"
HEADER = RunHeader(
    run_id="r",
    test_id=TEST,
    seed=7,
    kafka="3.9.1",
    topology="zk3-broker3-controller3",
    extra={
        "command": ["pytest", "-x", "--kmigrate-keep", "--kmigrate-seed=3"],
        "reproduce": f"pytest '{TEST}' --kmigrate-kafka /opt/kafka --kmigrate-seed 7 --kmigrate-profile kip-866"
        " --kmigrate-topology mine.toml",
        "commit": "1a2b",
    },
)

LINE = {
    "schema": 1,
    "document": "kip-866",
    "topology": "zk1-broker3-controller3",
    "walk": ["HYBRID"],
    "happenings": [
        {"id": 1, "fault": {"kind": "kill", "target": "active-controller"}, "begin": {"state": "HYBRID"}},
    ],
}


def there(folder: Path) -> Path:
    """The folder, with the test's file in it."""
    file = folder / TEST.partition("::")[0]
    file.parent.mkdir(parents=True)
    file.touch()
    return folder


def test_the_recorded_options_are_used_again(tmp_path: Path) -> None:
    """The distribution as it was named, its commit, the recorded topology and seed; the cluster is not kept again."""
    command = replay_command(HEADER, tmp_path / "runs", there(tmp_path))
    assert command == [
        sys.executable, "-m", "pytest", TEST, "--kmigrate-topology=mine.toml", "--kmigrate-commit=1a2b",
        "--kmigrate-kafka=/opt/kafka", "--kmigrate-provider=process", "--kmigrate-seed=7", "--kmigrate-profile=kip-866",
        f"--kmigrate-runs={tmp_path / 'runs'}",
    ]  # fmt: skip


def test_a_schedule_that_this_release_refuses_is_named(tmp_path: Path) -> None:
    """With its key and the run: pytest would say that there is no such test."""
    header = replace(HEADER, extra={**HEADER.extra, "schedule": {"schema": 1, "document": "kip-866"}})
    with pytest.raises(WrongUseError, match=r"extra\.schedule of run\.json: topology: expected"):
        replay_command(header, tmp_path / "runs", tmp_path)
    assert not (tmp_path / "runs").exists()


def test_a_schedule_is_carried_out_again_from_what_the_run_holds(tmp_path: Path) -> None:
    """Its line is written beside the runs, as the file that it came from may be gone."""
    header = replace(HEADER, extra={**HEADER.extra, "schedule": LINE})
    command = replay_command(header, tmp_path / "runs", there(tmp_path))
    assert f"--kmigrate-schedules={tmp_path / 'runs' / 'r.jsonl'}" in command
    assert "--kmigrate-nightly" in command  # its test runs in nights alone
    assert json.loads((tmp_path / "runs" / "r.jsonl").read_text()) == LINE
    assert "--kmigrate-shard=1/1" in command  # whatever part of a night this machine has


@pytest.mark.parametrize("lacks", ["rules", "test"])
def test_nothing_is_written_for_a_run_that_is_not_run_again(tmp_path: Path, lacks: str) -> None:
    """The line would lie beside the runs as one that was carried out."""
    words = "pytest --kmigrate-byteman=gone.btm" if lacks == "rules" else "pytest"
    at = there(tmp_path) if lacks == "rules" else tmp_path
    test_id = TEST if lacks == "rules" else "tests/test_gone.py::test_it"
    header = replace(HEADER, test_id=test_id, extra={"reproduce": words, "schedule": LINE})
    with pytest.raises(WrongUseError, match=r"gone\.(btm|py)"):
        replay_command(header, tmp_path / "runs", at)
    assert not (tmp_path / "runs").exists()


def test_a_run_from_scratch_is_run_again_from_scratch(tmp_path: Path) -> None:
    """And one from a checkpoint, which says nothing of it, from a checkpoint."""
    again = f"{HEADER.extra['reproduce']} --kmigrate-cold"
    cold = replay_command(replace(HEADER, extra={"reproduce": again}), tmp_path, there(tmp_path))
    assert cold[-1] == "--kmigrate-cold"
    assert "--kmigrate-cold" not in replay_command(HEADER, tmp_path, tmp_path)


def test_a_shipped_topology_is_named_and_a_version_taken_from_the_header(tmp_path: Path) -> None:
    """Where the command line said nothing, the header does."""
    command = replay_command(replace(HEADER, extra={}), tmp_path, there(tmp_path))
    assert "--kmigrate-topology=zk3-broker3-controller3" in command
    assert "--kmigrate-kafka=3.9.1" in command


def test_an_older_command_with_a_lone_quote_is_passed_over(tmp_path: Path) -> None:
    """Folders from before the words were quoted are run again, on the release of their jars."""
    header = replace(HEADER, extra={"reproduce": f"pytest '{TEST}[it's]' --kmigrate-kafka /opt/kafka"})
    assert "--kmigrate-kafka=3.9.1" in replay_command(header, tmp_path, there(tmp_path))


def test_a_suite_of_the_package_is_run_from_there(tmp_path: Path) -> None:
    """A vendor who has only the wheel replays in an empty folder."""
    module = "pytest_kmigrate.suites.kip_866.test_happy_path::test_migration_ends_finalized_with_all_metadata"
    elsewhere = replace(HEADER, test_id=f"../lib/site-packages/pytest_kmigrate/{TEST}")
    for header in (HEADER, elsewhere):
        assert replay_command(header, tmp_path, tmp_path)[3:5] == ["--pyargs", module]


def test_a_test_is_asked_for_as_it_was(tmp_path: Path) -> None:
    """Its id names a module; the command that does it again has the file, and a suite's module is found anywhere."""
    words = "pytest ../suites/kip_866/test_happy_path.py::test_it --kmigrate-seed 7"
    own = replace(HEADER, test_id="test_happy_path::test_it", extra={"reproduce": words})
    start = there(tmp_path) / "start"
    start.mkdir()
    assert replay_command(own, tmp_path, start)[3] == "../suites/kip_866/test_happy_path.py::test_it"
    ours = replace(own, test_id="pytest_kmigrate.suites.kip_866.test_happy_path::test_it")
    assert replay_command(ours, tmp_path, start)[3:5] == ["--pyargs", ours.test_id]


@pytest.mark.parametrize("test_id", ["tests/test_mine.py::test_it", "suites/kip_866/test_gone.py::test_it"])
def test_a_test_that_is_nowhere_is_wrong_use(tmp_path: Path, test_id: str) -> None:
    """It says where it was looked for."""
    with pytest.raises(WrongUseError, match=r"below .* or a suite of the package"):
        replay_command(replace(HEADER, test_id=test_id), tmp_path, tmp_path)


def test_a_mutant_of_the_ini_file_is_run_again(tmp_path: Path) -> None:
    """The command line that was typed did not name it, and elsewhere there is no such ini file."""
    rules = tmp_path / "mutant.btm"
    rules.touch()
    header = replace(HEADER, extra={"command": ["pytest"], "reproduce": f"pytest {TEST} --kmigrate-byteman {rules}"})
    assert f"--kmigrate-byteman={rules}" in replay_command(header, tmp_path, there(tmp_path))


def test_missing_byteman_rules_are_wrong_use(tmp_path: Path) -> None:
    """Without its rules it would not be the same run."""
    header = replace(HEADER, extra={"reproduce": "pytest --kmigrate-byteman=gone.btm"})
    with pytest.raises(WrongUseError, match=r"gone\.btm"):
        replay_command(header, tmp_path, there(tmp_path))


def test_the_exit_code_is_passed_on() -> None:
    """Whatever pytest ended with."""
    assert replay([sys.executable, "-c", "raise SystemExit(5)"]) == 5


def test_runs_made_meanwhile_by_others_are_left_out(tmp_path: Path) -> None:
    """Another seed, another test, a folder that is no run; a suite's file may be found elsewhere than it was."""
    moved = RECORDED.test_id.replace("suites/", "../site-packages/pytest_kmigrate/suites/")
    other = RECORDED.test_id.replace("takes_over", "goes")
    headers = [replace(RECORDED, test_id=moved), replace(RECORDED, seed=8), replace(RECORDED, test_id=other)]
    for number, header in enumerate(headers):
        RecordedRun(tmp_path / str(number), header).end(1)
    (tmp_path / "none").mkdir()
    assert runs_of(RECORDED, [*tmp_path.glob("*/run"), tmp_path / "none"]) == [tmp_path / "0" / "run"]
