"""Check that brokers in ZooKeeper mode list every broker."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.clients.every_broker import clients_are_told_of_every_broker
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import ClientMetadata, History, Sample
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import fault, sample
from tests.unit.documents.kip_866.checks.clients.answering import OF_THREE, answer, answered, each_second
from tests.unit.documents.kip_866.checks.nodes import broker, stopped

ROLLED = [*OF_THREE, stopped(20_000, "broker-1"), *broker(21_000, 1, "kraft", ready_ms=2_000)]


def test_a_broker_in_kraft_mode_that_is_listed_conforms() -> None:
    """Conforming: also if that took a few seconds."""
    answers = [answer(15), answer(24, brokers=(0, 2)), answer(29), answer(30)]
    verdict = clients_are_told_of_every_broker.judge(answered(answers, ROLLED))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 2)


def test_a_broker_that_stays_unlisted_violates() -> None:
    """Violating: two answers in a row, 5 s after it was ready."""
    answers = [answer(15), *(answer(at, brokers=(0, 2)) for at in (29, 30))]
    verdict = clients_are_told_of_every_broker.judge(answered(answers, ROLLED))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].expected == "broker-0 in ZooKeeper mode lists broker-1 in KRaft mode"
    assert verdict.violations[0].observed.startswith("it lists 0, 2, 7.0 s after broker-1 was ready")


def test_a_broker_that_is_rolled_right_after_the_takeover_is_looked_for() -> None:
    """Violating: it started in dual write, shortly before the first answer that counts."""
    rolled = [*OF_THREE, stopped(11_000, "broker-1"), *broker(12_000, 1, "kraft", ready_ms=2_000)]
    answers = each_second(lambda at: answer(at, brokers=(0, 2)), until_s=25)
    assert clients_are_told_of_every_broker.judge(answered(answers, rolled)).outcome is Outcome.VIOLATES


def test_a_broker_that_was_there_before_the_takeover_is_not_looked_for() -> None:
    """Vacuous: the broker that answers knows it from ZooKeeper."""
    early = [*OF_THREE, stopped(8_000, "broker-1"), *broker(9_000, 1, ready_ms=500)]
    answers = each_second(lambda at: answer(at, brokers=(0, 2)), until_s=25)
    assert clients_are_told_of_every_broker.judge(answered(answers, early)).is_vacuous


UNSENT = each_second(lambda at: answer(at, brokers=()), until_s=125)
LED = [sample(at_ms, "controller-3000", ActiveControllerCount=1) for at_ms in range(9_000, 125_000, 500)]


def led(answers: Iterable[ClientMetadata], *events: Event, samples: Sequence[Sample] = LED) -> History:
    """A run of three brokers that were there before the take-over, in which one controller leads."""
    return replace(answered(answers, [*OF_THREE, *events]), samples=samples)


def test_a_broker_that_is_sent_nothing_violates() -> None:
    """Violating: as on a cluster that came with a checkpoint, whose controller never comes to send what there is."""
    verdict = clients_are_told_of_every_broker.judge(led(UNSENT))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].expected == "broker-0 in ZooKeeper mode lists the brokers that there are"
    assert verdict.violations[0].observed.startswith("it lists none, for 90.0 s")


def test_a_broker_that_lists_none_for_a_while_is_not_judged() -> None:
    """Vacuous: it was sent something in time, was started again, no controller led as long, or a link was cut."""
    late = [*UNSENT[:80], answer(92), *UNSENT[81:]]
    again = [stopped(60_000, "broker-0"), *broker(61_000, 0, ready_ms=500)]
    for run in (
        led(late),
        led(UNSENT, *again),
        led(UNSENT, samples=LED[:100]),
        led(UNSENT, *fault(60_000, "cut(a->b)", effect="cut")),
    ):
        assert clients_are_told_of_every_broker.judge(run).is_vacuous


@pytest.mark.parametrize(
    "run",
    [
        answered(each_second(lambda at: answer(at, brokers=(0, 2)))),
        answered([answer(15), *(answer(at, brokers=(0, 2)) for at in (26, 27))], ROLLED),
        answered([answer(15), answer(29, brokers=(0, 2))], ROLLED),
        answered(
            [answer(15), *(answer(at, brokers=(0, 2)) for at in (29, 30))], [*ROLLED, *broker(12_000, 0, "kraft")]
        ),
        answered(
            [answer(15), *(answer(at, brokers=(0, 2)) for at in (29, 30))],
            [*ROLLED, *fault(22_000, "cut(a->b)", effect="cut")],
        ),
        answered([]),
    ],
    ids=["nobody started", "too early", "one answer", "a KRaft broker asked", "links cut", "no answer"],
)
def test_without_a_broker_that_started_under_kraft_nothing_is_proved(run: History) -> None:
    """Vacuous: neither listed nor lacking for certain."""
    assert clients_are_told_of_every_broker.judge(run).is_vacuous
