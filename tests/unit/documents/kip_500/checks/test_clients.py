"""Check that clients are given brokers only."""

from pytest_kmigrate.documents.kip_500.checks.clients import clients_are_given_no_controller as check
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import ClientMetadata
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import MS, event, history

NODES = [
    event(EventKind.NODE_STARTED, 0, node, role=node.partition("-")[0], kafka="3.9.1")
    for node in ("controller-3000", "broker-0", "broker-1")
]


def answer(controller: int, *brokers: int) -> ClientMetadata:
    """What broker 0 answered."""
    return ClientMetadata(1_000 * MS, "broker-0", controller, brokers, {})


def test_brokers_conform() -> None:
    """Conforming: a broker without metadata gives none."""
    run = history(events=NODES, client_metadata=(answer(1, 0, 1), answer(-1)))
    assert check.judge(run).outcome is Outcome.CONFORMS


def test_a_controller_in_either_place_violates() -> None:
    """Violating: as the controller, or as a broker."""
    for wrong in (answer(3000, 0, 1), answer(0, 0, 1, 3000)):
        verdict = check.judge(history(events=NODES, client_metadata=(wrong,)))
        assert verdict.outcome is Outcome.VIOLATES
        assert verdict.violations[0].observed.startswith("broker-0 gives controller-3000 (")


def test_without_an_answer_nothing_is_proved() -> None:
    """Vacuous; and a cluster of combined nodes is not judged."""
    assert check.judge(history(events=NODES)).is_vacuous
    assert check.in_every_run is not None
    assert not check.in_every_run(history(events=NODES[1:], client_metadata=(answer(0, 0),)))
