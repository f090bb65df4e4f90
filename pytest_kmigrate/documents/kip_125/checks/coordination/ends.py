"""Check that members end only when they are asked to."""

from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import has_members
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.members import MemberEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, conforms, inconclusive, violates


@checker(in_every_run=has_members)
def members_end_only_when_asked(history: History) -> Verdict:
    """No member dies of itself, and each that is asked to stop ends in order and in time."""
    ends = history.of(MemberEnded)
    if not ends:
        return inconclusive(Kind.VACUOUS, "no member ended")
    died = [each for each in ends if each.what.how == "died"]
    if not died:
        return conforms(f"{counted(len(ends), 'member')} ended, each as it was asked to")
    found = [
        timed_violation(
            history,
            f"{each.what.member} ends when it is asked to, with status 0",
            f"it ended with status {each.what.status}; it wrote {each.what.said!r}",
            each.at_ns,
        )
        for each in died
    ]
    return violates(Kind.SAFETY, found)
