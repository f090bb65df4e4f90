"""A run that needs no cluster: what a test inside pytester verifies is judged by verdicts that the test sets."""

import pytest

CONFTEST = '''
"""Replaces the live run by one whose verdicts stand in ``kmigrate_verdicts``, a variable of the test module."""

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.plugin import living
from pytest_kmigrate.recording.run_folder import RunFolder


class Run:
    cluster = SimpleNamespace(capabilities=frozenset())
    verdicts = None

    def __init__(self, item):
        self.planted = list(getattr(item.module, "kmigrate_verdicts", []))
        self.folder = RunFolder(Path("runs") / "run-1")

    def verify(self, checks):
        self.verdicts = self.planted
        return self.planted

    def history(self):
        return History(RunHeader("run-1", "t", 7, "3.6.0", "small", extra={"reproduce": "pytest t --kmigrate-seed 7"}))

    def dump_threads(self):
        pass


@contextmanager
def run_of(item, topology):
    run = Run(item)
    yield run
    living._judge_unjudged(item, run)


living.run_of = run_of
'''


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder for an inner pytest, in which runs are not live."""
    pytester.makeconftest(CONFTEST)
    return pytester
