"""What a rehearsal says of a command that does not keep the contract."""

import pytest
from typer.testing import CliRunner

from pytest_kmigrate.cli import app
from pytest_kmigrate.documents import document
from pytest_kmigrate.documents.kip_125.kinds import WITH
from pytest_kmigrate.documents.kip_125.rehearsing import CALLBACKS, NEEDED, lacking, problems
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.providers.fake.provider import FakeProvider
from pytest_kmigrate.running.rehearsing import rehearse
from tests.unit.checkers.histories import event
from tests.unit.documents.kip_125.groups import ended


def trouble(error: str) -> Event:
    """A line of a member could not be taken."""
    return event(EventKind.HARNESS_TROUBLE, 10, what="a line of MEZKCC-1", error=error)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([ended(1, 10, status=0, said="")], []),
        ([trouble("expected a line of JSON"), trouble("another")], ["a line of MEZKCC-1: expected a line of JSON"]),
        ([ended(1, 10, "died", status=3, said="no class")], ["it exited with 3; it wrote 'no class'"]),
        ([ended(1, 10, "died", status=-9, said="")], ["it hung, and was killed"]),
        ([ended(1, 10, "refused", status=2, said="oops")], ['begins with "coordination.migration.enabled:"']),
        ([ended(1, 10, "refused", status=2, said="coordination.migration.enabled: expected true")], []),
    ],
)
def test_each_mistake_is_one_sentence(events: list[Event], expected: list[str]) -> None:
    """No JSON, a death, a hang at the order to stop, a refusal without its key; nothing for what is as it should be."""
    found = list(problems(events))
    assert len(found) == len(expected)
    assert all(words in sentence for words, sentence in zip(expected, found, strict=True))
    assert all(sentence.startswith((f"{WITH}-1", "a line of")) for sentence in found)


def test_a_callback_that_is_never_printed_is_a_mistake() -> None:
    """The script's members have a listener; a line without which only less is judged is none."""
    needed = dict.fromkeys((*NEEDED, *CALLBACKS), 1)
    assert list(lacking(needed)) == []
    (missing,) = lacking({**needed, "before_releasing_partitions": 0})
    assert missing.startswith("before_releasing_partitions: expected of a member with --listener")
    assert [each.partition(":")[0] for each in lacking({})] == [*NEEDED, *CALLBACKS]


@pytest.mark.parametrize(("command", "shown"), [("/no/such/member --fast", "'/no/such/member'"), ("", "''")])
def test_a_command_that_is_not_there_is_named_before_a_cluster_starts(command: str, shown: str) -> None:
    """By its program, in one sentence."""
    result = CliRunner().invoke(app, ["consumers", "validate", command])
    expected = f"COMMAND: expected a program that this machine can start; got {shown}"
    assert isinstance(result.exception, WrongUseError)
    assert str(result.exception) == expected


def test_a_document_without_members_has_no_rehearsal() -> None:
    """The error names a document that has one."""
    with pytest.raises(WrongUseError, match="expected a document about consumer groups"):
        rehearse(document("kip-866"), ["true"], FakeProvider(), None, lambda _: None)
