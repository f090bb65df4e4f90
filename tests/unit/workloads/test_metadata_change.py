"""Streams of metadata changes, and what fills a cluster: pure and seeded."""

import json
from collections import Counter
from itertools import islice
from random import Random

import pytest

from pytest_kmigrate.checkers.metadata.changes import admissible_states
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.wire.request import UnsupportedRequestError
from pytest_kmigrate.workloads.metadata import filling
from pytest_kmigrate.workloads.metadata.filling import FillingPlan
from pytest_kmigrate.workloads.metadata.metadata_change import (
    FIRST_ROUND,
    MOST_PARTITIONS,
    MetadataChange,
    Scope,
    operations,
)
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion, MetadataAdmin, quota_entity
from tests.unit.checkers.histories import change as changed
from tests.unit.fakes import MemoryRecorder

SCOPE = Scope("changing", (1, 2), 3)
ROUND = len(SCOPE.first_round)
FORMS = {
    "create-topic": {"partitions", "replication"},
    "delete-topic": set(),
    "add-partitions": {"partitions"},
    "set-acl": {"binding"},
    "remove-acl": {"binding"},
    "set-scram": {"iterations"},
    "remove-scram": set(),
}


def _stream(seed: int, count: int = 2000) -> list[MetadataChange]:
    return list(islice(operations(Random(seed), SCOPE), count))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_stream() -> None:
    """A run can be done again; another seed gives another stream."""
    assert _stream(7) == _stream(7)
    assert _stream(7) != _stream(8)


def test_every_change_has_the_form_that_checkers_read() -> None:
    """Keys of ``wanted`` are those of the table, and all of it survives JSON."""
    for each in _stream(1):
        assert json.loads(json.dumps(each.wanted)) == each.wanted
        if each.change == "alter-config":
            assert each.subject.split(":")[0] in {"topic", "broker"}
        elif each.change == "set-quota":
            assert quota_entity(each.subject)
        else:
            assert set(each.wanted) == FORMS[each.change], each


def test_every_kind_of_change_happens() -> None:
    """No family is forgotten in a long stream, nor configs of topics, of single brokers and of all."""
    stream = _stream(3)
    assert {each.change for each in stream} == {*FORMS, "alter-config", "set-quota"}
    configs = {each.subject for each in stream if each.change == "alter-config"}
    assert {"broker:1", "broker:2", "broker:<default>"} < configs


@pytest.mark.parametrize("seed", range(20))
def test_every_round_has_every_family_and_every_kind_of_topic_change(seed: int) -> None:
    """A test that changes metadata for a few seconds only changes all of it, and nothing twice before."""
    first, second, third = (_stream(seed, 3 * ROUND)[at : at + ROUND] for at in (0, ROUND, 2 * ROUND))
    assert sorted(each.change for each in first) == sorted(SCOPE.first_round)
    for each in (second, third):
        counts = Counter(change.change.partition("-")[2] for change in each)
        assert counts == {"topic": 3, "partitions": 1, "config": 1, "acl": 1, "quota": 1, "scram": 1}
        assert "delete-topic" in {change.change for change in each}


@pytest.mark.parametrize("family", FIRST_ROUND)
def test_a_stream_changes_only_families_of_its_scope(family: str) -> None:
    """A round is shorter without one, and a change of it never comes, whatever a later round takes back."""
    scope = Scope("changing", (1, 2), 3, tuple(each for each in FIRST_ROUND if each != family))
    stream = list(islice(operations(Random(1), scope), 200))
    others = {change.partition("-")[2] for other in scope.families for change in FIRST_ROUND[other]}
    assert {each.change.partition("-")[2] for each in stream} == others
    assert sorted(each.change for each in stream[: len(scope.first_round)]) == sorted(scope.first_round)


def test_rounds_differ_in_their_order() -> None:
    """No family always comes before another."""
    assert len({tuple(each.change for each in _stream(seed, ROUND)) for seed in range(20)}) > 10


