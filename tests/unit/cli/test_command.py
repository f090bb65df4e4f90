"""The console command as a whole: its commands, exit statuses, and what it costs to ask it for help."""

import errno
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.cli import app, main
from pytest_kmigrate.machine import doctor
from pytest_kmigrate.machine.doctor import Finding
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.running import replaying
from tests.unit.reports.recorded_runs import faulty_run

Invoke = Callable[..., int]


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    """Run ``kmigrate`` with these words, with a state folder of this test's own; returns the exit status."""
    monkeypatch.setenv("KMIGRATE_STATE", str(tmp_path / "state"))

    def invoked(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["kmigrate", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return invoked


def test_the_commands_have_their_fixed_names() -> None:
    """Scripts rely on these names."""
    names = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert names == {
        "doctor", "up", "ps", "logs", "down", "gc", "attach", "fetch", "requirements", "judge", "analyze", "replay",
        "docs", "certify", "verify", "compare", "digest", "register", "bugs",
    }  # fmt: skip
    assert {group.name for group in app.registered_groups} == {"chaos", "consumers", "topology"}


def test_help_imports_nothing_heavy() -> None:
    """Kafka's clients, Arrow, Spark, pydantic and pytest are imported by the commands that need them."""
    heavy = ("confluent_kafka", "pyarrow", "numpy", "pyspark", "pydantic", "kazoo", "pytest", "psutil", "yaml")
    code = f"import sys, pytest_kmigrate.cli; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("up",),
        ("nonsense",),
        ("fetch", "3.9.1"),
        ("analyze", "x"),
        ("down", "x"),
    ],
)
def test_wrong_usage_ends_with_2(invoke: Invoke, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """What the command line itself forbids is wrong use."""
    assert invoke(*words) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("up", "zk1-brokr3", "--dry-run"), "did you mean"),
        (("up", "zk1-broker3", "--provider", "attach"), "--provider: expected one of process, docker; got 'attach'"),
        (("up", "zk1-broker3", "--provider", "docker", "--kafka", "3.9.9"), "--kafka: expected a release from 3.2.3"),
        (("up", "kraft-broker3-controller3", "--phase", "hybrid"), "has no zookeeper"),
        (("up", "kraft-broker3-controller3", "--phase", "hybrid", "--dry-run"), "has no zookeeper"),
        (("up", "zk1-broker3-controller3", "--phase", "hybrid", "--kafka", "3.3.2"), "HYBRID: expected controllers of"),
        (("up", "zk1-broker3-controller3", "--phase", "copying"), "--phase: expected one of PREPARING, HYBRID, ALL_"),
        (
            ("up", "zk1-broker3-controller3", "--phase", "x", "--profile", "kip-125"),
            "--phase: expected none, as kip-125 has no",
        ),
        (("up", "zk1-broker3-controller3", "--phase", "x", "--profile", "kip-86"), "profile: expected one of kip-125"),
        (("up", "zk1-broker3-controller3", "--dry-run", "--profile", "kip-1"), "profile"),
        (("up", "zk1-broker3-controller3", "--dry-run", "--kafka", "3.9.9"), "--kafka: expected a release from 3.2.3"),
        (("up", "zk1-broker3-controller3", "--dry-run", "--kafka", "nowhere/"), "--kafka: expected a release, or the"),
        (("requirements", "--profile", "kip-86"), 'did you mean "kip-866"'),
        (("requirements", "--coverage", "nowhere"), "expected a folder of runs"),
        (("judge", "nowhere"), "expected a run folder"),
        (("replay", "nowhere"), "expected a run folder"),
        (("analyze", "nowhere", "--out", "report"), "expected a folder of runs"),
        (("logs", "broker-0"), "expected one running cluster; running: none"),
        (("down", "7"), "expected a cluster on block 7"),
        (("attach", "x.toml"), "attach: expected --check, --observe or --heal; got none"),
        (("attach", "x.toml", "--check", "--heal"), "--check, --observe or --heal; got --check and --heal"),
    ],
)
def test_an_error_of_ours_is_its_text_and_status(
    invoke: Invoke,
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is printed on standard error without a stack trace."""
    monkeypatch.chdir(Path(__file__).parent)
    assert invoke(*words) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_topology_that_does_not_fit_ends_with_4(
    invoke: Invoke, options: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is looked at before anything is started."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=100 * 2**20))
    assert invoke("up", "zk1-broker3-controller1", *options) == 4
    assert "got 100 MB" in capsys.readouterr().err


def test_a_dry_run_shows_the_plan_and_starts_nothing(
    invoke: Invoke, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes and the version given on the command line."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**40))
    assert invoke("up", "zk1-broker3-controller1", "--dry-run", "--kafka", "3.6.2") == 0
    out = capsys.readouterr().out
    assert "controller-3000" in out
    assert "Kafka under test: 3.6.2" in out
    assert invoke("ps") == 0
    assert "no cluster stands here" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(invoke: Invoke, capsys: pytest.CaptureFixture[str]) -> None:
    """What a bug report asks for first."""
    assert invoke("--version") == 0
    assert capsys.readouterr().out == f"pytest-kmigrate {version('pytest-kmigrate')}\n"


def test_an_error_of_the_system_is_one_line_and_4(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk is a lack of the environment, and no violation."""

    def full() -> list[Finding]:
        raise OSError(errno.ENOSPC, "No space left on device", "/runs")

    monkeypatch.setattr(doctor, "examine", full)
    assert invoke("doctor") == 4
    assert capsys.readouterr().err == "[Errno 28] No space left on device: '/runs'\n"


def test_a_folder_that_was_removed_under_our_feet_is_told(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The system only says that there is no such file, and names none."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert invoke("fetch", "3.9.1", "--to", "here") == 4
    assert "expected to be in a folder, got one that was removed" in capsys.readouterr().err


def test_a_defect_of_ours_is_no_violation(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unforeseen error is one line, with the place in our code, and status 3: 1 would say that Kafka is wrong."""
    monkeypatch.setattr(doctor, "examine", lambda: {}["key"])
    assert invoke("doctor") == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("KeyError: 'key' (test_command.py:")
    assert line.endswith("a defect of pytest-kmigrate; please report it with this command")


@pytest.mark.parametrize(("makes", "status"), [("green", 0), ("cut off", 3), ("nothing", 3)])
def test_a_replay_ends_as_judging_the_run_it_made_does(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, makes: str, status: int
) -> None:
    """Whatever pytest's own status says: 1 is a violation here."""
    recorded = faulty_run(tmp_path / "runs").cut_off().path

    def replayed(_command: list[str]) -> int:
        if makes != "nothing":
            run = faulty_run(tmp_path / "new")
            if makes == "green":
                run.at(2500, EventKind.CHECKS, checks=[{"name": "no_unexpected_death", "arguments": {}}])
                write_manifest(run.end(3000))
            else:
                run.cut_off()
            run.folder.path.rename(recorded.parent / "again")
        return 1

    monkeypatch.setattr(replaying, "replay_command", lambda *_: ["pytest"])
    monkeypatch.setattr(replaying, "replay", replayed)
    assert invoke("replay", str(recorded)) == status


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([conforms("all").by("a")], 0),
        ([conforms("all").by("a"), violates(Kind.SAFETY, [Violation("x", "y")]).by("b")], 1),
        ([inconclusive(Kind.VACUOUS, "nothing").by("c")], 3),
    ],
)
def test_coverage_ends_as_the_worst_that_runs_say(
    invoke: Invoke, tmp_path: Path, verdicts: list[Verdict], status: int
) -> None:
    """What no run judged is reported, and is no reason of its own."""
    write_manifest(faulty_run(tmp_path).end(3, *(each.speaking_for("K866-TEST-happy-path") for each in verdicts)))
    assert invoke("requirements", "--coverage", str(tmp_path)) == status


@pytest.mark.slow
def test_coverage_says_how_much_was_asked(invoke: Invoke, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same count as on top of a report; long ids stay in one piece."""
    write_manifest(faulty_run(tmp_path).end(3, conforms("all").by("a").speaking_for("K866-TEST-happy-path")))

    invoke("requirements", "--coverage", str(tmp_path))

    reported = capsys.readouterr().out
    asked = sum(not row.covered_by for row in requirements("kip-866"))
    assert f"{asked} requirements over 1 run: 1 conforms, {asked - 1} not judged" in reported
    assert "K866-METRIC-ControllerMetadataType-active-only " in reported


@pytest.mark.parametrize("words", ["requirements", "--version"])
@pytest.mark.slow
def test_a_reader_who_goes_away_is_no_violation(words: str) -> None:
    """As ``| head -1`` does: the command ends without a word, and as a shell expects of it."""
    command = [sys.executable, "-m", "pytest_kmigrate.cli", *words.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
    assert (process.returncode, said) == (141, "")


@pytest.mark.parametrize("closed", ["2>&1 | true", "2>&-"])
@pytest.mark.slow
def test_an_error_that_nobody_reads_keeps_its_status(closed: str) -> None:
    """Whoever asked looks at the status only."""
    command = f"set -o pipefail; {sys.executable} -m pytest_kmigrate.cli judge nowhere {closed}"
    assert subprocess.run(["bash", "-c", command], capture_output=True, check=False).returncode == 2


@pytest.mark.slow
def test_a_command_works_without_standard_output() -> None:
    """As a job that was started with it closed."""
    command = f"{sys.executable} -m pytest_kmigrate.cli requirements >&-"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
def test_a_terminal_of_few_characters_is_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does not know is a question mark, and no defect of ours."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    command = [sys.executable, "-m", "pytest_kmigrate.cli", "up", "zk1-broker3-controller1", "--dry-run"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert " ? 127.x." in ended.stdout


def test_ctrl_c_ends_with_130(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a shell expects, and with one line."""

    def interrupted() -> list[Finding]:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "examine", interrupted)
    assert invoke("doctor") == 130
    assert capsys.readouterr().err == "interrupted; the same command can be run again\n"


def test_doctor_tells_the_cure_of_each_lack(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lacks is status 4, and what is for information is not."""
    docker = Finding("docker", ok=True, found="no docker (not needed)")
    java = Finding("java", ok=False, found="no java", cure="get java")
    monkeypatch.setattr(doctor, "examine", lambda: [docker])
    assert invoke("doctor") == 0
    monkeypatch.setattr(doctor, "examine", lambda: [docker, java])
    assert invoke("doctor") == 4
    out, err = capsys.readouterr()
    assert "java: get java" in out
    assert "this machine lacks: java" in err
    monkeypatch.setattr(doctor, "cure", lambda _tell: [Finding("java", ok=True, found="Java 17")])
    assert invoke("doctor", "--cure") == 0
