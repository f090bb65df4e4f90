"""Checks of the mode that members follow, each with a group that conforms and one with a planted defect."""

import pytest

from pytest_kmigrate.documents.kip_125.checks.coordination.ends import members_end_only_when_asked
from pytest_kmigrate.documents.kip_125.checks.coordination.gauges import ACTIVE, gauges_show_what_members_do
from pytest_kmigrate.documents.kip_125.checks.coordination.membership import (
    commits_are_those_of_members,
    kafka_members_are_the_connectors,
)
from pytest_kmigrate.documents.kip_125.checks.coordination.mode import (
    consumption_follows_the_chosen_system,
    mode_agreed_within,
)
from pytest_kmigrate.documents.kip_125.kinds import NAME, NEW, TOPIC, WITH, WITHOUT
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Outcome, Verdict
from tests.unit.checkers.histories import FAILED, MS, committed, event, history
from tests.unit.documents.kip_125.groups import (
    assigned,
    described,
    ended,
    follows,
    gauges,
    member,
    owns,
    released,
    worked_until,
    wrote,
)

BEGUN = [member(1), member(2), follows(1, 10, "zookeeper"), follows(2, 10, "zookeeper")]
END = worked_until(60_000)
RAW = "K125-MODE-raw-zk-write-suffices"


def violated(verdict: Verdict) -> list[str]:
    """The requirements that a verdict finds violated."""
    return [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES]


def followed(*events: Event) -> Verdict:
    """The verdict about the mode of two members, until long after."""
    return mode_agreed_within.judge(history(events=[*BEGUN, *events, END]))


def test_all_members_follow_each_change() -> None:
    """The slowest member is measured."""
    both = [follows(1, 1020, "kafka"), follows(2, 1090, "kafka")]
    back = [follows(1, 20_050, "zookeeper"), follows(2, 20_050, "zookeeper")]
    verdict = followed(wrote(1000, "kafka"), *both, wrote(20_000, None), *back)
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["slowest_s"] == pytest.approx(0.09)


def test_a_mode_is_followed_when_the_member_says_so() -> None:
    """Not when its line was read, which may be long after on a machine that is busy."""
    both = [follows(each, 1020, "kafka", read_ms=9000) for each in (1, 2)]
    verdict = followed(wrote(1000, "kafka"), *both)
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["slowest_s"] == pytest.approx(0.02)
    late = [follows(each, 9000, "kafka") for each in (1, 2)]
    assert violated(followed(wrote(1000, "kafka"), *late)) == ["K125-MODE-watch-create", RAW]


@pytest.mark.parametrize(
    ("events", "row"),
    [
        ([wrote(1000, "kafka"), follows(1, 1020, "kafka")], "K125-MODE-watch-create"),
        ([wrote(1000, "zookeeper"), wrote(20_000, "kafka"), follows(1, 20_020, "kafka")], "K125-MODE-watch-change"),
        ([wrote(1000, "KAFKA"), follows(1, 1020, "kafka")], "K125-MODE-unknown-is-zk"),
        (
            [wrote(1000, "kafka"), *(follows(each, 1020, "kafka") for each in (1, 2)), wrote(20_000, None)],
            "K125-MODE-watch-delete",
        ),
    ],
)
def test_a_member_that_does_not_follow_is_seen(events: list[Event], row: str) -> None:
    """By the requirement about that change; a toggle was also a write to the znode, which has to be enough."""
    written = [] if row == "K125-MODE-unknown-is-zk" else [RAW]
    assert violated(followed(*events)) == [row, *written]


def test_the_last_of_many_toggles_that_a_member_does_not_follow_is_seen() -> None:
    """By the requirement about any number of them, beside that about the last change."""
    modes = [("zookeeper", "kafka")[at % 2] for at in range(12)]
    toggles = [
        each
        for at, mode in enumerate(modes)
        for each in (wrote(1000 + 20_000 * at, mode), *(follows(client, 1050 + 20_000 * at, mode) for client in (1, 2)))
    ]
    end = worked_until(300_000)
    assert mode_agreed_within.judge(history(events=[*BEGUN, *toggles, end])).outcome is Outcome.CONFORMS
    late = mode_agreed_within.judge(history(events=[*BEGUN, *toggles[:-1], end]))
    assert violated(late) == ["K125-MODE-watch-change", "K125-MODE-dynamic-repeat", RAW]


