"""Facts about reds of schedules: what they are called, and what is refused before anything runs."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pytest_kmigrate.campaigns import reds
from pytest_kmigrate.campaigns.reds import Red, dispensable, names_of, new_reds, red_of
from pytest_kmigrate.cli import app
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.schedules.header import FINAL_READ, IMAGES
from pytest_kmigrate.faults.schedules.schedule import Happening, Schedule
from pytest_kmigrate.faults.targets import node
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation


def _red(check: str, kind: Kind = Kind.LIVENESS, *bugs: str, counts: bool = True) -> Verdict:
    return Verdict(check, Outcome.VIOLATES, kind, "x", known_bugs=bugs, standing=not counts)


def test_a_red_is_called_by_its_bugs_and_else_by_its_checks() -> None:
    """What is new comes first, and SAFETY before the rest; what conforms has no name."""
    verdicts = [
        _red("slow"),
        _red("known", Kind.SAFETY, "kmigrate-35", "KAFKA-1"),
        _red("lost", Kind.SAFETY),
        Verdict("fine", Outcome.CONFORMS, None, "x"),
        _red("lost", Kind.SAFETY),
    ]
    assert names_of(verdicts) == (("lost", "slow", "kmigrate-35", "KAFKA-1"), ("lost", "slow"))
    assert names_of(verdicts[3:4]) == ((), ())


OF_IMAGES = Violation("x", "y", 1, ("event 3", "image after-log"))
OF_AN_EVENT = Violation("x", "y", 1, ("event 3",))


@pytest.mark.parametrize(
    ("check", "violation", "facts", "expected"),
    [
        ("no_acked_record_lost", OF_AN_EVENT, {}, (IMAGES,)),
        ("longest_time_without_acked_write", OF_AN_EVENT, {}, (FINAL_READ, IMAGES)),
        ("longest_time_without_an_active_controller", OF_AN_EVENT, {}, (FINAL_READ, IMAGES)),
        ("brokers_are_told_of_changes", OF_IMAGES, {}, (FINAL_READ,)),
        ("metadata_equivalent", OF_AN_EVENT, {"images": ["a", "b"]}, (FINAL_READ,)),
    ],
)
def test_a_run_that_looks_for_one_red_goes_without_what_it_does_not_rest_on(
    check: str, violation: Violation, facts: dict[str, object], expected: tuple[str, ...]
) -> None:
    """Reading back, or comparing images, takes minutes where a cluster is gone."""
    red = replace(_red(check), violations=(violation,), count=1, facts=facts)
    assert dispensable(check, [red, _red("no_acked_record_lost", Kind.SAFETY, "kmigrate-1")]) == expected


def test_of_a_known_bug_all_that_it_explains_is_kept() -> None:
    """Any of it may be what shows next time."""
    about = replace(_red("brokers_are_told_of_changes", Kind.SAFETY, "kmigrate-7"), violations=(OF_IMAGES,), count=1)
    lost = _red("no_acked_record_lost", Kind.SAFETY, "kmigrate-7", "kmigrate-35")
    assert dispensable("kmigrate-7", [about, lost]) == ()
    assert dispensable("kmigrate-35", [about, lost]) == (IMAGES,)


def test_of_a_folder_the_smallest_run_of_each_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or of the name that is asked for, which may come second, or be known."""
    kill = Happening(1, Kill(node("broker-1")))
    shown = {"a": (("lost", "slow"), 1), "b": (("slow", "kmigrate-1"), 3), "c": (("slow",), 2)}
    for each in shown:
        (tmp_path / each).mkdir()
        (tmp_path / each / "run.json").touch()

    def red_of_it(run: Path) -> Red:
        names, happenings = shown[run.name]
        schedule = Schedule("kip-866", "t", (kill,) * happenings)
        new = tuple(each for each in names if not each.startswith("kmigrate-"))
        return Red(run, RunHeader("r", "t", 1, "3.9.1", "t"), schedule, names, new)

    monkeypatch.setattr(reds, "red_of", red_of_it)
    assert [each.run.name for each in new_reds(tmp_path)] == ["a", "c"]
    for name, run in (("lost", ["a"]), ("slow", ["a"]), ("kmigrate-1", ["b"]), ("gone", [])):
        assert [each.run.name for each in new_reds(tmp_path, name=name)] == run
    result = CliRunner().invoke(app, ["chaos", "shrink", str(tmp_path), "--signature", "gone"])
    assert f"--signature: expected what a run below {tmp_path} violates; got gone" in str(result.exception)


def test_what_is_no_red_run_of_a_schedule_is_refused(tmp_path: Path) -> None:
    """In one sentence, and a folder without any has none."""
    assert list(new_reds(tmp_path)) == []
    with pytest.raises(KmigrateError):
        red_of(tmp_path)
    assert {each.name for each in app.registered_groups} >= {"chaos"}
