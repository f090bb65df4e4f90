"""Check that KRaft controllers write to ZooKeeper conditionally."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.transactions.conditional import (
    every_write_of_a_controller_is_conditional as check,
)
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.documents.kip_866.checks.transactions.logged import (
    BROKER,
    CHECKED,
    EPOCH,
    FIRST,
    NOTIFICATION,
    SECOND,
    TOPIC,
    logged,
    place,
    run,
)
from tests.unit.documents.kip_866.diagnoses.naming import named

GOOD = logged(12_000, FIRST, EPOCH, place(101), TOPIC)


def test_a_change_together_with_both_conditions_conforms() -> None:
    """Conforming: also where ``/migration`` is set by itself, which changes nothing else."""
    verdict = check.judge(run(GOOD, logged(12_001, FIRST, place(102)), logged(12_002, BROKER, TOPIC)))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 1)


@pytest.mark.parametrize(
    ("bad", "observed", "known"),
    [
        (
            logged(13_000, FIRST, EPOCH, CHECKED, TOPIC),
            "only check /migration",
            "migration-znode-set-by-last-write-only",
        ),
        (logged(13_000, FIRST, NOTIFICATION), "write a change notification", "notifications-outside-transactions"),
        (
            logged(13_000, FIRST, Write("create", "/config/x", "", 0)),
            "an empty parent",
            "notifications-outside-transactions",
        ),
        (logged(13_000, FIRST, TOPIC), "write data by itself", None),
        (logged(13_000, FIRST, place(101), TOPIC), "do not check /controller_epoch", None),
        (logged(13_000, FIRST, EPOCH, TOPIC), "neither check nor set /migration", None),
        (logged(13_000, FIRST, EPOCH, TOPIC, is_multi=False), "write data by itself", None),
    ],
)
def test_a_change_that_lacks_a_condition_violates(bad: Transaction, observed: str, known: str | None) -> None:
    """Violating; only what Kafka is known to leave out is a known deviation."""
    history = run(GOOD, bad, logged(14_000, FIRST, place(102)))
    verdict = check.judge(history)
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].observed.startswith("1 of 2 transactions ")
    assert observed in verdict.violations[0].observed
    assert named(history, verdict) == ((known,) if known else ())


def test_a_change_after_which_none_sets_the_position_is_no_known_deviation() -> None:
    """Kafka sets it with the last transaction of a batch, or by itself."""
    history = run(GOOD, logged(13_000, FIRST, EPOCH, CHECKED, TOPIC))
    assert named(history, check.judge(history)) == ()


def test_a_known_deviation_does_not_hide_another_one() -> None:
    """Nothing explains the whole."""
    history = run(logged(13_000, FIRST, EPOCH, CHECKED, TOPIC), logged(13_001, FIRST, TOPIC))
    assert named(history, check.judge(history)) == ()


@pytest.mark.parametrize(
    "transactions",
    [
        (),
        (logged(9_000, FIRST, TOPIC),),
        (logged(13_000, SECOND, TOPIC),),
        (logged(13_000, FIRST, error=-103),),
    ],
    ids=["nothing", "before its claim", "another session", "refused"],
)
def test_without_a_change_of_a_controller_nothing_is_proved(transactions: tuple[Transaction, ...]) -> None:
    """Vacuous."""
    assert check.judge(run(*transactions)).is_vacuous


def test_on_a_standing_cluster_the_session_is_known_by_what_it_writes() -> None:
    """A run of a scene sees no claim."""
    verdict = check.judge(run(logged(1, FIRST, place(7)), logged(2, FIRST, TOPIC), before=[]))
    assert verdict.outcome is Outcome.VIOLATES
