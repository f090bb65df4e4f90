"""Check of changes that a cluster accepted before the copy, and refuses after it."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.dual_write.acceptance import (
    admin_requests_to_zookeeper_brokers_are_carried_out,
    metadata_changes_stay_accepted,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import change, event, fault, history, phase
from tests.unit.documents.kip_866.checks.nodes import broker, migrating, stopped

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
        "refused, too seldom to decide: acls (NOT_CONTROLLER); 1 family changed before the copy and after it"
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


def configured(at_ms: int, topic: str, outcome: str, error: str = "") -> Event:
    """A change of a topic's configs."""
    return change(at_ms, "alter-config", f"topic:{topic}", outcome, error=error, wanted={"retention.ms": "1"})


ABSENT = "UNKNOWN_TOPIC_OR_PARTITION"
CONFIGURED = configured(1_200, "a", "ok")


@pytest.mark.parametrize("made", ["indefinite", "ok"])
def test_what_may_never_have_been_made_cannot_be_changed(made: str) -> None:
    """Undecided: its creation had no answer. Violating beside it: two topics that were made are unknown, as none is."""
    topics = [change(5_500 + 10 * each, "create-topic", f"new-{each}", made) for each in (1, 2)]
    after = [configured(6_000 + 10 * each, f"new-{each}", "failed", ABSENT) for each in (1, 2)]
    events = [*BEFORE, CONFIGURED, HYBRID, *topics, *after]
    outcome = metadata_changes_stay_accepted.judge(history(events=events)).outcome
    assert outcome is (Outcome.VIOLATES if made == "ok" else Outcome.NOT_APPLICABLE)


def test_one_thing_that_is_not_there_is_an_accident_however_often_it_is_asked_for() -> None:
    """Undecided: both changes are of one topic, which something else may have deleted."""
    after = [configured(at_ms, "a", "failed", ABSENT) for at_ms in (6_000, 6_500)]
    verdict = metadata_changes_stay_accepted.judge(history(events=[*BEFORE, CONFIGURED, HYBRID, *after]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


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


FAMILIES = ("topics", "configs", "acls", "quotas", "scram")
KINDS = ("create-topic", "add-partitions", "delete-topic", "alter-config", "set-acl", "set-quota", "set-scram")


def asked(*changes: Event, families: tuple[str, ...] = FAMILIES, kraft: tuple[Event, ...] = ()) -> History:
    """A workload changed these families in dual write; brokers 0 and 1 run in ZooKeeper mode."""
    scope = {"families": list(families)}
    began = event(EventKind.WORKLOAD_BEGAN, 5_500, workload="metadata", scope=scope)
    return history(events=[*migrating(0, 0), *migrating(0, 1), HYBRID, *kraft, began, *changes])


def acknowledged(*kinds: str, at_ms: int = 6_000) -> list[Event]:
    """One change of each kind was acknowledged."""
    wanted = {"binding": "User:a|*|Read|Allow", "partitions": 2, "iterations": 4096}
    number = iter(range(at_ms, at_ms + 1_000, 10))
    return [change(next(number), kind, "a", wanted=wanted if kind != "set-quota" else {"q": 1.0}) for kind in kinds]


def of_admin(run: History) -> Outcome:
    """The outcome of the check about admin requests."""
    return admin_requests_to_zookeeper_brokers_are_carried_out.judge(run).outcome


def test_one_acknowledgement_of_each_kind_conforms() -> None:
    """Conforming: of each that the workload tries; a family that the release cannot take along is not missed."""
    assert of_admin(asked(*acknowledged(*KINDS))) is Outcome.CONFORMS
    fewer = [kind for kind in KINDS if kind not in ("set-acl", "set-scram")]
    assert of_admin(asked(*acknowledged(*fewer), families=("topics", "configs", "quotas"))) is Outcome.CONFORMS


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_is_only_refused_violates(kind: str) -> None:
    """Violating: all others are acknowledged; one refusal decides nothing."""
    others = acknowledged(*(each for each in KINDS if each != kind))
    refusals = [change(at, kind, "a", "failed", error="STALE_CONTROLLER_EPOCH") for at in (7_000, 8_000)]
    verdict = admin_requests_to_zookeeper_brokers_are_carried_out.judge(asked(*others, *refusals))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].expected == f"changes of {kind} are accepted, by brokers in ZooKeeper mode"
    assert of_admin(asked(*others, refusals[0])) is Outcome.INCONCLUSIVE


def test_a_kind_that_is_never_answered_violates() -> None:
    """Violating: a client asks another broker again and again, and gives up."""
    others = acknowledged(*(each for each in KINDS if each != "set-quota"))
    unanswered = [
        change(at, "set-quota", "a", "indefinite", error="_TIMED_OUT", wanted={"q": 1.0}) for at in (17_000, 28_000)
    ]
    verdict = admin_requests_to_zookeeper_brokers_are_carried_out.judge(asked(*others, *unanswered))
    assert verdict.violations[0].observed.startswith("each of 2 was refused or not answered (_TIMED_OUT), first 17.0 s")
    assert of_admin(asked(*others, unanswered[0])) is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("stops", "error", "outcome"),
    [
        ([stopped(28_500, "broker-0", took_ms=5_000)], "_TIMED_OUT", Outcome.INCONCLUSIVE),
        ([stopped(28_500, "broker-0", took_ms=100)], "_TIMED_OUT", Outcome.VIOLATES),
        ([stopped(28_500, "controller-3000", took_ms=5_000)], "_TIMED_OUT", Outcome.VIOLATES),
        ([], "_NOT_CONNECTED", Outcome.INCONCLUSIVE),
    ],
    ids=["one was stopping", "it was not yet", "a controller was", "no broker took them"],
)
def test_a_broker_that_is_stopping_may_answer_nothing(stops: list[Event], error: str, outcome: Outcome) -> None:
    """Vacuous: it closes its connections first, and is gone five seconds later."""
    others = acknowledged(*(each for each in KINDS if each != "set-quota"))
    unanswered = [change(at, "set-quota", "a", "indefinite", error=error, wanted={"q": 1.0}) for at in (17_000, 28_000)]
    assert of_admin(asked(*others, *unanswered, *stops)) is outcome


