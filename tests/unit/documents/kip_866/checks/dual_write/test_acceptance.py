"""Check of changes that a cluster accepted before the copy, and refuses after it."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.dual_write.acceptance import metadata_changes_stay_accepted
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import change, event, fault, history, phase

ACL = {"wanted": {"binding": "User:a|*|Read|Allow"}}
BEFORE = [change(1_000, "set-acl", "Topic:LITERAL:a", **ACL), change(1_500, "set-scram", "a:SCRAM-SHA-256")]
HYBRID = phase(5_000, "HYBRID")


def refused(at_ms: int, kind: str = "remove-acl", error: str = "SECURITY_DISABLED") -> Event:
    """A change that the cluster did not take in."""
    return change(at_ms, kind, "Topic:LITERAL:a", "failed", error=error, **ACL)


def test_a_family_that_is_refused_after_the_copy_violates() -> None:
    """Violating: reported with its errors, and since when; what goes on being accepted beside it is not named."""
    after = [refused(6_000), change(6_500, "set-scram", "a:SCRAM-SHA-256"), refused(7_000, "set-acl", "NOT_CONTROLLER")]
    verdict = metadata_changes_stay_accepted.judge(history(events=[*BEFORE, phase(4_000, "COPYING"), HYBRID, *after]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
    (violation,) = verdict.violations
    assert violation.expected == "changes of acls are accepted, as before the copy"
    assert violation.observed == (
        "each of 2 was refused (NOT_CONTROLLER, SECURITY_DISABLED), first 6.0 s after the run began, in HYBRID"
    )


def test_an_error_of_the_whole_family_violates_at_once() -> None:
    """Violating: controllers without an authorizer refuse every change of ACLs, and one was tried."""
    after = [refused(6_000), change(6_500, "set-scram", "a:SCRAM-SHA-256")]
    verdict = metadata_changes_stay_accepted.judge(history(events=[*BEFORE, HYBRID, *after]))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert verdict.violations[0].expected == "changes of acls are accepted, as before the copy"


def test_a_family_that_was_refused_once_is_undecided() -> None:
    """Inconclusive: the refusal may be an accident; the summary names the family, and counts only what was accepted."""
    after = [refused(6_000, error="NOT_CONTROLLER"), change(6_500, "set-scram", "a:SCRAM-SHA-256")]
    verdict = metadata_changes_stay_accepted.judge(history(events=[*BEFORE, HYBRID, *after]))
    assert (verdict.outcome, verdict.kind, verdict.facts["undecided"]) == (
        Outcome.INCONCLUSIVE,
        Kind.VACUOUS,
        ["acls"],
    )
    assert verdict.summary == (
        "refused once each, too seldom to decide: acls (NOT_CONTROLLER); 1 family changed before the copy and after it"
    )


@pytest.mark.parametrize(
    "after",
    [
        [refused(6_000), change(7_000, "set-acl", "Topic:LITERAL:b", **ACL)],
        [refused(6_000, error="RESOURCE_NOT_FOUND"), change(6_500, "set-scram", "a:SCRAM-SHA-256")],
    ],
    ids=["accepted once more", "refused for a thing that is gone"],
)
def test_single_refusals_are_none_of_a_family(after: list[Event]) -> None:
    """Conforming: what another change deleted before cannot be changed, and is refused."""
    verdict = metadata_changes_stay_accepted.judge(history(events=[*BEFORE, HYBRID, *after]))
    assert verdict.outcome is Outcome.CONFORMS


def test_refusals_under_a_fault_prove_nothing() -> None:
    """Not applicable: who is cut off may refuse; nor what had no answer, nor what was never accepted."""
    cut = fault(5_500, "cut")
    healed = event(EventKind.FAULT_HEALED, 9_000, fault_id="cut")
    under_fault = history(events=[*BEFORE, HYBRID, *cut, refused(6_000), refused(7_000), healed])
    assert metadata_changes_stay_accepted.judge(under_fault).outcome is Outcome.NOT_APPLICABLE
    unanswered = [change(at, "set-acl", "Topic:LITERAL:a", "indefinite", **ACL) for at in (6_000, 7_000)]
    assert (
        metadata_changes_stay_accepted.judge(history(events=[*BEFORE, HYBRID, *unanswered])).outcome
        is Outcome.NOT_APPLICABLE
    )
    never = history(events=[HYBRID, refused(6_000), refused(7_000)])
    assert metadata_changes_stay_accepted.judge(never).outcome is Outcome.NOT_APPLICABLE


def test_without_a_copy_there_is_no_after_it() -> None:
    """Not applicable: a run that stayed with ZooKeeper."""
    assert metadata_changes_stay_accepted.judge(history(events=BEFORE)).outcome is Outcome.NOT_APPLICABLE
