"""Facts about recorded transactions of ZooKeeper: they come back the same."""

from pathlib import Path

from pytest_kmigrate.model.history import RunHeader, Transaction, Write
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder

WRITES = (Write("check", "/controller_epoch", None, 4), Write("create", "/controller", "{}", 0, is_ephemeral=True))
LOGGED = (Transaction(5, 7, 9, WRITES, is_multi=True), Transaction(6, 8, 9, error=-110))


def test_transactions_come_back_the_same(tmp_path: Path) -> None:
    """With all of their operations; a folder in which none were stored has none."""
    recorder = RunRecorder(RunFolder(tmp_path), RunHeader("run-1", "test", 1, "3.9.1", "small"))
    assert read_history(RunFolder(tmp_path)).transactions == ()
    recorder.transactions(LOGGED)
    recorder.close()
    assert read_history(RunFolder(tmp_path)).transactions == LOGGED
