"""Of the logs of a cluster that several runs use, each run gets what was logged while it was under way."""

from pathlib import Path

from pytest_kmigrate.recording.log_slices import copy_since, sizes_of


def test_a_run_gets_what_was_appended_to_logs_and_other_files_whole(tmp_path: Path) -> None:
    """Logs that came later are copied from their beginning; those that were there keep what they had."""
    logs = tmp_path / "logs"
    assert sizes_of(logs) == {}
    (logs / "broker-0").mkdir(parents=True)
    log, properties = logs / "broker-0" / "server.log", logs / "broker-0" / "server-1.properties"
    log.write_text("before\n")
    properties.write_text("a=1\n")
    before = sizes_of(logs)
    with log.open("a") as more:
        more.write("since\n")
    (logs / "other.log").write_text("new\n")
    copy_since(logs, before, tmp_path / "to")
    copied = {str(file.relative_to(tmp_path / "to")): file.read_text() for file in (tmp_path / "to").rglob("*.*")}
    assert copied == {
        "broker-0/server.log": "since\n",
        "broker-0/server-1.properties": "a=1\n",
        "other.log": "new\n",
    }
