"""Which runs prove that a real bug is seen on a broken release and gone on a fixed one."""

import json
import sys
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import Place, all_known_bugs
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports import resurrection, suite_tests
from pytest_kmigrate.reports.resurrection import Fate, Result, Resurrection, main, markdown, result_of, resurrections_of

BUG = "KAFKA-16121"
OF = Resurrection(BUG, "test_it::test_of_it", "3.6.1", "3.6.2")
RED = ("moves", "VIOLATES", [BUG])
GREEN = ("moves", "CONFORMS", [])
OTHER_RED = ("steps", "VIOLATES", [])
LASTING = ("moves", "VIOLATES", ["kmigrate-6"])
UNSURE = ("moves", "INCONCLUSIVE", [])

Judged = tuple[str, str, list[str]]


@pytest.mark.parametrize(
    ("broken", "fixed", "fate", "seen"),
    [
        ([RED, OTHER_RED], [GREEN, OTHER_RED], Fate.BACK, "moves"),
        ([RED], [LASTING], Fate.BACK, "moves"),
        ([OTHER_RED, GREEN], [GREEN], Fate.UNSEEN, "steps"),
        ([RED], [RED], Fate.STILL_THERE, "moves"),
        ([RED, ("steps", "VIOLATES", [BUG])], [UNSURE, ("steps", "CONFORMS", [])], Fate.BACK, "moves, steps"),
        ([RED], [OTHER_RED], Fate.NOT_JUDGED, "moves"),
        ([RED], [UNSURE], Fate.NOT_JUDGED, "moves"),
        ([RED], [("moves", "VIOLATES", [])], Fate.STILL_THERE, "moves"),
        ([], [GREEN], Fate.NOT_JUDGED, "no verdict in {runs}/3.6.1; see pytest.log there"),
        ([RED], [], Fate.NOT_JUDGED, "no verdict in {runs}/3.6.2; see pytest.log there"),
    ],
)
def test_a_bug_is_back_if_the_checks_that_name_it_are_green_without_it(
    tmp_path: Path, broken: list[Judged], fixed: list[Judged], fate: Fate, seen: str
) -> None:
    """Red by name and then green, in the same check; what the fixed release still has may explain another red."""
    _write(tmp_path / "3.6.1", broken)
    _write(tmp_path / "3.6.2", fixed)
    assert result_of(OF, tmp_path) == Result(OF, fate, seen.format(runs=tmp_path))


def test_the_newest_run_counts(tmp_path: Path) -> None:
    """One that was made again after a check was mended."""
    _write(tmp_path / "3.6.1", [OTHER_RED], name="run-1")
    _write(tmp_path / "3.6.1", [RED], name="run-2")
    _write(tmp_path / "3.6.2", [GREEN])
    assert result_of(OF, tmp_path).fate is Fate.BACK


def test_each_one_of_the_package_names_a_test_and_a_bug_that_was_fixed() -> None:
    """Every recognized bug that was fixed and needs no luck is brought back."""
    found = {each.id for each in resurrections_of("kip-866")}
    fixed = {each.id for each in all_known_bugs() if each.fixed_in and each.recognized and each.reachability != "race"}
    assert fixed <= found


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"id": "KAFKA-1"}, "id: expected that of a bug of known-bugs.toml, got one that is not there"),
        ({"broken": "3.6.2"}, "broken: expected a release that has the bug (>=3.4.0,<=3.6.1), got 3.6.2"),
        ({"fixed": "3.6.1"}, "fixed: expected a release without the bug, which >=3.4.0,<=3.6.1 have; got 3.6.1"),
        ({"test": "test_none::test_it"}, 'got "test_none::test_it"'),
    ],
)
def test_one_that_cannot_be_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], problem: str
) -> None:
    """With its file and id, before anything runs."""
    row = {"id": BUG, "test": "test_toy::test_of_it", "broken": "3.6.1", "fixed": "3.6.2"} | given
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in row.items())
    (tmp_path / "resurrections.toml").write_text(f"[[resurrection]]\n{lines}\n")
    suite = tmp_path / "suites" / "toy"
    suite.mkdir(parents=True)
    (suite / "test_toy.py").write_text("def test_of_it(): ...\n")
    monkeypatch.setattr(suite_tests, "SUITES", tmp_path / "suites")
    monkeypatch.setattr(resurrection, "place_of", lambda _: Place("toy", "toy", tmp_path, "toy"))
    with pytest.raises(WrongUseError, match=r"resurrections\.toml: ") as error:
        resurrections_of("toy")
    assert problem in str(error.value)


def test_each_is_run_on_both_releases_and_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its topology; the page and the exit status say what became of it."""
    commands: list[list[str]] = []

    def command_of(*_: object, **options: str | None) -> list[str]:
        commands.append([str(options["kafka"]), str(options.get("topology"))])
        return [sys.executable, "-c", ""]

    monkeypatch.setattr(resurrection, "command_of", command_of)
    assert main("kip-866", str(tmp_path), "KAFKA-15149") == 1
    assert commands == [["3.5.0", "zk1-broker3-controller1"], ["3.5.1", "zk1-broker3-controller1"]]
    assert "not judged" in capsys.readouterr().out
    assert "| KAFKA-15149 |" in (tmp_path / "resurrections.md").read_text()
    assert main("kip-866", str(tmp_path), "KAFKA-0") == 2


def test_the_page_counts_those_that_are_back() -> None:
    """Beside all that were tried."""
    lines = markdown([Result(OF, Fate.BACK, "moves"), Result(OF, Fate.UNSEEN, "-")]).splitlines()
    assert lines[0] == "1 of 2 bugs brought back."
    assert lines[4] == f"| {BUG} | `test_it::test_of_it` | 3.6.1 | 3.6.2 | brought back | moves |"


def _write(runs: Path, verdicts: list[Judged], name: str = "run-1") -> None:
    if verdicts:
        run = runs / name
        run.mkdir(parents=True)
        lines = [json.dumps({"check": check, "outcome": of, "known_bugs": bugs}) for check, of, bugs in verdicts]
        (run / "verdicts.jsonl").write_text("\n".join(lines) + "\n")
