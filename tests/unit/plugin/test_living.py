"""What is reported where no test ran: a cluster that does not start, a full disk, the command line of a worker."""

import errno
import sys
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.verdict import conforms
from pytest_kmigrate.plugin import living
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.recording.mutants import CLASS_FILE, write_mutant
from tests.unit.plugin.conftest import TEST, Plant, PlantedRun

pytest_plugins = ["pytester"]


def test_a_cluster_that_does_not_start_is_told_with_where_to_look(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test ran, so no table names the folder: the error does, and how to do it again."""

    def run_of(_item: pytest.Item, _topology: object) -> AbstractContextManager[None]:
        error = AwaitTimeoutError("broker-0 ready", 60, "no answer yet")
        error.add_note("evidence: runs/run-1\nagain: pytest t --kmigrate-seed 7")
        raise error

    monkeypatch.setattr(living, "run_of", run_of)
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["broker-0 ready: not within 60 s; *", "evidence: runs/run-1", "again: pytest t *"])


def test_a_topology_that_does_not_fit_is_refused_before_anything_is_downloaded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the words of ``kmigrate up``; no run folder is begun."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=100 * 2**20))
    provider = SimpleNamespace(runs_here=True, artifacts=lambda _: pytest.fail("began all the same"))
    monkeypatch.setattr(living, "provider_of", lambda *_: provider)
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["zk1-broker3-controller3: expected 3538 MB of free memory for 7 nodes *, got 100 MB: *"]
    )
    assert not pytester.path.joinpath("reports").exists()


def test_a_worker_tells_the_command_line_that_was_typed() -> None:
    """Its own begins with -c, which cannot be typed again."""
    worker = SimpleNamespace(workerinput={"mainargv": ["pytest", "-n", "2"]})
    assert living._command(cast("pytest.Config", worker)) == ("pytest", "-n", "2")
    assert living._command(cast("pytest.Config", SimpleNamespace())) == tuple(sys.argv)


def test_a_disk_that_is_full_is_told_in_one_line(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file, what is wrong, and which folders can be named; no stack trace."""

    def artifacts(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/state/etc")

    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**40))
    monkeypatch.setattr(living, "provider_of", lambda *_: SimpleNamespace(runs_here=True, artifacts=artifacts))
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    reported = "*No space left on device: '/state/etc'; make room there, or name another folder by --kmigrate-runs, *"
    result.stdout.fnmatch_lines([reported])
    assert "Traceback" not in result.stdout.str()


def test_a_test_is_brought_to_where_it_begins_as_a_part_of_itself(pytester: pytest.Pytester, plant: Plant) -> None:
    """After its fixtures, so that a workload is under way, and before its body; a test without the marker stays."""
    runs = plant(conforms("fine").by("phase_reached"))
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def under_way(kmigrate_run):
            assert kmigrate_run.walked == []

        @pytest.mark.starts_at("HYBRID", filled=True)
        def test_one(under_way, kmigrate_run, verify):
            assert len(kmigrate_run.walked) == 1
            verify()

        def test_other(verify):
            verify()
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)
    assert [run.walked for run in runs] == [[Start("HYBRID", is_filled=True)], []]


def test_a_test_that_does_not_come_to_where_it_begins_has_failed(pytester: pytest.Pytester, plant: Plant) -> None:
    """Not its setup, and its run is judged: what kept it from there may be what it would have shown."""
    runs = plant(conforms("fine").by("phase_reached"))
    pytester.makepyfile('import pytest\n@pytest.mark.starts_at("HYBRID")\ndef test_it(verify): verify()')
    pytester.makeconftest(
        """
        import pytest
        from pytest_kmigrate.model.errors import AwaitTimeoutError

        @pytest.fixture(autouse=True)
        def stuck(kmigrate_run):
            def walk_to(start):
                raise AwaitTimeoutError("phase HYBRID", 60, "PREPARING")
            kmigrate_run.walk_to = walk_to
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(failed=1)
    assert runs[0].judgement is not None


@pytest.mark.parametrize(
    ("option", "is_cold"),
    [
        ([], False),
        (["--kmigrate-cold"], True),
        (["--kmigrate-byteman=r.btm"], True),
        (["--kmigrate-mutant=changed"], False),
    ],
)
@pytest.mark.slow
def test_who_may_begin_from_checkpoints(pytester: pytest.Pytester, option: list[str], is_cold: bool) -> None:
    """Not a test that was asked for from scratch, and no rules: their effect must be seen where they were loaded."""
    pytester.path.joinpath("r.btm").write_text("RULE r\nCLASS C\nMETHOD m\nIF true\nDO NOTHING\nENDRULE\n")
    changed = pytester.mkdir("changed")
    write_mutant(changed, {"id": "m", "class_name": "org.acme.A"})
    (changed / CLASS_FILE).write_bytes(b"\xca\xfe\xba\xbe")
    config = pytester.parseconfigure(*option)
    settings = [living._settings(config, FakeProvider()) for _ in range(2)]
    assert [each.checkpoints is None for each in settings] == [is_cold, is_cold]
    assert settings[0].checkpoints is settings[1].checkpoints


def test_a_known_mistake_of_operators_comes_with_advice(pytester: pytest.Pytester, plant: Plant) -> None:
    """In one sentence, below the error."""
    plant()
    pytester.makepyfile(
        """
        from pytest_kmigrate.model.errors import NodeDiedError

        def test_it(kmigrate_run):
            raise NodeDiedError("broker-1", 1, "ERROR startup / No `meta.properties` found in /disk")
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(
        [
            "broker-1 died with exit code 1: ERROR startup / No `meta.properties` found in /disk",
            "advice: The disks were never formatted: run kafka-storage.sh *",
            "test: *.py:4",
        ]
    )


@pytest.mark.parametrize(
    ("ended_by", "recorded"),
    [("KeyboardInterrupt", []), ("ZeroDivisionError", [Ending.FAILED])],
    ids=["Ctrl-C", "no"],
)
def test_how_a_test_would_have_ended_is_not_recorded_after_a_ctrl_c(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ended_by: str, recorded: list[Ending]
) -> None:
    """So its run is not complete, and --kmigrate-resume runs the test again."""
    endings: list[Ending] = []
    monkeypatch.setattr(PlantedRun, "ended", lambda _, ending, _bug: endings.append(ending), raising=False)
    monkeypatch.setattr(living, "provider_of", lambda *_: FakeProvider())
    run = PlantedRun((conforms("all").by("a"),), "3.6.0")
    monkeypatch.setattr(living, "open_run", lambda *_, **__: nullcontext(run))
    pytester.makepyfile(f"def test_it(kmigrate_run):\n    raise {ended_by}\n")
    pytester.runpytest_inprocess("-p", "no:cacheprovider", no_reraise_ctrlc=True)
    assert run.judgement is not None
    assert endings == recorded