def test_a_member_that_was_cut_off_follows_when_it_is_healed() -> None:
    """It is judged from then on; the others from the write on."""
    *began, healed = cut_off(500, 9000)
    cut = [*began, wrote(1000, "kafka"), follows(1, 1020, "kafka"), healed]
    assert followed(*cut, follows(2, 9500, "kafka")).outcome is Outcome.CONFORMS
    assert violated(followed(*cut)) == ["K125-MODE-missed-notification"]
    started_again = {"member": "MEZKCC-2", "client": 3, "member_kind": WITH, "consumer_id": "c3", "topics": {TOPIC: 1}}
    later = [
        ended(2, 12_000, "killed"),
        event(EventKind.MEMBER_STARTED, 20_000, group=NAME, member_ns=20_000 * MS, **started_again),
    ]
    back = [wrote(11_000, "zookeeper"), *(follows(each, 11_020, "zookeeper") for each in (1, 2))]
    assert followed(*cut, follows(2, 9500, "kafka"), *back, *later).outcome is Outcome.CONFORMS


def cut_off(from_ms: int, to_ms: int) -> list[Event]:
    """The second member is cut off ZooKeeper."""
    one = {"fault_id": "fault-1"}
    return [
        event(EventKind.FAULT_BEGAN, from_ms, effect="cut", **one),
        event(EventKind.FAULT_APPLIED, from_ms, targets=["MEZKCC-2", "zookeeper-1"], **one),
        event(EventKind.FAULT_HEALED, to_ms, **one),
    ]


def test_members_of_another_group_follow_that_one() -> None:
    """A script may toggle many groups; the mode node of the one under test is nothing to the others."""
    who = {"member": "MEZKCC-3", "client": 3, "member_kind": WITH, "consumer_id": "c3", "topics": {TOPIC: 1}}
    for name, outcome in ((f"{NAME}-1", Outcome.CONFORMS), (NAME, Outcome.VIOLATES)):
        third = event(EventKind.MEMBER_STARTED, 0, group=name, member_ns=0, **who)
        back = [follows(each, 1020, "kafka") for each in (1, 2)]
        other = [follows(3, 5_000, "kafka"), follows(3, 7_000, "zookeeper")]
        assert followed(third, wrote(1000, "kafka"), *back, *other).outcome is outcome


def test_an_older_member_forces_zookeeper() -> None:
    """Members fall back when it joins and follow Kafka again when it has left, though the mode was never written."""
    kafka = [wrote(1000, "kafka"), follows(1, 1020, "kafka"), follows(2, 1020, "kafka")]
    back = [member(3, WITHOUT, 20_000), follows(1, 20_100, "zookeeper"), follows(2, 20_100, "zookeeper")]
    again = [ended(3, 40_000, kind=WITHOUT), follows(1, 40_100, "kafka"), follows(2, 40_100, "kafka")]
    assert followed(*kafka, *back, *again).outcome is Outcome.CONFORMS
    assert violated(followed(*kafka, *back, *again[:2])) == ["K125-MODE-resume-on-leave"]
    assert violated(followed(*kafka, *back[:2])) == ["K125-MODE-fallback-on-join", "K125-MODE-nonmezkcc-forces-zk"]