@pytest.mark.parametrize(
    ("answers", "error", "outcome"),
    [
        (("failed", "failed"), "INVALID_REQUEST", Outcome.VIOLATES),
        (("failed", "ok"), "INVALID_REQUEST", Outcome.CONFORMS),
        (("failed", "failed"), "INVALID_REPLICATION_FACTOR", Outcome.INCONCLUSIVE),
    ],
    ids=["refused", "acknowledged", "too few brokers"],
)
def test_what_was_answered_was_not_left_by_a_broker_that_is_stopping(
    answers: tuple[str, str], error: str, outcome: Outcome
) -> None:
    """All within its stop; a topic may lack the broker itself."""
    kind = "create-topic" if error == "INVALID_REPLICATION_FACTOR" else "set-quota"
    others = acknowledged(*(each for each in KINDS if each != kind))
    changes = [
        change(at, kind, f"a-{at}", made, error="" if made == "ok" else error, wanted={"q": 1.0})
        for at, made in zip((17_000, 28_000), answers, strict=True)
    ]
    assert of_admin(asked(*others, *changes, stopped(28_500, "broker-0", took_ms=15_000))) is outcome


@pytest.mark.parametrize(
    ("made", "outcome"),
    [("failed", Outcome.INCONCLUSIVE), ("indefinite", Outcome.INCONCLUSIVE), ("ok", Outcome.VIOLATES)],
)
@pytest.mark.parametrize("answer", ["failed", "indefinite"])
def test_what_was_never_made_cannot_be_deleted(answer: str, made: str, outcome: Outcome) -> None:
    """Vacuous: its creation was refused, or had no answer. Violating: it was made, and is unknown."""
    others = acknowledged(*(each for each in KINDS if each != "delete-topic"))
    creations = [change(6_500 + each, "create-topic", f"new-{each}", made) for each in (1, 2)]
    deletions = [change(7_000 + each, "delete-topic", f"new-{each}", answer, error=ABSENT) for each in (1, 2)]
    assert of_admin(asked(*others, *creations, *deletions)) is outcome
    assert of_admin(asked(*others, *deletions)) is Outcome.VIOLATES, "of topics that somebody else made"


