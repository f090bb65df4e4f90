"""Checks that no other client writes during the copy, and no former controller later."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.transactions.others import (
    former_controller_writes_nothing,
    nobody_else_writes_during_the_copy,
)
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import change, history
from tests.unit.documents.kip_866.checks.transactions.logged import (
    BROKER,
    FIRST,
    NOTIFICATION,
    SECOND,
    TOPIC,
    claim,
    logged,
    place,
    run,
)
from tests.unit.documents.kip_866.diagnoses.naming import named

REGISTERED = Write("create", "/brokers/ids/1", "", 0, is_ephemeral=True)


def copied(during: Transaction) -> list[Transaction]:
    """Something happens while metadata are copied."""
    return [claim(10_000), logged(10_100, FIRST, place(-1)), during, logged(11_000, FIRST, place(100))]


@pytest.mark.parametrize(
    "during",
    [
        logged(10_500, BROKER, REGISTERED),
        logged(10_500, FIRST, TOPIC),
        claim(10_500, SECOND, 3001, 2),
    ],
    ids=["a registration", "the controller itself", "another controller"],
)
def test_a_copy_in_which_nobody_else_tries_to_write_proves_nothing(during: Transaction) -> None:
    """Vacuous: brokers come and go, and controllers do what they must. Conforming: a client asked for a change."""
    alone = run(before=copied(during))
    assert nobody_else_writes_during_the_copy.judge(alone).is_vacuous
    asked = replace(alone, events=[*alone.events, change(10_600, "alter-config", "topic:orders")])
    assert nobody_else_writes_during_the_copy.judge(asked).outcome is Outcome.CONFORMS
    later = replace(alone, events=[*alone.events, change(12_000, "alter-config", "topic:orders")])
    assert nobody_else_writes_during_the_copy.judge(later).is_vacuous


def test_a_copy_in_which_somebody_else_is_refused_conforms() -> None:
    """Conforming: it tried."""
    verdict = nobody_else_writes_during_the_copy.judge(run(before=copied(logged(10_500, BROKER, error=-101))))
    assert verdict.outcome is Outcome.CONFORMS


@pytest.mark.parametrize("path", ["/brokers/topics/orders", "/config/topics/orders", "/kafka-acl/Topic/orders"])
def test_metadata_written_during_the_copy_violate(path: str) -> None:
    """Violating: they are not copied any more."""
    verdict = nobody_else_writes_during_the_copy.judge(
        run(before=copied(logged(10_500, BROKER, replace(TOPIC, path=path))))
    )
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].observed.startswith(f"zxid 0x2904 of session 0x10: set-data {path} (10.5 s after")


CONFIG = Write("set-data", "/config/brokers/0", "{}", 1)
ACL = Write("set-data", "/kafka-acl/Topic/orders", "{}", 1)
OF_CONFIG = Write("create", "/config/changes/config_change_07", '{"version":2,"entity_path":"brokers/0"}', 0)
OF_ACL = Write("create", "/kafka-acl-changes/acl_changes_07", "TOPIC:orders", 0)


@pytest.mark.parametrize(("written", "notification"), [(CONFIG, OF_CONFIG), (ACL, OF_ACL)], ids=["config", "ACL"])
def test_a_notification_of_what_was_written_before_is_no_metadata(written: Write, notification: Write) -> None:
    """Conforming: the broker had written before the take-over, and another request is refused."""
    notified, refused = logged(10_500, BROKER, notification), logged(10_600, BROKER, error=-101)
    history = run(before=[logged(9_900, BROKER, written), *copied(notified), logged(11_500, FIRST, place(101))])
    assert nobody_else_writes_during_the_copy.judge(history).is_vacuous
    tried = run(
        before=[logged(9_900, BROKER, written), *copied(notified)[:3], refused, logged(11_000, FIRST, place(1))]
    )
    assert nobody_else_writes_during_the_copy.judge(tried).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("before", "during"),
    [
        ([], [logged(10_500, BROKER, OF_CONFIG)]),
        ([logged(9_900, BROKER, ACL)], [logged(10_500, BROKER, OF_CONFIG)]),
        ([logged(9_900, 0x11, CONFIG)], [logged(10_500, BROKER, OF_CONFIG)]),
        ([], [logged(10_400, BROKER, CONFIG), logged(10_500, BROKER, OF_CONFIG)]),
        ([logged(9_900, BROKER, CONFIG), logged(9_950, BROKER, OF_CONFIG)], [logged(10_500, BROKER, OF_CONFIG)]),
        ([logged(9_900, BROKER, CONFIG)], [logged(10_400, BROKER, OF_CONFIG), logged(10_500, BROKER, OF_CONFIG)]),
        ([logged(9_900, BROKER, CONFIG)], [logged(10_500, BROKER, replace(OF_CONFIG, operation="set-data"))]),
    ],
    ids=["of nothing", "of another", "of another's", "of the copy's time", "a second", "twice in the copy", "a change"],
)
def test_any_other_notification_during_the_copy_violates(before: list[Transaction], during: list[Transaction]) -> None:
    """Violating: something was written, or it is no notification."""
    begun, first, _, ended = copied(during[0])
    verdict = nobody_else_writes_during_the_copy.judge(run(before=[*before, begun, first, *during, ended]))
    assert verdict.outcome is Outcome.VIOLATES


def test_without_a_copy_in_the_run_nothing_is_proved() -> None:
    """Vacuous: it never ended, or had ended before the run began."""
    during = copied(logged(10_500, BROKER, TOPIC))
    assert nobody_else_writes_during_the_copy.judge(run(before=during[:3])).is_vacuous
    whole = run(before=during)
    inherited = replace(whole, header=replace(whole.header, extra={"checkpoint": {"log_offset": 99, "zxid": 9}}))
    assert nobody_else_writes_during_the_copy.judge(inherited).is_vacuous


AGAIN = claim(20_000, SECOND, 3001, 2)


def test_a_former_controller_that_is_refused_conforms() -> None:
    """Conforming: it tried. One that is in charge again may write."""
    verdict = former_controller_writes_nothing.judge(run(AGAIN, logged(21_000, FIRST, error=-103)))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 1)
    back = [AGAIN, logged(21_000, FIRST, error=-103), claim(22_000, FIRST, 3000, 3), logged(23_000, FIRST, TOPIC)]
    assert former_controller_writes_nothing.judge(run(*back)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize("error", [-101, -110], ids=["no node", "node exists"])
def test_what_anybody_would_have_been_refused_proves_nothing(error: int) -> None:
    """Vacuous: its successor had written the same."""
    assert former_controller_writes_nothing.judge(run(AGAIN, logged(21_000, FIRST, error=error))).is_vacuous


def test_a_former_controller_that_writes_violates() -> None:
    """Violating: after the claim of the next one."""
    verdict = former_controller_writes_nothing.judge(run(AGAIN, logged(21_000, FIRST, TOPIC)))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].expected == "only controller-3001 writes after zxid 0x4e20 of session 0x30"


def test_only_a_notification_of_a_former_controller_is_a_known_deviation() -> None:
    """It has no condition in Kafka; data written by a former controller would be no notification."""
    notified = run(AGAIN, logged(21_000, FIRST, NOTIFICATION))
    assert named(notified, former_controller_writes_nothing.judge(notified)) == ("former-controller-notifies",)
    both = run(AGAIN, logged(21_000, FIRST, NOTIFICATION), logged(21_100, FIRST, TOPIC))
    assert named(both, former_controller_writes_nothing.judge(both)) == ()


@pytest.mark.parametrize(
    "later",
    [
        (),
        (AGAIN,),
        (AGAIN, logged(21_000, SECOND, TOPIC)),
        (AGAIN, logged(21_000, BROKER, TOPIC)),
        (AGAIN, logged(21_000, FIRST)),
    ],
    ids=["nothing", "no attempt", "the new one", "a broker", "the session ends"],
)
def test_without_an_attempt_of_a_former_controller_nothing_is_proved(later: tuple[Transaction, ...]) -> None:
    """Vacuous."""
    assert former_controller_writes_nothing.judge(run(*later)).is_vacuous
    assert former_controller_writes_nothing.judge(history()).is_vacuous
