"""Facts about verdicts with several causes: each part has its own, or the whole is unexplained."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.checkers.run.steps import expectations_met
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.judging.parts import parts
from pytest_kmigrate.model.document import Diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, violates
from tests.unit.checkers.histories import history, snapshot
from tests.unit.documents.kip_866.diagnoses.naming import unmet

ONE, OTHER = "KAFKA-15605", "KAFKA-16411"


def expecting(bug: str, *names: str) -> Diagnosis:
    """Explains that none of these expectations came true, if no other one is there."""
    return Diagnosis(bug, lambda run, _: {str(each.data["name"]) for each in run.events} <= set(names))


def answering(bug: str, text: str) -> Diagnosis:
    """Explains answers that all are this text."""
    return Diagnosis(bug, lambda _, verdict: {each.observed for each in verdict.violations} == {text})


def known(run: History, verdict: Verdict, *diagnoses: Diagnosis) -> tuple[str, ...]:
    """What explains the verdict."""
    (found,) = explained(run, [verdict], diagnoses)
    assert found.facts == verdict.facts
    return found.known_bugs


@pytest.mark.parametrize(
    ("diagnoses", "bugs"),
    [
        ([expecting(ONE, "a"), expecting(OTHER, "b")], (ONE, OTHER)),
        ([expecting(ONE, "a", "b")], (ONE,)),
        ([expecting(ONE, "a", "b"), expecting(OTHER, "a")], (ONE,)),
        ([expecting(ONE, "a")], ()),
    ],
    ids=["each its own", "both by one", "the whole counts first", "one is left"],
)
def test_each_expectation_may_have_its_own_cause(diagnoses: list[Diagnosis], bugs: tuple[str, ...]) -> None:
    """A bug that explains one of two expectations explains nothing unless another one explains the other."""
    missed = [unmet(at, name, expected=[], observed=[1]) for at, name in ((1000, "a"), (2000, "b"))]
    run = history(events=missed, kafka="3.6.0")
    assert known(run, expectations_met.judge(run), *diagnoses) == bugs


def of_family(bug: str, family: str) -> Diagnosis:
    """Explains that this family of metadata is all that is wrong."""

    def explains(run: History, verdict: Verdict) -> bool:
        wrong = wrong_in(run, verdict)
        return wrong is not None and {each for each, _ in wrong.places} == {family}

    return Diagnosis(bug, explains)


def test_each_place_of_the_metadata_may_have_its_own_cause() -> None:
    """Of two families that differ, one bug explains one."""
    sides = {
        "log": MetadataImage("metadata-log", quotas={"user=a": {"x": 1.0}}, configs={"broker:1": {"a": "2"}}),
        "zk": MetadataImage("zookeeper"),
    }
    run = history(events=[snapshot(50_000, label, 0) for label in sides], images=sides, kafka="3.6.0")
    verdict = metadata_equivalent.judge(run, "log", "zk")
    assert known(run, verdict, of_family(ONE, "quotas"), of_family(OTHER, "configs")) == (OTHER, ONE)
    assert known(run, verdict, of_family(ONE, "quotas")) == ()


@pytest.mark.parametrize("check", ["clients_are_told_the_same", "zookeeper_follows_the_log"])
def test_each_violation_may_have_its_own_cause_where_all_are_kept(check: str) -> None:
    """Of more violations than a verdict keeps, those that are not there might have another cause."""
    run = history(kafka="3.6.0")
    wrong = [Violation("the same", text) for text in ("a", "b")]
    verdict = violates(check, Kind.SAFETY, wrong)
    assert known(run, verdict, answering(ONE, "a"), answering(OTHER, "b")) == (ONE, OTHER)
    assert known(run, replace(verdict, count=11), answering(ONE, "a"), answering(OTHER, "b")) == ()
    assert known(run, replace(verdict, check="acked_writes_durable"), answering(ONE, "a"), answering(OTHER, "b")) == ()


def test_what_is_wrong_in_one_respect_has_no_parts() -> None:
    """It was asked about as a whole."""
    run = history(events=[unmet(1000, "a", expected=[], observed=[1])])
    assert parts(run, expectations_met.judge(run)) == []
    assert parts(run, violates("clients_are_told_the_same", Kind.SAFETY, [Violation("the same", "a")])) == []