@pytest.mark.parametrize("seed", range(5))
def test_topics_are_changed_only_while_they_should_exist(seed: int) -> None:
    """Topics grow and are deleted after their creation, and no name comes back after its deletion."""
    partitions: dict[str, int] = {}
    gone: set[str] = set()
    for each in _stream(seed):
        if each.change == "create-topic":
            assert each.subject not in gone | partitions.keys()
            partitions[each.subject] = int(str(each.wanted["partitions"]))
        elif each.change == "add-partitions":
            more = int(str(each.wanted["partitions"]))
            assert partitions[each.subject] < more <= MOST_PARTITIONS + 3
            partitions[each.subject] = more
        elif each.change == "delete-topic":
            del partitions[each.subject]
            gone.add(each.subject)
        elif each.subject.startswith("topic:"):
            assert each.subject.removeprefix("topic:") in partitions
    assert gone
    assert partitions


def test_only_what_was_given_is_taken_back() -> None:
    """An ACL or a credential is removed at most once after it was set."""
    given: set[tuple[str, str]] = set()
    for each in _stream(4):
        verb, _, what = each.change.partition("-")
        if what in {"acl", "scram"}:
            subject = (each.subject, str(each.wanted.get("binding")))
            assert verb == "set" or subject in given
            (given.add if verb == "set" else given.remove)(subject)


@pytest.mark.parametrize(
    ("subject", "entity"),
    [
        ("user=a", {"user": "a"}),
        ("user=<default>", {"user": None}),
        ("client-id=b", {"client-id": "b"}),
        ("client-id=<default>", {"client-id": None}),
        ("user=a,client-id=<default>", {"user": "a", "client-id": None}),
        ("user=CN=al ice,O=x", {"user": "CN=al ice,O=x"}),
        ("user=CN=al ice,O=x,client-id=b", {"user": "CN=al ice,O=x", "client-id": "b"}),
        ("ip=127.9.9.9", {"ip": "127.9.9.9"}),
    ],
)
def test_a_quota_s_subject_names_its_entity(subject: str, entity: dict[str, str | None]) -> None:
    """Names with commas and equals signs, which ZooKeeper encodes, are taken apart rightly."""
    assert quota_entity(subject) == entity


@pytest.mark.parametrize("subject", ["", "a", "users=a", "user="])
def test_a_subject_that_is_none_is_refused(subject: str) -> None:
    """A misspelt subject does not become a quota of something else."""
    with pytest.raises(WrongUseError, match="expected user="):
        quota_entity(subject)


def test_filling_holds_every_family_and_every_kind_of_quota_entity() -> None:
    """What is not put in cannot get lost: the awkward user, all defaults, both patterns of ACLs."""
    planned = list(filling.changes(FillingPlan(1, (0, 1))))
    assert {family for family, _ in planned} == {*filling.FAMILIES} - {"producer-ids"}
    subjects = {change.subject for _, change in planned}
    assert {"user=CN=al ice,O=x", "user=<default>", "client-id=<default>", "ip=127.9.9.9"} <= subjects
    assert {"broker:0", "broker:1", "broker:<default>", "Topic:LITERAL:*", "Topic:PREFIXED:filled"} <= subjects


def test_filling_leaves_a_family_out() -> None:
    """A default broker config ends a controller of 3.5.1, so the rest can be had without it."""
    chosen = tuple(each for each in filling.FAMILIES if each != "default-broker-config")
    subjects = [change.subject for _, change in filling.changes(FillingPlan(1, (0,), families=chosen))]
    assert "broker:<default>" not in subjects
    assert "broker:0" in subjects


def test_an_unknown_family_is_refused() -> None:
    """A misspelt family is an error, not an empty filling."""
    with pytest.raises(WrongUseError, match="got topic"):
        FillingPlan(1, (0,), families=("topic",))


UNDOABLE = tuple(each for each in filling.FAMILIES if each != "producer-ids")


