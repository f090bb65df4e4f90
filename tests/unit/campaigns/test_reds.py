"""Facts about reds of schedules: what they are called, and what is refused before anything runs."""

from pathlib import Path

import pytest

from pytest_kmigrate.campaigns.reds import names_of, new_reds, red_of
from pytest_kmigrate.cli import app
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict


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


def test_what_is_no_red_run_of_a_schedule_is_refused(tmp_path: Path) -> None:
    """In one sentence, and a folder without any has none."""
    assert list(new_reds(tmp_path)) == []
    with pytest.raises(KmigrateError):
        red_of(tmp_path)
    assert {each.name for each in app.registered_groups} >= {"chaos"}
