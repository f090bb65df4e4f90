"""``kmigrate topology``: the file, the table beside it, and its errors."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.cli import main
from pytest_kmigrate.topology import loading

BROKER = "broker.id=7\nzookeeper.connect=z:2181/prod\nlog.dirs=/a,/b\nssl.key.password=not-in-a-topology\n"


def kmigrate(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """Run ``kmigrate topology`` with these words; its exit status."""
    command = ["kmigrate", "topology", *map(str, words)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """The properties of a broker."""
    file = tmp_path / "server.properties"
    file.write_text(BROKER, encoding="utf-8")
    return file


def test_a_file_is_written_and_a_table_printed(
    broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of the topology is the file's, and the file can be loaded."""
    made = tmp_path / "My Prod.toml"
    assert kmigrate(monkeypatch, "from", broker, "-o", made) == 0
    topology = loading.load(made)
    assert (topology.name, topology.chroot, topology.node("broker-7").log_dirs) == ("my-prod", "/prod", 2)
    out = capsys.readouterr().out
    assert "ssl.key.password (server.properties)" in out
    assert "secret" in out
    assert "not-in-a-topology" not in out + made.read_text(encoding="utf-8")


def test_without_a_file_the_topology_is_the_output(
    broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that it can go through a pipe; the table is on standard error."""
    assert kmigrate(monkeypatch, "from", broker, "--kafka", "3.8.1") == 0
    out, err = capsys.readouterr()
    (tmp_path / "piped.toml").write_text(out, encoding="utf-8")
    assert loading.load(tmp_path / "piped.toml").kafka == "3.8.1"
    assert "broker.id" in err


def test_a_copy_has_its_own_name_and_the_schema_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So its first line, which editors read, leads somewhere; a copy of the copy as well."""
    mine, again = tmp_path / "mine.toml", tmp_path / "again.toml"
    assert kmigrate(monkeypatch, "copy", "zk1-broker3-controller3-grown", mine) == 0
    assert kmigrate(monkeypatch, "copy", mine, again) == 0
    shipped = loading.load(loading.find("zk1-broker3-controller3-grown"))
    for file in (mine, again):
        first = file.read_text(encoding="utf-8").partition("\n")[0]
        assert (tmp_path / first.removeprefix("#:schema ")).read_text(encoding="utf-8") == loading.json_schema_text()
        assert loading.load(file) == replace(shipped, name=file.stem)
    assert kmigrate(monkeypatch, "copy", "zk1-broker3", mine) == 2
    assert "expected no file there, got one: give --force to replace it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nowhere"], "nowhere: expected a file or a folder, got nothing there"),
        (["{broker}", "-o", "{broker}"], "expected no file there"),
        (["{broker}", "--controllers", "2"], "--controllers: expected 0, 1, 3 or 5, got 2"),
        (["{broker}", "--kind", "helm"], "--kind: expected one of properties"),
        (["{broker}", "--kafka", "2.0"], "kafka: expected a release"),
        (["{broker}", "--kafka", "4.0.0"], "kafka: expected a release before 4.0.0"),
        (["{broker}", "-o", "nowhere/a.toml"], "nowhere/a.toml: expected a file in a folder that is there, got none"),
        (["{broker}", "-o", "{broker}/a.toml"], "a.toml: expected a file in a folder that is there, got none"),
        (["{broker}", "-o", "/proc/a.toml"], "/proc/a.toml: it cannot be written: No such file or directory; name an"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str],
    problem: str,
    broker: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And wrong use."""
    assert kmigrate(monkeypatch, "from", *(word.format(broker=broker) for word in words)) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert problem in err
