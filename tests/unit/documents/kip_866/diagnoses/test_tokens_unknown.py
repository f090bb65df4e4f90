"""Facts about brokers in ZooKeeper mode that hear nothing of delegation tokens."""

from collections.abc import Mapping, Sequence

import pytest

from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import change, history
from tests.unit.documents.kip_866.diagnoses.naming import CLAIM, named_of_expectations, started, unmet

UP = "INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
NOTIFIED = "INFO Processing notification(s) to /delegation_token/token_changes (kafka.common.ZkNodeChange)\n"
DEAF = NOTIFIED + UP
OLD, NEW = ["a", "b"], ["c"]


def tokens(*ids: str, expires_ms: int = 5) -> MetadataImage:
    """What ZooKeeper holds."""
    return MetadataImage("zookeeper", delegation_tokens={each: {"expires_ms": expires_ms} for each in ids})


def changed(at_ms: int, taken_back: Sequence[str] = ("a", "b"), made: Sequence[str] = ("c",)) -> list[Event]:
    """Tokens were taken back and made, or renewed."""
    gone = [change(at_ms, "remove-token", each) for each in taken_back]
    return [*gone, *(change(at_ms, "create-token", each, wanted={"owner": "x"}) for each in made)]


AT_ONCE = changed(15_000)
RENEWED = changed(15_000, (), ("a", "b"))


def run_of(
    expected: object,
    observed: object,
    held: MetadataImage,
    logs: Mapping[str, str],
    changes: Sequence[Event] = AT_ONCE,
) -> History:
    """A run in which broker-0 runs in KRaft mode and two brokers in ZooKeeper mode."""
    events = [
        *started("controller-3000"),
        *started("broker-0", mode="kraft"),
        *started("broker-1", "broker-2", mode="zookeeper"),
        *changes,
    ]
    events.append(unmet(20_000, "tokens of each broker", expected=expected, observed=observed))
    return history(events=events, images={"made-zookeeper": held}, znodes=[CLAIM], logs=logs)


BOTH_DEAF = {"broker-0": "", "broker-1": DEAF, "broker-2": DEAF}


EXPIRIES = {"a": {"broker-0": 5, "broker-1": 4, "broker-2": 4}, "b": 5}


@pytest.mark.parametrize(
    ("expected", "observed", "held", "changes"),
    [
        ([NEW, NEW, NEW], [NEW, OLD, OLD], tokens("c"), AT_ONCE),
        ([NEW, NEW, NEW], [NEW, NEW, OLD], tokens("c"), AT_ONCE),
        ({"a": 5, "b": 5}, EXPIRIES, tokens("a", "b"), RENEWED),
    ],
    ids=["which there are", "one broker", "when they expire"],
)
def test_brokers_that_were_not_notified_are_kmigrate_6(
    expected: object, observed: object, held: MetadataImage, changes: list[Event]
) -> None:
    """Each of them has run in ZooKeeper mode since it started, and was not notified; ZooKeeper has the tokens."""
    assert named_of_expectations(run_of(expected, observed, held, BOTH_DEAF, changes)) == ("kmigrate-6",)


@pytest.mark.parametrize(
    ("expected", "observed", "held", "changes"),
    [
        ([NEW, NEW, NEW], [NEW, OLD, OLD], tokens("c"), []),
        ([NEW, NEW, NEW], [NEW, OLD, OLD], tokens("c"), changed(5_000)),
        ([NEW, NEW, NEW], [NEW, OLD, OLD], tokens("c"), changed(5_000, made=()) + changed(15_000, ())),
        (
            [NEW, NEW, NEW],
            [NEW, OLD, OLD],
            tokens("c"),
            [*AT_ONCE, *started("broker-2", at_ms=17_000, mode="zookeeper")],
        ),
        ({"a": 5, "b": 5}, EXPIRIES, tokens("a", "b"), changed(15_000, (), ("b",))),
    ],
    ids=["never", "before the take-over", "one of them before", "before a broker was started again", "another one"],
)
def test_tokens_that_were_not_changed_since_a_broker_read_them_have_another_cause(
    expected: object, observed: object, held: MetadataImage, changes: list[Event]
) -> None:
    """It reads all as it starts, and hears of changes before the take-over."""
    assert named_of_expectations(run_of(expected, observed, held, BOTH_DEAF, changes)) == ()


def test_brokers_are_listed_by_id() -> None:
    """An expectation lists what each broker has in the order of their ids, of which the tenth is no second."""
    events = [*started("controller-3000"), *started("broker-10", mode="zookeeper"), *started("broker-9", mode="kraft")]
    events += AT_ONCE
    events.append(unmet(20_000, "tokens of each broker", expected=[NEW, NEW], observed=[NEW, OLD]))
    logs = {"broker-9": DEAF + NOTIFIED, "broker-10": DEAF}
    run = history(events=events, images={"made-zookeeper": tokens("c")}, znodes=[CLAIM], logs=logs)
    assert named_of_expectations(run) == ("kmigrate-6",)


@pytest.mark.parametrize(
    ("expected", "observed", "held", "logs"),
    [
        ([NEW, NEW, NEW], [NEW, OLD, OLD], tokens("a", "b"), BOTH_DEAF),
        ([NEW, NEW, NEW], [OLD, OLD, OLD], tokens("c"), {**BOTH_DEAF, "broker-0": DEAF}),
        ([NEW, NEW, NEW], [NEW, OLD, OLD], tokens("c"), {**BOTH_DEAF, "broker-2": DEAF + NOTIFIED}),
        ([NEW, NEW, NEW], [NEW, OLD, OLD], tokens("c"), {}),
        ({"a": 5}, {"a": 4}, tokens("a"), BOTH_DEAF),
        ({"a": 5, "b": 5}, {"a": {"broker-1": 4}}, tokens("a", "b"), BOTH_DEAF),
        ({"a": 5}, {"a": {"broker-0": 5, "broker-1": 4}}, tokens("a", expires_ms=4), BOTH_DEAF),
        (True, False, tokens("c"), BOTH_DEAF),
    ],
    ids=[
        "ZooKeeper lacks them",
        "a broker in KRaft mode",
        "one was notified",
        "no log",
        "all brokers alike",
        "a token that no broker has",
        "ZooKeeper has another expiry",
        "something else",
    ],
)
def test_other_tokens_for_another_reason_are_not_kmigrate_6(
    expected: object, observed: object, held: MetadataImage, logs: Mapping[str, str]
) -> None:
    """Dual write that does not reach ZooKeeper, or a broker that was notified, is another defect."""
    assert named_of_expectations(run_of(expected, observed, held, logs)) == ()
