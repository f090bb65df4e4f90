"""What a test does with metadata: the order of a block of changes, and when two sides have settled."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.running import metadata as running
from pytest_kmigrate.running.metadata import Metadata, _differences_in
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.metadata.filling import FAMILIES, Filling, FillingPlan, changes
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange, Scope
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion
from pytest_kmigrate.workloads.metadata.metadata_workload import MetadataWorkload, RunningMetadata
from tests.unit.fakes import Stage
from tests.unit.typical_events import typical

Told = list[str]
KINDS = set(Scope().first_round)


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What a Metadata does, in order."""
    made: Told = []
    monkeypatch.setattr(Metadata, "change", lambda _self, per_s: made.append(f"change {per_s:g}"))
    monkeypatch.setattr(Metadata, "_await_first_round", lambda _self, _since: made.append("first round"))
    monkeypatch.setattr(Metadata, "await_acknowledged", lambda _self: made.append("acknowledged"))
    monkeypatch.setattr(Metadata, "stop", lambda _self: made.append("stop"))

    def settle(_self: Metadata, label: str, sides: Sequence[str], within_s: float) -> None:
        made.append(f"settle {label}: {' '.join(sides)}")
        made.append(f"within {within_s:g} s")

    monkeypatch.setattr(Metadata, "settle", settle)
    return made


@pytest.fixture
def metadata(stage: Stage) -> Metadata:
    """The metadata of a cluster of fakes."""
    return Metadata(stage.cluster, stage.view, None, stage.recorder, 1, "test_it")  # type: ignore[arg-type]  # stand-ins


def test_changes_are_acknowledged_before_a_block_and_after_it(metadata: Metadata, reported: Told) -> None:
    """What is in the block meets changes already made and must not keep later ones away; then the sides settle."""
    with metadata.changing("after", per_s=2, sides=("zookeeper", "brokers"), within_s=15):
        reported.append("block")
    settled = ["settle after: zookeeper brokers", "within 15 s"]
    assert reported == ["change 2", "first round", "block", "acknowledged", "stop", *settled]


