"""Facts about a position in ``/migration`` that a former migration left."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.clients.every_broker import LISTS_NONE, clients_are_told_of_every_broker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Violation, violates
from tests.unit.checkers.histories import MS, change, event, history, znode
from tests.unit.documents.kip_866.diagnoses.naming import named, named_of_expectations, started, unmet

ANEW_MS = 20_000
"""When the controllers were wiped."""


def position(at_ms: int, offset: int, version: int) -> ZnodeChange:
    """What the KRaft controllers keep in ZooKeeper."""
    held = json.dumps({"version": 0, "kraft_metadata_offset": offset, "kraft_metadata_epoch": 1})
    return znode(at_ms, "/migration", held, version=version)


def claim(at_ms: int) -> ZnodeChange:
    """A KRaft controller took over."""
    return znode(at_ms, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": 1}))


FORMER = [position(9000, -1, 0), claim(10_000), position(11_000, 53, 18)]
AGAIN = claim(40_000)


def second_migration(*znodes: ZnodeChange, observed: object = ()) -> History:
    """A run whose migration was undone and begun again; its metadata log lacks the topics of ZooKeeper."""
    wiped = event(EventKind.NODE_WIPED, ANEW_MS, "controller-3000")
    topics = unmet(60_000, "topics in the metadata log", expected=["orders", "payments"], observed=observed)
    events = [*started("controller-3000"), wiped, *started("controller-3000", at_ms=25_000), topics]
    return history(events=events, znodes=[*FORMER, *znodes])


@pytest.mark.parametrize("more", [(), (position(41_000, 55, 19),)], ids=["as it was", "written again"])
def test_a_takeover_with_the_former_position_is_kafka_17146(more: tuple[ZnodeChange, ...]) -> None:
    """The znode stood from the former migration to the take-over of the next."""
    assert named_of_expectations(second_migration(AGAIN, *more)) == ("KAFKA-17146",)


@pytest.mark.parametrize(
    "run",
    [
        second_migration(znode(22_000, "/migration", None), position(39_000, -1, 0), AGAIN),
        second_migration(position(39_000, -1, 0), AGAIN),
        second_migration(),
        second_migration(AGAIN, observed=["strange"]),
        history(events=second_migration().events, znodes=[position(9000, -1, 0), AGAIN]),
    ],
    ids=["deleted", "deleted unseen", "no take-over", "topics that ZooKeeper had not", "it never held a position"],
)
def test_a_log_that_lacks_topics_for_another_reason_is_not_kafka_17146(run: History) -> None:
    """A copy that loses topics though ``/migration`` was new is another defect."""
    assert named_of_expectations(run) == ()


def test_a_list_of_something_else_is_another_defect() -> None:
    """Such as brokers that hear of a topic, of which one is lacking."""
    run = second_migration(AGAIN)
    missed = unmet(60_000, "brokers that know the new topic", expected=[0, 1, 2], observed=[0, 1])
    assert named_of_expectations(replace(run, events=[*run.events[:-1], missed])) == ()


@pytest.mark.parametrize(
    ("made_ms", "bugs"), [(39_000, ("KAFKA-17146",)), (45_000, ())], ids=["before the take-over", "since"]
)
def test_a_topic_that_was_made_since_the_copy_was_skipped_is_lost_by_another_defect(
    made_ms: int, bugs: tuple[str, ...]
) -> None:
    """Also if another controller has taken over since."""
    run = second_migration(AGAIN, claim(50_000))
    made = change(made_ms, "create-topic", "orders", wanted={"partitions": 1})
    assert named_of_expectations(replace(run, events=[*run.events[:-1], made, run.events[-1]])) == bugs


def test_a_broker_that_knows_nothing_in_the_former_migration_has_another_cause() -> None:
    """The copy of that one was made."""
    observed = "broker-0 in ZooKeeper mode reports 0 replicas=0,1; broker-2 in ZooKeeper mode reports nothing more, for"
    for at_ms, bugs in ((15_000, ()), (50_000, ("KAFKA-17146",))):
        violation = Violation("both brokers report the same topic orders", observed, at_ms * MS)
        verdict = violates(Kind.LIVENESS, [violation]).by("clients_are_told_the_same")
        assert named(second_migration(AGAIN), verdict) == bugs


@pytest.mark.parametrize(("made_ms", "bugs"), [(15_000, ("KAFKA-17146",)), (45_000, ())], ids=["before", "since"])
def test_a_topic_that_was_made_since_is_in_the_log(made_ms: int, bugs: tuple[str, ...]) -> None:
    """A broker that does not know it was not sent it for another reason."""
    run = second_migration(AGAIN)
    made = change(made_ms, "create-topic", "orders", wanted={"partitions": 1})
    run = replace(run, events=sorted([*run.events, made], key=lambda each: each.at_ns))
    observed = "broker-0 in ZooKeeper mode reports 0 replicas=0,1; broker-2 in ZooKeeper mode reports nothing more, for"
    violation = Violation("both brokers report the same topic orders", observed, 60_000 * MS)
    assert named(run, violates(Kind.LIVENESS, [violation]).by("clients_are_told_the_same")) == bugs


@pytest.mark.parametrize(
    ("said", "run", "bugs"),
    [
        ("broker-2 in ZooKeeper mode reports nothing more", second_migration(AGAIN), ("KAFKA-17146",)),
        ("broker-2 in ZooKeeper mode reports 0 replicas=0", second_migration(AGAIN), ()),
        ("broker-2 in ZooKeeper mode reports nothing more", second_migration(position(39_000, -1, 0), AGAIN), ()),
    ],
    ids=["a topic is forgotten", "a topic differs", "the position was new"],
)
def test_a_broker_that_forgets_what_was_not_copied_is_kafka_17146(
    said: str, run: History, bugs: tuple[str, ...]
) -> None:
    """What controllers did not copy is unknown to brokers too."""
    observed = f"broker-0 in ZooKeeper mode reports 0 replicas=0,1; {said}, for 10.3 s"
    violation = Violation("both brokers report the same topic orders", observed)
    assert named(run, violates(Kind.LIVENESS, [violation]).by("clients_are_told_the_same")) == bugs


LISTS = "broker-0 in ZooKeeper mode lists {} and broker-2 in ZooKeeper mode does not"


@pytest.mark.parametrize(
    ("lists", "run", "bugs"),
    [
        (("broker-0", "broker-2"), second_migration(AGAIN), ("KAFKA-17146",)),
        (("broker-0", "broker-1"), second_migration(AGAIN), ()),
        (("broker-0", "broker-2"), second_migration(position(39_000, -1, 0), AGAIN), ()),
    ],
    ids=["none", "itself", "the position was new"],
)
def test_a_broker_that_lists_none_is_kafka_17146(lists: tuple[str, ...], run: History, bugs: tuple[str, ...]) -> None:
    """The controllers send a broker nothing before they have brought ZooKeeper to their log."""
    observed = "; ".join(map(LISTS.format, lists)) + ", for 10.4 s"
    violation = Violation("both brokers report the same brokers", observed)
    assert named(run, violates(Kind.LIVENESS, [violation]).by("clients_are_told_the_same")) == bugs
    more = Violation(violation.expected, observed.replace(", for", "; broker-0 in ZooKeeper mode lists none, for"))
    assert named(run, violates(Kind.LIVENESS, [more]).by("clients_are_told_the_same")) == ()


@pytest.mark.parametrize(
    ("observed", "at_ms", "run", "bugs"),
    [
        (LISTS_NONE, 50_000, second_migration(AGAIN), ("KAFKA-17146",)),
        ("it lists 0", 50_000, second_migration(AGAIN), ()),
        (LISTS_NONE, 9_000, second_migration(AGAIN), ()),
        (LISTS_NONE, 50_000, second_migration(position(39_000, -1, 0), AGAIN), ()),
    ],
    ids=["none", "itself alone", "before any take-over", "the position was new"],
)
def test_a_broker_that_is_sent_nothing_lists_not_even_itself(
    observed: str, at_ms: int, run: History, bugs: tuple[str, ...]
) -> None:
    """It was restarted as the controllers began to bring ZooKeeper to their log; one that lists some was sent some."""
    violation = Violation("broker-2 lists broker-0", f"{observed}, 24.1 s after broker-0 was ready", at_ms * MS)
    assert named(run, violates(Kind.LIVENESS, [violation]).by(clients_are_told_of_every_broker.name)) == bugs
