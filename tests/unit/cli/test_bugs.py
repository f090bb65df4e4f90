"""The command ``bugs``, and the pages of releases that are made from the same catalogue."""

import pytest

from tests.releases_docs import FOLDER, pages
from tests.unit.cli.test_command import Invoke, invoke

__all__ = ["invoke"]


def test_the_defects_of_a_release_are_listed_with_what_they_cost(
    invoke: Invoke, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gravest first; departures are counted only."""
    assert invoke("bugs", "--kafka", "3.6.2") == 0
    reported = capsys.readouterr().out
    assert reported.index("KAFKA-17146") < reported.index("KAFKA-16539") < reported.index("negative-time-of-snapshots")
    assert "3.7.1, 3.8.0" in reported
    assert "notifications-outside-transactions" not in reported
    assert "known defects, " in reported


def test_another_release_is_compared(invoke: Invoke, capsys: pytest.CaptureFixture[str]) -> None:
    """What it still has, what it has no more, and what is new in it."""
    assert invoke("bugs", "--kafka", "3.6.2", "--to", "3.9.1") == 0
    _, compared, new = capsys.readouterr().out.partition("Kafka 3.9.1 still has ")
    assert compared
    assert "kmigrate-34" in new
    assert "KAFKA-16539" not in new


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kafka", "3.6"], "--kafka: expected a release of Kafka (3.2.3, "),
        (["--kafka", "3.6.2", "--to", "next"], "--to: expected a release of Kafka (3.2.3, "),
        (["--kafka", "3.6.2", "--profile", "kip-1"], "--profile: expected one of "),
    ],
)
def test_what_is_no_release_is_one_line(
    invoke: Invoke, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """With what there is."""
    assert invoke("bugs", *words) == 2
    assert said in capsys.readouterr().err


def test_the_pages_of_releases_are_those_of_the_catalogue() -> None:
    """All of them, and no other."""
    assert {file.name: file.read_text() for file in FOLDER.iterdir()} == pages(), "docs/releases: run make docs"
