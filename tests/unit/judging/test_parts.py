"""Facts about verdicts with several causes: each part has its own, or the whole is unexplained."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet, expectations_met
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.model.document import Diagnosis, Window
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import SEEN_AS, Kind, Verdict, Violation, violates
from tests.unit.checkers.histories import MS, change, history, snapshot
from tests.unit.documents.kip_866.diagnoses.naming import unmet

ONE, OTHER = "KAFKA-15605", "KAFKA-16411"


TWO = [unmet(at, name, expected=[], observed=[1]) for at, name in ((1000, "a"), (2000, "b"))]


def expecting(bug: str, *names: str) -> Diagnosis:
    """Explains that these expectations did not come true."""
    return Diagnosis(bug, lambda run, verdict: all_unmet(run, verdict, lambda event: event.data["name"] in names))


def answering(bug: str, text: str) -> Diagnosis:
    """Explains answers that all are this text."""
    return Diagnosis(bug, lambda _, verdict: {each.observed for each in verdict.violations} == {text})


def judged(run: History, verdict: Verdict, *diagnoses: Diagnosis) -> Verdict:
    """The verdict with what explains it."""
    (found,) = explained(run, [verdict], diagnoses)
    assert {key: each for key, each in found.facts.items() if key != SEEN_AS} == verdict.facts
    assert found.count == verdict.count
    return found


def known(run: History, verdict: Verdict, *diagnoses: Diagnosis) -> tuple[str, ...]:
    """What explains all of the verdict."""
    return judged(run, verdict, *diagnoses).known_bugs


@pytest.mark.parametrize(
    ("diagnoses", "bugs"),
    [
        ([expecting(ONE, "a"), expecting(OTHER, "b")], (ONE, OTHER)),
        ([expecting(ONE, "a", "b")], (ONE,)),
        ([expecting(ONE, "a", "b"), expecting(OTHER, "a")], (ONE, OTHER)),
        ([expecting(ONE, "a")], ()),
    ],
    ids=["each its own", "both by one", "one by two", "one is left"],
)
def test_each_expectation_may_have_its_own_cause(diagnoses: list[Diagnosis], bugs: tuple[str, ...]) -> None:
    """A bug that explains one of two expectations explains nothing unless another one explains the other."""
    run = history(events=TWO, kafka="3.6.0")
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


def lacking_in(bug: str, source: str) -> Diagnosis:
    """Explains what only images of this source lack, and what differs."""

    def explains(run: History, verdict: Verdict) -> bool:
        wrong = wrong_in(run, verdict)
        return wrong is not None and (not wrong.all_lost or wrong.behind(run, source) is not None)

    return Diagnosis(bug, explains)


@pytest.mark.parametrize("held", [{}, {"broker:1": {"log.retention.ms": "1"}}], ids=["alike", "differently"])
def test_what_both_sides_lack_is_explained_for_each_of_them(held: dict[str, dict[str, str]]) -> None:
    """They may lack it by causes of their own, one of them with an older value or not; beside it is what differs."""
    made = change(2_100, "alter-config", "broker:1", wanted={"log.retention.ms": "2"})
    sides = {
        "zk": MetadataImage("zookeeper", known=("configs", "quotas"), configs=held),
        "brokers": MetadataImage("admin", known=("configs", "quotas"), quotas={"user=a": {"x": 1.0}}),
    }
    run = history(events=[made, *(snapshot(50_000, each, 0) for each in sides)], images=sides, kafka="3.6.0")
    verdict = metadata_equivalent.judge(run, "zk", "brokers")
    assert known(run, verdict, lacking_in(ONE, "zookeeper"), lacking_in(OTHER, "admin")) == (ONE, OTHER)
    assert known(run, verdict, lacking_in(ONE, "zookeeper")) == ()
    assert known(run, verdict, lacking_in(OTHER, "admin")) == ()


def test_each_violation_may_have_its_own_cause() -> None:
    """All of them are looked at, and not the examples alone; of those that a check only counted nothing is known."""
    run = history(kafka="3.6.0")
    verdict = violates(Kind.SAFETY, [Violation("the same", text) for text in "aaaaaaaaaaaab"]).by("any")
    assert known(run, verdict, answering(ONE, "a"), answering(OTHER, "b")) == (ONE, OTHER)
    assert known(run, verdict, answering(ONE, "a")) == ()
    assert known(run, replace(verdict, count=14), answering(ONE, "a"), answering(OTHER, "b")) == ()


def test_what_is_left_is_what_the_verdict_shows() -> None:
    """And what the rest is known as."""
    verdict = violates(Kind.SAFETY, [Violation("the same", text) for text in ("a", "a", "b")]).by("any")
    found = judged(history(kafka="3.6.0"), verdict, answering(ONE, "a"))
    assert [each.observed for each in found.violations] == ["b"]
    assert "1 left that no known bug explains; the first: expected the same; observed b" in found.summary
    assert ONE in found.summary


def test_a_violation_is_explained_in_the_time_of_the_bug_only() -> None:
    """Of several windows any."""
    run = history(kafka="3.6.0")
    early, late = (violates(Kind.SAFETY, [Violation("it", "a", at_ns)]).by("any") for at_ns in (10, 20))
    bug = replace(answering(ONE, "a"), windows=lambda _: [Window(1, 2), Window(9, 11)])
    assert (known(run, early, bug), known(run, late, bug)) == ((ONE,), ())


def test_a_bug_that_was_never_at_work_explains_nothing() -> None:
    """Not even what nobody knows the time of."""
    verdict = violates(Kind.SAFETY, [Violation("it", "a")]).by("any")
    bug = answering(ONE, "a")
    for windows, bugs in (([], ()), ([Window(1, 2)], (ONE,))):
        there = replace(bug, windows=lambda _, windows=windows: windows)
        assert known(history(kafka="3.6.0"), verdict, there) == bugs


def test_what_is_made_out_of_time_is_left() -> None:
    """What an image lacks was made when its last change was acknowledged."""
    made = change(2_000, "set-quota", "user=a", wanted={"x": 1})
    sides = {
        "log": MetadataImage("metadata-log", quotas={"user=a": {"x": 1.0}}),
        "zk": MetadataImage("zookeeper"),
    }
    run = history(events=[made, *(snapshot(50_000, each, 0) for each in sides)], images=sides, kafka="3.6.0")
    verdict = metadata_equivalent.judge(run, "log", "zk")
    bug = of_family(ONE, "quotas")
    for window, bugs in ((Window(1_900 * MS, 2_100 * MS), (ONE,)), (Window(2_100 * MS, 9_000 * MS), ())):
        assert known(run, verdict, replace(bug, windows=lambda _, window=window: [window])) == bugs


def test_what_an_earlier_run_made_is_older_than_any_window() -> None:
    """On a cluster that several runs share, their changes come first, all at once."""
    made = change(2_000, "set-quota", "user=a", wanted={"x": 1})
    made = replace(made, data={**made.data, "inherited": True})
    sides = {
        "log": MetadataImage("metadata-log", quotas={"user=a": {"x": 1.0}}),
        "zk": MetadataImage("zookeeper"),
    }
    run = history(events=[made, *(snapshot(50_000, each, 0) for each in sides)], images=sides, kafka="3.6.0")
    bug = replace(of_family(ONE, "quotas"), windows=lambda _: [Window(-5_000 * MS, 9_000 * MS)])
    assert known(run, metadata_equivalent.judge(run, "log", "zk"), bug) == ()
