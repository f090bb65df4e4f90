"""Check that clients get live brokers as controllers."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import fault
from tests.unit.documents.kip_866.checks.clients.answering import OF_THREE, answer, answered, each_second
from tests.unit.documents.kip_866.checks.migrated import CLAIM
from tests.unit.documents.kip_866.checks.nodes import broker, stopped

AWAY = [*OF_THREE, stopped(20_000, "broker-2")]


def test_brokers_in_turn_conform() -> None:
    """Conforming: each is given as the controller now and then."""
    verdict = clients_are_told_of_brokers_only.judge(answered(each_second(answer)))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 45)


@pytest.mark.parametrize(
    ("run", "observed"),
    [
        (answered([answer(20, controller=3000)]), "broker-0 in ZooKeeper mode gives controller-3000"),
        (answered([answer(20, controller=-1)]), "broker-0 in ZooKeeper mode gives none"),
        (answered([answer(36, controller=2)], AWAY), "broker-0 in ZooKeeper mode gives broker-2, which is away"),
        (answered(each_second(lambda at: answer(at, controller=1))), "gives 1 in all of 45 answers"),
    ],
    ids=["a KRaft controller", "none", "a dead broker", "not random"],
)
def test_any_other_controller_violates(run: History, observed: str) -> None:
    """Violating: whatever is not a live broker, and one that is not drawn at random."""
    verdict = clients_are_told_of_brokers_only.judge(run)
    assert verdict.outcome is Outcome.VIOLATES
    assert observed in verdict.violations[0].observed


@pytest.mark.parametrize(
    "run",
    [
        answered([answer(14, controller=3000)]),
        answered([answer(20, controller=3000)], claim=CLAIM.replace('Epoch":1', 'Epoch":-1')),
        answered([answer(20, controller=3000)], [*OF_THREE, *broker(16_000, 0)]),
        answered([]),
        answered([answer(20)]),
        answered([answer(20, 0, controller=1), answer(20.5, 1, controller=2), answer(21, 0, controller=1)]),
    ],
    ids=["just taken over", "a ZooKeeper controller", "just started", "no answer", "one answer", "one id each"],
)
def test_without_an_answer_under_kraft_nothing_is_proved(run: History) -> None:
    """Vacuous."""
    assert clients_are_told_of_brokers_only.judge(run).is_vacuous


def test_a_broker_that_lists_none_yet_has_none_to_give() -> None:
    """Conforming: it received no metadata until now, as after a restart of the whole cluster."""
    run = answered([answer(20, controller=-1, brokers=()), answer(21), answer(22)])
    assert clients_are_told_of_brokers_only.judge(run).outcome is Outcome.CONFORMS


def test_while_the_cluster_is_disturbed_only_a_controllers_id_violates() -> None:
    """A broker that is cut off may know of none, or of one that has died."""
    cut = [*AWAY, *fault(15_000, "cut(a->b)", effect="cut")]
    run = answered([answer(36, controller=2), answer(37, controller=-1)], cut)
    assert clients_are_told_of_brokers_only.judge(run).is_vacuous
    run = answered([answer(36, controller=3000)], cut)
    assert clients_are_told_of_brokers_only.judge(run).outcome is Outcome.VIOLATES
