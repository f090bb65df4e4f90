"""Facts about expectations: recorded whether they come true or not; what cannot be observed is no crash."""

from copy import copy
from functools import partial

import pytest

from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.model.verdict import Kind
from pytest_kmigrate.running.expectations import expect, expect_to_stay
from tests.unit.fakes import MemoryRecorder


@pytest.fixture
def recorder() -> MemoryRecorder:
    """Where the expectation is written down."""
    return MemoryRecorder()


def test_an_expectation_may_come_true_late(recorder: MemoryRecorder) -> None:
    """It is asked again until it equals what was expected."""
    answers = iter([3, 2, 1, 0])
    assert expect(recorder, "deletions pending", lambda: next(answers), 0, within_s=30)
    (event,) = recorder.of(EventKind.EXPECTATION)
    assert (event.data["met"], event.data["observed"]) == (True, 0)


def test_an_expectation_that_never_comes_true_is_recorded(recorder: MemoryRecorder) -> None:
    """What was last seen, and the kind stand in the event; nothing is raised."""
    met = expect(recorder, "quotas", lambda: {"a": 1}, {}, within_s=0, kind=Kind.LIVENESS)
    assert met is False
    (event,) = recorder.of(EventKind.EXPECTATION)
    assert {key: event.data[key] for key in ("met", "expected", "observed", "kind")} == {
        "met": False,
        "expected": {},
        "observed": {"a": 1},
        "kind": "LIVENESS",
    }


def test_an_expectation_names_the_requirements_it_speaks_for(recorder: MemoryRecorder) -> None:
    """Without any the event says nothing of them: it speaks for all of its test."""
    expect(recorder, "a", lambda: 1, 1, within_s=0, requirements=["K866-DW-quotas"])
    expect(recorder, "b", lambda: 1, 1, within_s=0)
    named, unnamed = recorder.of(EventKind.EXPECTATION)
    assert named.data["requirements"] == ["K866-DW-quotas"]
    assert "requirements" not in unnamed.data


def test_a_cluster_that_does_not_answer_is_what_was_observed(recorder: MemoryRecorder) -> None:
    """An error of the cluster does not end the test: its text is the observation."""

    def unanswered() -> object:
        raise ClusterError("no quorum leader")

    assert expect(recorder, "quotas", unanswered, {}, within_s=0) is False
    assert recorder.of(EventKind.EXPECTATION)[0].data["observed"] == "no quorum leader"


def test_a_falsy_value_can_be_what_is_expected(recorder: MemoryRecorder) -> None:
    """None, zero and nothing at all are values like any other."""
    assert all(expect(recorder, "it", partial(copy, value), value, within_s=0) for value in (None, 0, "", [], {}))


def test_a_mistake_of_the_test_is_told_at_once(recorder: MemoryRecorder) -> None:
    """A metric that there is not will never be there: no waiting for it, and no expectation that was not met."""
    with pytest.raises(WrongUseError, match='did you mean "ZkWriteBehindLag'):
        expect(recorder, "lag", lambda: check_metric("ZkWriteBehindLags"), 0, within_s=3600)
    assert recorder.events == []


def test_a_question_claims_nothing(recorder: MemoryRecorder) -> None:
    """It is recorded with its answer, and no kind of violation."""
    assert expect(recorder, "is it so", lambda: 1, 2, within_s=0, kind=None) is False
    (event,) = recorder.of(EventKind.EXPECTATION)
    assert (event.data["met"], event.data["kind"]) == (False, None)


@pytest.mark.parametrize(("answers", "stayed"), [([1] * 99, True), ([1, 1, 2, 1], False), ([2], False)])
def test_a_value_must_stay_what_it_is(recorder: MemoryRecorder, answers: list[int], stayed: bool) -> None:
    """All the time; the first other value ends it, and is what was observed."""
    left = iter(answers)
    assert expect_to_stay(recorder, "phase", lambda: next(left), 1, for_s=0.25, requirements=["R"]) is stayed
    (event,) = recorder.of(EventKind.EXPECTATION)
    seen = [event.data[key] for key in ("met", "observed", "within_s", "requirements")]
    assert seen == [stayed, 1 if stayed else 2, 0.25, ["R"]]