def test_an_older_member_leaves_with_its_last_release() -> None:
    """The others follow Kafka again before its process has ended, which is late on a machine that is busy."""
    kafka = [wrote(1000, "kafka"), follows(1, 1020, "kafka"), follows(2, 1020, "kafka")]
    joined = [member(3, WITHOUT, 20_000), owns(3, 20_050, 0), *(follows(each, 20_100, "zookeeper") for each in (1, 2))]
    left = [
        released(3, 23_000, 0),
        *(follows(each, 23_010, "kafka") for each in (1, 2)),
        ended(3, 27_000, kind=WITHOUT),
    ]
    assert followed(*kafka, *joined, *left).outcome is Outcome.CONFORMS


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_owners_are_not_looked_at_when_an_older_member_leaves(how: str) -> None:
    """Members may follow Kafka before that is known, and what it had is still without an owner."""
    kafka = [
        wrote(1000, "kafka"),
        member(3, WITHOUT, 20_000),
        owns(1, 20_060, 0),
        owns(2, 20_060, 1),
        owns(3, 20_060, 2),
    ]
    left = [released(3, 23_000, 2)] if how == "stopped" else []
    events = [*BEGUN, *kafka, *left, ended(3, 27_000, how, kind=WITHOUT), END]
    assert "K125-MODE-absent-is-zk" not in violated(consumption_follows_the_chosen_system.judge(history(events=events)))


def test_a_change_that_is_overtaken_is_judged_only_if_all_agreed() -> None:
    """Of writes in quick succession only the last one must be followed."""
    quick = [wrote(1000, "kafka"), wrote(1010, "zookeeper"), wrote(1020, "kafka")]
    both = [follows(1, 1100, "kafka"), follows(2, 1100, "kafka")]
    assert followed(*quick, *both).outcome is Outcome.CONFORMS
    assert violated(followed(*quick)) == ["K125-MODE-watch-change", RAW]


def test_owners_are_not_looked_at_while_the_mode_is_just_written() -> None:
    """Members need a moment to follow."""
    burst = [wrote(9000, "kafka"), wrote(9010, "zookeeper"), wrote(9020, "kafka"), follows(1, 9100, "kafka")]
    before = [owns(1, 100, 0), owns(2, 100, 1), released(1, 9005, 0), released(2, 9005, 1)]
    after = [
        assigned(1, 100, 1),
        assigned(2, 100, 0),
        owns(1, 9200, 1, source="kafka"),
        owns(2, 9200, 0, source="kafka"),
    ]
    verdict = consumption_follows_the_chosen_system.judge(history(events=[*BEGUN, *before, *burst, *after, END]))
    assert "K125-MODE-absent-is-zk" not in violated(verdict)


def by_kafka(*owned: Event) -> Verdict:
    """The verdict about owners in Kafka mode; the coordinator assigned each member one partition."""
    mode = [wrote(1000, "kafka"), follows(1, 1020, "kafka"), follows(2, 1020, "kafka")]
    kafka = [assigned(1, 900, 1), assigned(2, 900, 0)]
    return consumption_follows_the_chosen_system.judge(history(events=[*BEGUN, *kafka, *mode, *owned, END]))


def test_members_own_what_the_chosen_system_assigns() -> None:
    """A member that goes on with ZooKeeper's assignment after the toggle is seen."""
    moved = [owns(1, 100, 0), owns(2, 100, 1), released(1, 1030, 0), released(2, 1030, 1)]
    taken = [owns(1, 1060, 1, source="kafka"), owns(2, 1060, 0, source="kafka")]
    assert by_kafka(*moved, *taken).outcome is Outcome.CONFORMS
    assert violated(by_kafka(*moved[:2])) == ["K125-MODE-kafka", "K125-MET-active-one"]
    other = [owns(1, 1060, 0, source="kafka"), owns(2, 1060, 1, source="kafka")]
    assert "K125-MEM-rebalance-listener" in violated(by_kafka(*moved, *other))


def test_without_a_mode_members_own_what_range_gives_them() -> None:
    """As all do before anything is written."""
    swapped = [owns(1, 100, 1), owns(2, 100, 0), wrote(9000, "kafka"), END]
    assert violated(consumption_follows_the_chosen_system.judge(history(events=[*BEGUN, *swapped]))) == [
        "K125-MODE-absent-is-zk"
    ]