def test_what_is_undone_was_put_in_and_nothing_of_it_is_left() -> None:
    """Each thing once, after what depends on it; not what the filling itself took back, nor somebody else's token."""
    plan = FillingPlan(1, (0, 1), families=UNDOABLE)
    undone = [each for _, each in filling.undoing(plan)]
    all_changes = [*(each for _, each in filling.changes(plan)), *undone]
    made = [changed(at, each.change, each.subject, wanted=each.wanted) for at, each in enumerate(all_changes, start=1)]
    states = admissible_states(made)
    assert {state.slot[1] for state in states if state.admissible != [None]} == {"of-another"}
    removals = [(each.change, each.subject, str(each.wanted)) for each in undone if each.change.startswith("remove")]
    assert len(removals) == len(set(removals))
    assert "filled-gone:SCRAM-SHA-256" not in {each.subject for each in undone}
    deleted = [at for at, each in enumerate(undone) if each.change == "delete-topic"]
    assert max(at for at, each in enumerate(undone) if each.subject.startswith("topic:")) < min(deleted)


def test_tokens_that_are_ours_and_there_are_renewed() -> None:
    """To other values than the filling's; not what it took back, nor somebody else's."""
    plan = FillingPlan(1, (0,), families=("acls", "delegation-tokens"))
    renewed = [each for _, each in filling.renewals(plan)]
    assert [each.subject for each in renewed] == ["renewable", "renewed"]
    assert not {str(each) for each in renewed} & {str(each) for _, each in filling.changes(plan)}


def test_what_lasts_is_not_taken_back(admin: MetadataAdmin) -> None:
    """Before anything is tried: Kafka forgets no producer id."""
    plan = FillingPlan(1, (0,), families=("quotas", "producer-ids"))
    with pytest.raises(WrongUseError, match=r"taking back: expected families of topics, .*; got producer-ids"):
        filling.take_back(admin, MemoryRecorder(), plan)


def test_what_was_filled_in_is_not_refused_when_it_is_taken_back(
    admin: MetadataAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that took ACLs in has an authorizer: that it says otherwise later excuses nothing."""
    refusal = Completion(OperationOutcome.FAILED, "SECURITY_DISABLED")
    monkeypatch.setattr(MetadataAdmin, "invoke", lambda *_: refusal)
    plan = FillingPlan(1, (0,), families=("acls",))
    recorder = MemoryRecorder()
    assert filling.fill(admin, recorder, plan).left_out == {"acls": "the cluster has no authorizer"}
    undone = filling.take_back(admin, recorder, plan)
    assert (undone.left_out, len(undone.failed)) == ({}, len(list(filling.undoing(plan))))


def test_what_a_cluster_has_lost_need_not_be_taken_back(admin: MetadataAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    """A credential that the copy lost (KAFKA-16411) is not there to be taken back: that is for a check to judge."""
    plan = FillingPlan(seed=1, brokers=(0,), families=("scram",))
    recorder = MemoryRecorder()
    lost = Completion(OperationOutcome.FAILED, "RESOURCE_NOT_FOUND")
    monkeypatch.setattr(MetadataAdmin, "invoke", lambda *_: lost)
    assert filling.take_back(admin, recorder, plan) == filling.Filling({}, {}, ())
    assert len(filling.fill(admin, recorder, plan).failed) == len(list(filling.changes(plan)))


def test_a_request_that_brokers_do_not_know_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As brokers of 3.5 in KRaft mode know no delegation tokens: nothing has happened, and nothing will."""

    def unknown(*_: object) -> str:
        raise UnsupportedRequestError("the broker does not know CreateDelegationTokenRequest, version 3")

    monkeypatch.setattr(MetadataAdmin, "_create_token", unknown)
    admin, recorder = MetadataAdmin({"bootstrap.servers": "127.0.0.1:1"}), MemoryRecorder()
    plan = FillingPlan(1, (0,), families=("delegation-tokens",))
    filled = filling.fill(admin, recorder, plan)
    assert (filled.left_out, filled.failed) == ({"delegation-tokens": "the brokers know no request for it"}, ())
    assert [(each.data["outcome"], each.data["error"]) for each in recorder.events] == [
        ("failed", "_UNSUPPORTED_FEATURE")
    ]
