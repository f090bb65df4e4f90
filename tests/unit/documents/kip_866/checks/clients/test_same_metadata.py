"""Check that clients get the same metadata from every broker."""

from collections.abc import Callable

import pytest

from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ClientMetadata, History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, event, fault
from tests.unit.documents.kip_866.checks.clients.answering import (
    MIXED,
    OF_THREE,
    TOPICS,
    answer,
    answered,
    each_second,
)
from tests.unit.documents.kip_866.checks.nodes import broker, controller, migrating, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at, outcomes
from tests.unit.documents.kip_866.diagnoses.naming import named

SAME, CONSISTENT = "FWD-same-metadata", "TEST-broker-consistency"
CHANGED = {"orders": "id; 0 leader=1 isr=0,1"}
KILLED = fault(20_000, "kill(broker-2)", effect="kill")
GONE = [
    stopped(20_000, "broker-2"),
    *KILLED,
    event(EventKind.FAULT_APPLIED, 20_000, fault_id="kill(broker-2)", targets=["broker-2"]),
]


def broker_that_reports(
    topics_after: dict[str, str], since_s: float, number: int = 0
) -> Callable[[float], ClientMetadata]:
    """A broker reports changed topics from some second on."""
    return lambda at: answer(at, number, topics=topics_after if at >= since_s else TOPICS)


def changed(delay_s: int, events: list[Event] = OF_THREE) -> History:
    """Broker-0 reports a change after 20 s, broker-1 so many seconds later."""
    return answered(
        each_second(broker_that_reports(CHANGED, 20), broker_that_reports(CHANGED, 20 + delay_s, 1)), events
    )


def without_2(in_zookeeper_mode: tuple[int, ...], in_kraft_mode: tuple[int, ...], events: list[Event]) -> History:
    """Broker-2 is away from 20 s on; from 21 s on brokers 0 and 1 list these brokers."""
    return answered(
        each_second(
            lambda at: answer(at, 0, brokers=in_zookeeper_mode if at > 20 else (0, 1, 2)),
            lambda at: answer(at, 1, brokers=in_kraft_mode if at > 20 else (0, 1, 2)),
        ),
        events,
    )


def test_brokers_that_soon_report_the_same_conform() -> None:
    """Conforming: within 10 s; of brokers in two modes for both rows."""
    assert looked_at(clients_are_told_the_same.judge(changed(5))) == {SAME: "CONFORMS"}
    verdict = clients_are_told_the_same.judge(changed(5, MIXED))
    assert looked_at(verdict) == {SAME: "CONFORMS", CONSISTENT: "CONFORMS"}
    assert verdict.facts["longest_difference_s"] == 5.0


def test_a_broker_that_was_left_out_of_the_migration_is_not_compared() -> None:
    """No controller of the quorum speaks to one in ZooKeeper mode without the flag."""
    left_out = [controller(), *migrating(0, 0), *broker(0, 1), *migrating(0, 2)]
    verdict = clients_are_told_the_same.judge(changed(12, left_out))
    assert looked_at(verdict) == {}


def test_a_change_that_one_broker_does_not_report_violates() -> None:
    """Violating: for more than 10 s."""
    verdict = clients_are_told_the_same.judge(changed(12, MIXED))
    assert (looked_at(verdict), verdict.kind) == ({SAME: "VIOLATES", CONSISTENT: "VIOLATES"}, Kind.LIVENESS)
    first, second = verdict.violations[0].observed.split("; ")
    assert first == "broker-0 in ZooKeeper mode reports 0 leader=1 isr=0,1"
    assert second.startswith("broker-1 in KRaft mode reports 0 leader=0 isr=0,1, for 11.0 s")
    assert named(changed(12, MIXED), verdict) == ()


def test_a_broker_that_is_away_is_looked_for_in_two_answers() -> None:
    """Vacuous: one answer that lists it would not violate."""
    for number, expected in ((1, {}), (2, {SAME: "CONFORMS"})):
        after = [answer(36 + each, 0, brokers=(0, 1)) for each in range(number)]
        assert looked_at(clients_are_told_the_same.judge(answered(after, [*OF_THREE, *GONE]))) == expected