def test_what_is_there_already_can_be_deleted() -> None:
    """Violating: the answers contradict each other."""
    others = acknowledged(*(each for each in KINDS if each != "delete-topic"))
    creations = [
        change(6_500 + each, "create-topic", f"new-{each}", "failed", error="TOPIC_ALREADY_EXISTS") for each in (1, 2)
    ]
    deletions = [change(7_000 + each, "delete-topic", f"new-{each}", "failed", error=ABSENT) for each in (1, 2)]
    assert of_admin(asked(*others, *creations, *deletions)) is Outcome.VIOLATES


TOO_FEW = "INVALID_REPLICATION_FACTOR"
RESTARTED = [stopped(50_000, "broker-0"), *broker(55_000, 0)]
CUT = [*fault(45_000, "cut(a->b)"), event(EventKind.FAULT_HEALED, 58_000, fault_id="cut(a->b)", fault="cut(a->b)")]


@pytest.mark.parametrize(
    ("before", "replication", "error", "outcome"),
    [
        ([], 2, TOO_FEW, Outcome.VIOLATES),
        (RESTARTED, 2, TOO_FEW, Outcome.INCONCLUSIVE),
        ([stopped(50_000, "broker-0")], 2, TOO_FEW, Outcome.INCONCLUSIVE),
        ([*broker(55_000, 0, ready_ms=None)], 2, TOO_FEW, Outcome.INCONCLUSIVE),
        (CUT, 2, TOO_FEW, Outcome.INCONCLUSIVE),
        ([stopped(30_000, "broker-0"), *broker(35_000, 0)], 2, TOO_FEW, Outcome.VIOLATES),
        (RESTARTED, 2, "NOT_CONTROLLER", Outcome.VIOLATES),
        ([stopped(50_000, "broker-0")], 1, TOO_FEW, Outcome.VIOLATES),
        (CUT, 1, TOO_FEW, Outcome.VIOLATES),
    ],
    ids=[
        "all are there",
        "back just now",
        "away",
        "starting",
        "cut off just now",
        "back for long",
        "another error",
        "one is enough",
        "one is enough, under a fault before",
    ],
)
def test_without_a_broker_a_topic_may_be_refused(
    before: list[Event], replication: int, error: str, outcome: Outcome
) -> None:
    """Vacuous: the topic asks for more brokers than the controller may know to be there."""
    others = acknowledged(*(each for each in KINDS if each != "create-topic"))
    asked_for = {"wanted": {"partitions": 1, "replication": replication}}
    refusals = [change(at, "create-topic", f"a-{at}", "failed", error=error, **asked_for) for at in (60_000, 61_000)]
    assert of_admin(asked(*others, *before, *refusals)) is outcome


def test_what_the_cluster_never_had_is_left_out() -> None:
    """Vacuous: without an authorizer. Violating: ACLs were made before, and can be no more."""
    others = acknowledged(*(each for each in KINDS if each != "set-acl"))
    refusals = [refused(at, "set-acl") for at in (7_000, 8_000)]
    assert of_admin(asked(*others, *refusals)) is Outcome.INCONCLUSIVE
    before = change(1_000, "set-acl", "Topic:LITERAL:a", **ACL)
    assert of_admin(asked(before, *others, *refusals)) is Outcome.VIOLATES
    assert (
        of_admin(asked(*others, refused(7_000, "set-acl"), refused(8_000, "set-acl", "NOT_CONTROLLER")))
        is Outcome.VIOLATES
    )


def test_what_others_acknowledge_proves_nothing() -> None:
    """Vacuous: before dual write, beside a broker in KRaft mode, or under a fault."""
    early = acknowledged(*KINDS, at_ms=3_000)
    rolled = (stopped(5_100), *broker(5_200, mode="kraft"))
    for run in (
        asked(),
        asked(*early),
        asked(*acknowledged(*KINDS), kraft=rolled),
        asked(*fault(5_400), *acknowledged(*KINDS)),
        history(events=[*migrating(0, 0), HYBRID, *acknowledged(*KINDS)]),
    ):
        assert of_admin(run) is Outcome.INCONCLUSIVE