@pytest.mark.parametrize(("cut_ms", "is_judged"), [(3000, False), (9500, True)])
def test_owners_are_not_looked_at_while_a_member_is_cut_off_zookeeper(cut_ms: int, is_judged: bool) -> None:
    """Its session may have ended, so that others own what it still has; a cut that begins later excuses nothing."""
    swapped = [owns(1, 100, 1), owns(2, 100, 0), *cut_off(cut_ms, 20_000), wrote(9000, "kafka")]
    verdict = consumption_follows_the_chosen_system.judge(history(events=[*BEGUN, *swapped, END]))
    assert ("K125-MODE-absent-is-zk" in violated(verdict)) is is_judged


@pytest.mark.parametrize(("cut_ms", "is_judged"), [(500, False), (5000, True)])
def test_owners_by_kafka_are_looked_at_beside_a_cut_unless_the_mode_changed_in_it(cut_ms: int, is_judged: bool) -> None:
    """A member that follows Kafka needs no ZooKeeper for what it owns; one that never heard of Kafka's mode does."""
    not_moved = [owns(1, 100, 0), owns(2, 100, 1), *cut_off(cut_ms, 70_000)]
    assert ("K125-MODE-kafka" in violated(by_kafka(*not_moved))) is is_judged


@pytest.mark.parametrize(("how", "is_judged"), [("stopped", False), ("killed", True)])
def test_owners_are_not_looked_at_while_a_member_leaves(how: str, is_judged: bool) -> None:
    """It has given up what it is assigned, and its end is not recorded yet; one that is killed gives nothing up."""
    leaving = [released(1, 8900, 0), wrote(9000, "kafka"), ended(1, 9200, how)]
    events = [*BEGUN, owns(1, 100, 0), owns(2, 100, 1), *leaving, END]
    verdict = consumption_follows_the_chosen_system.judge(history(events=events))
    assert ("K125-MODE-absent-is-zk" in violated(verdict)) is is_judged


TAGS = f"clientId=app,groupId={NAME}"
TYPE = "kafka.consumer:type=ZookeeperConsumerConnector,name="


def values(active: int, kafka: int, owned: int) -> dict[str, float]:
    """The gauges of a connector."""
    own = {f"{TYPE}KafkaOwnedPartitionsCount,{TAGS}": kafka, f"{TYPE}OwnedPartitionsCount,{TAGS}": owned}
    return {ACTIVE: active, **own}


@pytest.mark.parametrize(
    ("shown", "rows"),
    [
        (values(0, 2, 1), []),
        (values(1, 2, 1), ["K125-MET-active-zero"]),
        (values(0, 0, 1), ["K125-MET-kafka-owned-value"]),
        (values(0, 2, 0), ["K125-MET-owned-legacy"]),
        ({f"{ACTIVE},clientId=app": 0}, ["K125-MET-active-name", "K125-MET-kafka-owned-name"]),
    ],
)
def test_gauges_show_what_members_do(shown: dict[str, float], rows: list[str]) -> None:
    """A gauge that mirrors the mode node, or counts what is owned in the wrong system, is seen; so is a wrong name."""
    events = [member(1), follows(1, 10, "zookeeper"), assigned(1, 10, 0, 1), owns(1, 20, 0), gauges(1, 30, shown), END]
    assert violated(gauges_show_what_members_do.judge(history(events=events))) == rows


def test_gauges_are_compared_before_anything_changes() -> None:
    """Also where the group changes by itself: a member falls back, and goes on with Kafka after a while."""
    mirroring = [gauges(1, 30, values(1, 2, 1)), follows(1, 5000, "kafka")]
    events = [member(1), follows(1, 10, "zookeeper"), assigned(1, 10, 0, 1), owns(1, 20, 0), *mirroring]
    run = history(events=[*events, gauges(1, 5010, values(1, 2, 1)), END])
    assert violated(gauges_show_what_members_do.judge(run)) == ["K125-MET-active-zero"]


