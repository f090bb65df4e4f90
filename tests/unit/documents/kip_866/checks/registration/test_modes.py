"""Check of the mode in which brokers are registered."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.registration.modes import brokers_register_with_their_mode
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import fault, history, snapshot
from tests.unit.documents.kip_866.checks.migrated import LOG
from tests.unit.documents.kip_866.checks.nodes import broker, migrating, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at

ROLLED = [*migrating(0), stopped(20_000), *broker(21_000, mode="kraft")]


def log(**registered: bool) -> MetadataImage:
    """A log in which these brokers are registered, as ones in migration mode or not."""
    brokers = {key.removeprefix("b"): {"is_migrating_zk_broker": flag} for key, flag in registered.items()}
    return replace(LOG, extra={"migration_states": [], "transactions": [], "brokers": brokers})


def registered(*events: Event, **images: MetadataImage) -> History:
    """The log as it was looked at after so many seconds."""
    taken = [snapshot(1_000 * int(label.removeprefix("s")), label) for label in images]
    return history(events=[*events, *taken], images=images)


def test_each_broker_in_its_own_mode_conforms() -> None:
    """Conforming: in migration mode, kept without a restart, and in KRaft mode under the same id."""
    run = registered(*ROLLED, s12=log(b1=True), s15=log(b1=True), s30=log(b1=False))
    rows = ("REG-zk-broker-registers", "REG-kraft-same-id-after-stop", "NG-dynamic-switch")
    verdict = brokers_register_with_their_mode.judge(run)
    assert {row: looked_at(verdict).get(row) for row in rows[:2]} == dict.fromkeys(rows[:2], "CONFORMS")
    later = registered(*migrating(0), s12=log(b1=True), s25=log(b1=True))
    assert looked_at(brokers_register_with_their_mode.judge(later))["NG-dynamic-switch"] == "CONFORMS"


@pytest.mark.parametrize(
    ("run", "row"),
    [
        (registered(*migrating(0), s12=log(b1=False)), "REG-zk-broker-registers"),
        (registered(*migrating(0), s12=log()), "REG-zk-broker-registers"),
        (registered(*ROLLED, s30=log(b1=True)), "REG-kraft-same-id-after-stop"),
        (registered(*ROLLED, s30=log()), "REG-kraft-same-id-after-stop"),
        (registered(*broker(0), s12=log(b1=True), s15=log(b1=False)), "NG-dynamic-switch"),
    ],
)
def test_another_mode_violates(run: History, row: str) -> None:
    """Violating: registered as something else, or not at all."""
    assert looked_at(brokers_register_with_their_mode.judge(run)) == {row: "VIOLATES"}


@pytest.mark.parametrize(
    "run",
    [
        registered(*broker(0), s12=log()),
        registered(*migrating(0), s5=log()),
        registered(*migrating(0), stopped(11_000), s13=log()),
        registered(*broker(0, mode="kraft"), s12=log()),
        registered(*migrating(0)),
    ],
    ids=["not migrating", "just started", "away", "always in KRaft mode", "no image"],
)
def test_a_broker_that_need_not_be_registered_proves_nothing(run: History) -> None:
    """Vacuous."""
    assert brokers_register_with_their_mode.judge(run).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("since_ms", "outcome"), [(5_000, None), (13_000, "VIOLATES")])
def test_under_a_fault_a_broker_that_is_not_registered_is_not_judged(since_ms: int, outcome: str | None) -> None:
    """It may have been cut off from the controllers since it was ready; one that began later excuses nothing."""
    run = registered(*migrating(0), *fault(since_ms, "cut(broker-1->every-controller)"), s12=log())
    assert looked_at(brokers_register_with_their_mode.judge(run)).get("REG-zk-broker-registers") == outcome
