"""What is told where no test ran: a cluster that does not start, a full disk, the command line of a worker."""

import errno
import sys
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.plugin import living
from tests.unit.plugin.conftest import TEST

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
    monkeypatch.setattr(living, "provider_named", lambda *_: pytest.fail("began all the same"))
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["zk1-broker3-controller3: expected 3538 MB of free memory for 7 nodes *, got 100 MB: *"]
    )
    assert not pytester.path.joinpath("reports").exists()


def test_a_worker_tells_the_command_line_that_was_typed() -> None:
    """Its own begins with -c, and nobody could type that again."""
    worker = SimpleNamespace(workerinput={"mainargv": ["pytest", "-n", "2"]})
    assert living._command(cast("pytest.Config", worker)) == ("pytest", "-n", "2")
    assert living._command(cast("pytest.Config", SimpleNamespace())) == tuple(sys.argv)


def test_a_disk_that_is_full_is_told_in_one_line(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file, what is wrong, and which folders can be named; no stack trace."""

    def artifacts(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/state/etc")

    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**40))
    monkeypatch.setattr(living, "provider_named", lambda *_: SimpleNamespace(artifacts=artifacts))
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    told = "*No space left on device: '/state/etc'; make room there, or name another folder by --kmigrate-runs, *"
    result.stdout.fnmatch_lines([told])
    assert "Traceback" not in result.stdout.str()