def test_gauges_are_not_compared_with_lines_that_were_read_late() -> None:
    """A machine that is busy may read them seconds after they were printed: the gauges come behind them."""
    late = event(
        EventKind.MEMBER_OWNS, 6000, member=f"{WITH}-1", client=1, partitions=[[TOPIC, 0, 0]], member_ns=1000 * MS
    )
    events = [member(1), follows(1, 10, "zookeeper"), gauges(1, 30, values(0, 0, 0)), wrote(5000, "kafka"), late]
    run = history(events=[*events, gauges(1, 1010, values(0, 0, 1), read_ms=6010), END])
    assert violated(gauges_show_what_members_do.judge(run)) == []


def test_gauges_are_compared_if_they_were_reported_since_the_last_change() -> None:
    """A member that the machine let do nothing reported nothing; one that reports what was before is seen."""
    began = [member(1), follows(1, 10, "zookeeper"), gauges(1, 30, values(0, 0, 0)), owns(1, 1000, 0)]
    for reported, rows in (([], []), ([gauges(1, 2000, values(0, 0, 0))], ["K125-MET-owned-legacy"])):
        run = history(events=[*began, *reported, wrote(5000, "kafka"), gauges(1, 6010, values(0, 0, 1)), END])
        assert violated(gauges_show_what_members_do.judge(run)) == rows


def test_kafka_has_one_member_for_each_connector() -> None:
    """By its consumer id, beside plain consumers; two groups or two members are seen."""
    alive = [member(1), member(2, NEW), assigned(1, 10, 0), owns(2, 10, 1)]
    right = described(100, {"c1": [[TOPIC, 0]], "c2": [[TOPIC, 1]]})
    assert kafka_members_are_the_connectors.judge(history(events=[*alive, right])).outcome is Outcome.CONFORMS
    others = described(100, {NAME: [[TOPIC, 0]], "c2": [[TOPIC, 1]]})
    assert "K125-CFG-ekc-client-id" in violated(
        kafka_members_are_the_connectors.judge(history(events=[*alive, others]))
    )
    alone = described(100, {"c1": [[TOPIC, 0]]})
    assert "K125-KIND-kc-unmodified" in violated(
        kafka_members_are_the_connectors.judge(history(events=[*alive, alone]))
    )
    more = described(100, {"c1": [[TOPIC, 0]], "c1-2": [[TOPIC, 0]], "c2": [[TOPIC, 1]]})
    rows = violated(kafka_members_are_the_connectors.judge(history(events=[*alive, more])))
    assert rows == ["K125-CFG-ekc-group-id", "K125-KIND-one-ekc-per-connector"]
    earlier = described(100, {"c2": [[TOPIC, 1]]}, asked_ms=5)
    assert violated(kafka_members_are_the_connectors.judge(history(events=[*alive, earlier]))) == []
    gone = kafka_members_are_the_connectors.judge(history(events=[*alive, described(100, {}, state="EMPTY")]))
    assert gone.is_vacuous


def test_connectors_commit_as_members() -> None:
    """A commit of a partition that only a member may commit proves membership; a refused one its lack."""
    events = [member(1), assigned(1, 10, 1)]
    rows = [committed(5, 100, client=1, topic=TOPIC, partition=0)]
    assert commits_are_those_of_members.judge(history(rows, events)).outcome is Outcome.CONFORMS
    refused = [{**rows[0], "outcome": FAILED, "error": "UNKNOWN_MEMBER_ID"}]
    assert commits_are_those_of_members.judge(history(refused, events)).outcome is Outcome.VIOLATES
    own = [committed(5, 100, client=1, topic=TOPIC, partition=1)]
    assert commits_are_those_of_members.judge(history(own, events)).is_vacuous


def test_members_end_only_when_they_are_asked_to() -> None:
    """A member that dies, or hangs when it is to stop, is seen."""
    assert members_end_only_when_asked.judge(history(events=[member(1), ended(1, 10)])).outcome is Outcome.CONFORMS
    died = history(events=[member(1), ended(1, 10, "died", status=1)])
    assert members_end_only_when_asked.judge(died).outcome is Outcome.VIOLATES