def test_a_topic_that_changes_all_the_time_conforms() -> None:
    """Neither broker reports the same value for long."""
    answers = each_second(
        lambda at: answer(at, 0, topics={"orders": f"epoch {at}"}),
        lambda at: answer(at, 1, topics={"orders": f"epoch {at - 1}"}),
    )
    assert clients_are_told_the_same.judge(answered(answers)).outcome is Outcome.CONFORMS


def test_a_dead_broker_that_only_one_mode_lists_violates_as_a_known_deviation() -> None:
    """Violating both rows, and both as brokers in ZooKeeper mode are known to."""
    run = without_2((0, 1, 2), (0, 1), [*MIXED, *GONE])
    verdict = clients_are_told_the_same.judge(run)
    assert looked_at(verdict) == {SAME: "VIOLATES", CONSISTENT: "VIOLATES"}
    assert named(run, verdict) == ("dead-broker-listed-by-zookeeper-brokers", "modes-list-different-brokers")
    kraft = without_2((0, 1), (0, 1, 2), [*MIXED, *GONE])
    assert named(kraft, clients_are_told_the_same.judge(kraft)) == ()


def test_a_broker_that_is_only_starting_is_away_still() -> None:
    """It was dead while the answers differed; one that has long been ready is not excused."""
    for ready_ms, is_known in ((28_000, True), (22_000, False)):
        back = event(EventKind.NODE_STARTED, 21_000, "broker-2", role="broker", mode="kraft")
        run = without_2((0, 1, 2), (0, 1), [*MIXED, *GONE, back, event(EventKind.NODE_READY, ready_ms, "broker-2")])
        names = named(run, clients_are_told_the_same.judge(run))
        assert ("modes-list-different-brokers" in names) is is_known


def test_a_dead_broker_that_all_list_violates() -> None:
    """Violating: after 15 s, although both report the same; conforming where none lists it."""
    run = without_2((0, 1, 2), (0, 1, 2), [*OF_THREE, *GONE])
    verdict = clients_are_told_the_same.judge(run)
    assert looked_at(verdict) == {SAME: "VIOLATES"}
    assert verdict.violations[0].observed.startswith(
        "broker-0 in ZooKeeper mode lists broker-2, which is away, for 39.0 s"
    )
    assert named(run, verdict) == ("dead-broker-listed-by-zookeeper-brokers",)
    verdict = clients_are_told_the_same.judge(without_2((0, 1), (0, 1), [*OF_THREE, *GONE]))
    assert looked_at(verdict) == {SAME: "CONFORMS"}


@pytest.mark.parametrize(
    ("effect", "delay_s", "is_red"), [("cut", 25, True), ("misname", 25, False), ("misname", 35, True)]
)
def test_a_controller_finds_brokers_by_their_names_ten_seconds_after_the_heal(
    effect: str, delay_s: int, *, is_red: bool
) -> None:
    """Brokers have 10 s from then on, and 10 s for a difference. Other faults are over with their healing."""
    healed = event(EventKind.FAULT_HEALED, 19_000, fault_id="it", fault="it")
    run = changed(delay_s, [*OF_THREE, *fault(15_000, "it", effect=effect), healed])
    assert ("VIOLATES" in outcomes(clients_are_told_the_same.judge(run)).values()) is is_red


@pytest.mark.parametrize(
    "run",
    [
        answered(each_second(answer, lambda at: answer(at, 1))),
        answered(each_second(broker_that_reports(CHANGED, 20))),
        answered(each_second(broker_that_reports(CHANGED, 52), lambda at: answer(at, 1))),
        changed(30, [*OF_THREE, *fault(15_000, "cut(a->b)", effect="cut")]),
        changed(30, [*OF_THREE, stopped(15_000, "controller-3000")]),
        changed(30, [*OF_THREE, event(EventKind.ACTIVE_CONTROLLER, 15_000, controller=None)]),
        answered(
            [each for each in changed(30).client_metadata if each.node == "broker-0" or each.at_ns % (5_000 * MS) == 0]
        ),
    ],
    ids=["no change", "one broker", "too late", "links cut", "a controller down", "no controller", "silent"],
)
def test_without_a_change_and_time_for_it_nothing_is_proved(run: History) -> None:
    """Vacuous."""
    assert set(outcomes(clients_are_told_the_same.judge(run)).values()) == {"vacuous"}
