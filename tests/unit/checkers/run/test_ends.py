"""Check of nodes that must end by themselves: conforming, violating, undecided; and what such an end excuses."""

from typing import Any

import pytest

from pytest_kmigrate.checkers.run.deaths import unexpected_deaths
from pytest_kmigrate.checkers.run.ends import expected_ends_came
from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.checkers.run.steps import steps_completed
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, event, history

NODE, ROW = "controller-3000", "K866-MISCONF-kraft-non-migration"
STARTED = event(EventKind.NODE_STARTED, 0, NODE, role="controller")


def died(at_ms: int, exit_code: int = 1, node: str = NODE) -> Event:
    """A node ended by itself."""
    return event(
        EventKind.NODE_DIED, at_ms, node, exit_code=exit_code, said="ERROR this quorum was created in KRaft mode"
    )


def expected(from_ms: int, to_ms: int, *nodes: str, **more: Any) -> Event:
    """A test expected these nodes to end between two moments."""
    data = {"nodes": list(nodes) or [NODE], "within_s": 30, "naming": None, "began_ns": from_ms * MS, **more}
    return event(EventKind.EXPECTED_END, to_ms, **data)


def run(*events: Event) -> History:
    """A run with one node and these events."""
    return history(events=[STARTED, *events], requirements=(ROW,))


def test_an_end_that_is_allowed_is_no_claim() -> None:
    """The death is excused where it is in that time; nothing is judged by it, whether it comes or not."""
    there = run(died(2_000), expected(1_000, 3_000, is_optional=True))
    assert expected_ends_came.judge(there).is_vacuous
    assert no_unexpected_death.judge(there).outcome is Outcome.CONFORMS
    late = run(expected(1_000, 3_000, is_optional=True), died(3_500))
    assert no_unexpected_death.judge(late).outcome is Outcome.VIOLATES


def test_a_node_that_ended_in_time_by_an_error_conforms() -> None:
    """Conforming: also for the requirement, and its death is expected."""
    there = run(died(2_000), expected(1_000, 3_000, naming="KRaft mode"))
    verdict = expected_ends_came.judge(there)
    assert (verdict.outcome, verdict.summary) == (
        Outcome.CONFORMS,
        "1 node ended as expected: controller-3000 with exit code 1",
    )
    (about,) = verdict.about
    assert (about.requirement, about.outcome, about.seen) == (ROW, Outcome.CONFORMS, 1)
    assert no_unexpected_death.judge(there).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("events", "observed"),
    [
        ([expected(1_000, 3_000)], "it did not end (3.0 s after the run began)"),
        ([died(500), expected(1_000, 3_000)], "it did not end (3.0 s after the run began)"),
        ([expected(1_000, 3_000), died(3_500)], "it did not end (3.0 s after the run began)"),
        ([died(40_000), expected(1_000, 45_000)], "it did not end (45.0 s after the run began)"),
        ([died(2_000, 0), expected(1_000, 3_000)], "it ended with exit code 0 (2.0 s after the run began)"),
        ([died(2_000, node="broker-0"), expected(1_000, 3_000)], "it did not end (3.0 s after the run began)"),
    ],
    ids=["runs on", "before", "too late", "too late, and waited for", "without an error", "another node"],
)
def test_a_node_that_was_not_refused_violates(events: list[Event], observed: str) -> None:
    """Violating: as a matter of liveness, for the requirements that the expectation names."""
    named = [Event(each.seq, each.at_ns, each.kind, each.node, dict(each.data)) for each in events]
    verdict = expected_ends_came.judge(run(*named))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].expected == "controller-3000 ends by an error within 30 s"
    assert verdict.violations[0].observed == observed
    assert [each.outcome for each in verdict.about] == [Outcome.VIOLATES]


def test_an_end_for_a_reason_that_was_not_named_is_undecided() -> None:
    """Inconclusive: it ended, by an error that may be another one."""
    verdict = expected_ends_came.judge(run(died(2_000), expected(1_000, 3_000, naming="authorizer.class.name")))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary.endswith("its last words do not name 'authorizer.class.name'")
    assert [each.outcome for each in verdict.about] == [Outcome.INCONCLUSIVE]


def test_only_the_first_end_of_a_node_in_that_time_is_expected() -> None:
    """A second one, one of another node, and one at another time are unexpected deaths."""
    others = [died(2_500), died(2_600, node="broker-0"), died(4_000)]
    assert unexpected_deaths(run(died(2_000), *others[:2], expected(1_000, 3_000), others[2])) != []
    assert len(unexpected_deaths(run(died(2_000), *others[:2], expected(1_000, 3_000), others[2]))) == 3


def test_a_step_that_fails_since_a_node_must_end_is_no_failure() -> None:
    """Its failure is what the test expects; one at another time is still one."""
    failed = [
        event(EventKind.STEP_BEGAN, 1_100, step="join"),
        event(EventKind.STEP_ENDED, 2_100, step="join", outcome="failed", reason="controller-3000 died"),
    ]
    during = steps_completed.judge(run(*failed, died(2_000), expected(1_000, 3_000)))
    assert (during.outcome, during.summary) == (Outcome.CONFORMS, "0 migration steps completed")
    assert steps_completed.judge(run(*failed, died(2_000), expected(2_500, 3_000))).outcome is Outcome.VIOLATES