def test_what_a_document_cannot_take_along_is_put_in_only_where_it_is_named(
    metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that holds it could not go on; the test that is about it shows so."""
    plans: list[FillingPlan] = []

    def filled(_admin: object, _recorder: object, plan: FillingPlan) -> Filling:
        plans.append(plan)
        return Filling({}, {}, ())

    monkeypatch.setattr(running, "fill", filled)
    metadata.left_out |= {"scram"}
    metadata.fill()
    metadata.fill(families=("quotas", "scram"))
    assert plans[0].families == tuple(family for family in FAMILIES if family != "scram")
    assert plans[1].families == ("quotas", "scram")


def test_what_is_filled_again_has_other_values(metadata: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same ones would be there also if they had been lost."""
    plans: list[FillingPlan] = []

    def filled(_admin: object, _recorder: object, plan: FillingPlan) -> Filling:
        plans.append(plan)
        return Filling({}, {}, ())

    monkeypatch.setattr(running, "fill", filled)
    metadata.fill(families=("topic-configs",))
    metadata.fill(families=("topic-configs",), again=True)
    first, other = (dict(_configs(plan)) for plan in plans)
    assert first.keys() == other.keys()
    differing = {key.rpartition(" ")[2] for key in first if first[key] != other[key]}
    assert differing == {"retention.ms", "segment.ms", "retention.bytes"}


def _configs(plan: FillingPlan) -> Iterator[tuple[str, object]]:
    for _, change in changes(plan):
        yield from ((f"{change.subject} {key}", value) for key, value in change.wanted.items())


def test_an_error_in_the_block_comes_out_of_it_at_once(metadata: Metadata, reported: Told) -> None:
    """Nobody waits for more changes on a cluster that failed; leaving the run ends them."""
    with pytest.raises(ZeroDivisionError), metadata.changing("after"):
        raise ZeroDivisionError
    assert reported == ["change 1", "first round"]


def test_a_block_waits_for_a_change_of_every_kind(metadata: Metadata, stage: Stage) -> None:
    """Refused ones count, since they never will be done; indefinite ones, and those before the block, do not."""
    for change in KINDS:
        _changed(stage, change, "ok")
    since = stage.recorder.now_ns()
    for change in KINDS - {"set-acl", "delete-topic"}:
        _changed(stage, change, "ok")
    _changed(stage, "set-acl", "failed")
    _changed(stage, "delete-topic", "indefinite")
    with pytest.raises(AwaitTimeoutError, match="none of delete-topic"):
        metadata._await_first_round(since, within_s=0)
    _changed(stage, "delete-topic", "ok")
    metadata._await_first_round(since, within_s=0)


def test_a_workload_leaves_out_what_a_document_cannot_take_along(
    metadata: Metadata, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Credentials end the copy of 3.4: they are neither changed nor waited for, nor put in unless a test names them."""
    made: list[MetadataWorkload] = []
    monkeypatch.setattr(running, "run_metadata", lambda workload, *_: made.append(workload) or _Idle())
    metadata.leave_out({"scram"})
    metadata.change()
    assert made[0].scope.families == ("topics", "configs", "acls", "quotas")
    assert metadata.left_out == {"scram"}
    for change in KINDS - {"set-scram"}:
        _changed(stage, change, "ok")
    metadata._await_first_round(0, within_s=0)


def _changed(stage: Stage, change: str, outcome: str, error: str = "") -> None:
    stage.recorder.record(typical(EventKind.METADATA_CHANGE, change=change, outcome=outcome, error=error))


def test_changes_that_are_never_acknowledged_are_counted_by_how_they_ended(
    metadata: Metadata, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those of the wait count; the error says what Kafka answered."""
    _changed(stage, "set-acl", "ok")
    answers = iter([("ok", ""), ("indefinite", "_TIMED_OUT"), ("indefinite", "_TIMED_OUT")])

    def answered(condition: Callable[[], object], **asked: object) -> None:
        for outcome, error in answers:
            _changed(stage, "set-acl", outcome, error)
        until(condition, **{**asked, "within_s": 0})  # type: ignore[arg-type]  # as they were asked

    monkeypatch.setattr(running, "until", answered)
    with pytest.raises(AwaitTimeoutError, match="last seen: 1 ok, 2 indefinite _TIMED_OUT"):
        metadata.await_acknowledged()


def test_a_wait_for_changes_ends_with_their_thread(
    metadata: Metadata, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that makes them died of an error of ours."""
    dead = RunningMetadata(MetadataWorkload(), _Broken(), stage.recorder)
    monkeypatch.setattr(running, "run_metadata", lambda *_: dead)
    metadata.change()
    with pytest.raises(ClusterError, match=r"the metadata workload ended: KeyError\('x'\)"):
        metadata.await_acknowledged()


class _Broken:
    """A workload's invoker with a defect."""

    def invoke(self, change: MetadataChange) -> Completion:
        """Fail."""
        raise KeyError("x")


def test_a_stream_knows_the_brokers_and_is_another_in_every_test(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configs of single brokers change, too, and no topic wants more replicas than there are brokers for."""
    made: list[MetadataWorkload] = []
    monkeypatch.setattr(running, "run_metadata", lambda workload, *_: made.append(workload) or _Idle())
    for test_id in ("test_it", "test_it", "test_another"):
        of_test = Metadata(stage.cluster, stage.view, None, stage.recorder, 1, test_id)  # type: ignore[arg-type]
        of_test.change()
    assert made[0] == made[1]
    assert made[0].seed != made[2].seed
    assert made[0].scope == Scope("changing-1", (0, 1, 2), 3)
    later = Metadata(stage.cluster, stage.view, None, stage.recorder, 1, "test_it", place=2)  # type: ignore[arg-type]
    later.change()
    assert made[-1].scope.prefix == "changing-run2-1"


class _Idle:
    """A workload that changes nothing."""

    def start(self) -> None:
        """Nothing to do."""


def test_sides_have_settled_when_each_equals_the_first() -> None:
    """Every place is counted where another side has something else; a family that one side cannot know is none."""
    log = MetadataImage("log", topics={"a": {"id": "1"}, "b": {"id": "2"}}, features={"x": 1})
    same = MetadataImage("zookeeper", known=("topics",), topics={"a": {"id": "1"}, "b": {"id": "2"}})
    behind = MetadataImage("brokers", known=("topics",), topics={"a": {"id": "9"}})
    assert _differences_in({"log": (log, 0), "zookeeper": (same, 1)}) == 0
    assert _differences_in({"log": (log, 0), "zookeeper": (same, 1), "brokers": (behind, 2)}) == 2


def test_a_side_that_is_not_there_is_told(metadata: Metadata) -> None:
    """A cluster without ZooKeeper, and no controller yet: an expectation asks again, and a settling ends."""
    for look in (lambda: metadata.seen("zookeeper"), lambda: metadata.settle("after", ("brokers", "zookeeper"))):
        with pytest.raises(ClusterError, match=r"expected to see .*zookeeper; now there is only brokers"):
            look()


class _Answering:
    """An admin client that answers everything alike, and remembers what it was asked."""

    def __init__(self, completion: Completion) -> None:
        self._completion = completion
        self.asked: list[MetadataChange] = []

    def record(self, change: MetadataChange, _recorder: object) -> Completion:
        self.asked.append(change)
        return self._completion


@pytest.mark.parametrize("outcome", [OperationOutcome.OK, OperationOutcome.INDEFINITE])
def test_changes_are_made_one_after_the_other(
    outcome: OperationOutcome, metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is not answered may have been carried out, so it is no error."""
    admin = _Answering(Completion(outcome))
    monkeypatch.setattr(metadata, "_admin", admin)
    changes = [MetadataChange("delete-topic", "a"), MetadataChange("delete-topic", "b")]
    metadata.make(*changes)
    assert admin.asked == changes


def test_a_refused_change_is_an_error(metadata: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was to be changed, and Kafka's error."""
    monkeypatch.setattr(metadata, "_admin", _Answering(Completion(OperationOutcome.FAILED, "UNKNOWN_TOPIC")))
    with pytest.raises(ClusterError, match="delete-topic a: expected to be accepted, got UNKNOWN_TOPIC"):
        metadata.make(MetadataChange("delete-topic", "a"))
