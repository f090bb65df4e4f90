"""All kernels together: a run as it should be shows nothing, what was planted is found, each in a sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.clients.judged_by import JUDGED_BY
from pytest_kmigrate.checkers.kernels import AnomalyClass, anomalies_of
from pytest_kmigrate.model.checks import by_name
from tests.unit.checkers.histories import (
    FAILED,
    MS,
    OK,
    Row,
    committed,
    consumed,
    history,
    operations,
    read_back,
    refused,
    sent,
    unsure,
)

AT = 2_500 * MS
LATE = {"began_ns": AT, "ended_ns": AT}

EXAMPLES: dict[AnomalyClass, tuple[list[Row], str]] = {
    AnomalyClass.LOST_WRITE: (
        [sent(3, **LATE), sent(4), read_back(4)],
        (
            "record 3 of producer 1 was acknowledged at orders-0 offset 3 at 2.500 s, "
            "but the final read of orders-0 has it not; no client ever read it"
        ),
    ),
    AnomalyClass.PHANTOM: (
        [sent(4), read_back(4), read_back(9, **LATE)],
        (
            "record 9 of producer 1 was finally read at orders-0 offset 9 at 2.500 s, "
            "but no client of ours sent it to orders-0"
        ),
    ),
    AnomalyClass.REFUSED_BUT_FOUND: (
        [refused(4, partition=-1), read_back(4, **LATE)],
        "record 4 of producer 1 was finally read at orders-0 offset 4 at 2.500 s, but its send was definitely refused",
    ),
    AnomalyClass.DUPLICATE: (
        [sent(4), read_back(4), read_back(4, 8, **LATE)],
        "record 4 of producer 1 is at orders-0 offset 4 and again at 8 at 2.500 s",
    ),
    AnomalyClass.REORDERING: (
        [sent(4, 8), sent(5, 7), read_back(4, 8), read_back(5, 7)],
        "record 5 of producer 1 was sent after record 4, but lies before it: at orders-0 offset 7, that one at 8",
    ),
    AnomalyClass.INCONSISTENT_OFFSET: (
        [sent(4), read_back(4, **LATE), unsure(5), consumed(4, sequence=5, ended_ns=AT + 1, group="")],
        (
            "orders-0 offset 4 held record 4 of producer 1 (finally read at 2.500 s) "
            "and record 5 of producer 1 (consumed at 2.500 s)"
        ),
    ),
    AnomalyClass.MOVED: (
        [sent(4, 3, **LATE), read_back(4, 4)],
        "record 4 of producer 1 was acknowledged at orders-0 offset 3 at 2.500 s, but finally lies at offset 4",
    ),
    AnomalyClass.NON_MONOTONIC_POLL: (
        [*[sent(at) for at in (1, 2)], *[consumed(at, group="", **LATE) for at in (1, 2, 1)]],
        "client 50, in no group, had read orders-0 up to 2, then read 1 at 2.500 s",
    ),
    AnomalyClass.POLL_SKIP: (
        [
            *[sent(at, ended_ns=at * MS) for at in (4, 5, 6)],
            *map(read_back, (4, 5, 6)),
            consumed(4, 9),
            consumed(6, 2500),
        ],
        (
            "client 50 read orders-0 offset 4 at 0.009 s, then 6 at 2.500 s; between them, at 5, lies "
            "record 5 of producer 1, acknowledged at 0.005 s, which no client of group billing ever read"
        ),
    ),
    AnomalyClass.NON_MONOTONIC_COMMIT: (
        [committed(9, 1000), committed(7, 2000)],
        "group billing had committed 9 in orders-0 by 1.001 s, then client 50 committed 7 at 2.001 s",
    ),
    AnomalyClass.READ_BELOW_COMMITTED: (
        [sent(7), committed(9, 1000), consumed(7, 2500)],
        "group billing had committed 9 in orders-0, then client 50 began to read at 7 at 2.500 s",
    ),
}
"""A few operations for each class, and how the contradiction is reported."""


@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name.value)
def test_each_class_is_found_alone_and_told_by_its_operations(name: AnomalyClass) -> None:
    """The smallest history of a class gives exactly that class, counted once, and its sentence."""
    rows, sentence = EXAMPLES[name]
    (found,) = anomalies_of(operations(*rows))
    assert (found.name, found.count, found.counterexample) == (name, 1, sentence)
    assert (found.topic, found.partition) == ("orders", 0)
    assert name.kind is not None


def test_evidence_names_the_operations() -> None:
    """Both sides of a contradiction can be looked up again by client, identity and time."""
    (found,) = anomalies_of(operations(*EXAMPLES[AnomalyClass.NON_MONOTONIC_COMMIT][0]))
    assert found.evidence == "COMMIT of client 50, ended_ns 1001000000; COMMIT of client 50, ended_ns 2001000000"


def test_the_earliest_anomaly_is_told_and_all_are_counted() -> None:
    """Of three lost writes the first acknowledged one is the example."""
    rows = [sent(n, ended_ns=ended) for n, ended in ((1, 30), (2, 10), (3, 20))]
    (found,) = anomalies_of(operations(*rows, sent(9), read_back(9)))
    assert (found.count, found.at_ns) == (3, 10)
    assert found.counterexample.startswith("record 2 ")


def test_without_a_final_read_nothing_is_lost() -> None:
    """A run that was killed before it read back proves no loss."""
    assert anomalies_of(operations(sent(1), sent(2))) == []


@pytest.mark.parametrize("partition", [0, kernels.WHOLE_TOPIC])
def test_in_an_unread_partition_nothing_is_lost(partition: int) -> None:
    """A partition, or a whole topic, that could not be read to its end loses nothing by that."""
    failed: Row = {**read_back(-1), "outcome": FAILED, "error": "_TIMED_OUT", "producer": -1, "partition": partition}
    rows = [sent(1), failed, sent(2, topic="other"), read_back(2, topic="other")]
    assert anomalies_of(operations(*rows)) == []


def test_a_lost_write_names_who_read_it_first() -> None:
    """A record that a client had read was there: it was lost later, or the final read did not look far enough."""
    reads = [consumed(3, 900, client=7), consumed(3, 800, client=5), consumed(3, 700, client=6, outcome=FAILED)]
    (lost,) = anomalies_of(operations(sent(3), sent(4), *reads, consumed(4, 600), read_back(4)))
    assert lost.counterexample.endswith("has it not; client 5 had read it at 0.800 s")


def test_a_record_that_only_a_consumer_saw_is_lost_and_told_as_such() -> None:
    """Nobody acknowledged it; that it was read proves that it was there."""
    rows = [sent(4), read_back(4, began_ns=AT, ended_ns=AT), unsure(5), consumed(5, 90), consumed(5, 80)]
    (found,) = anomalies_of(operations(*rows))
    assert (found.name, found.count) == (AnomalyClass.LOST_WRITE, 1)
    assert found.counterexample == (
        "record 5 of producer 1 was consumed at orders-0 offset 5 at 0.080 s, but the final read of orders-0 has it "
        "not; no broker acknowledged it, but what a consumer reads is committed"
    )


def test_a_topic_that_is_gone_has_lost_its_records() -> None:
    """An answer that there is no such topic is no failure to read: the record is lost."""
    gone: Row = {**read_back(-1), "outcome": FAILED, "error": "UNKNOWN_TOPIC_OR_PART", "producer": -1, "offset": -1}
    rows = [sent(1), gone, sent(2, partition=1), read_back(2, partition=1)]
    assert [each.name for each in anomalies_of(operations(*rows))] == [AnomalyClass.LOST_WRITE]
    everything = {**gone, "partition": kernels.WHOLE_TOPIC}
    assert [each.name for each in anomalies_of(operations(sent(1), everything))] == [AnomalyClass.LOST_WRITE]


def test_while_a_workload_runs_unknown_records_prove_nothing() -> None:
    """Sends in flight have no row yet; a refused record that is there is wrong all the same."""
    rows = [sent(1), read_back(1), read_back(2), refused(3), read_back(3)]
    assert [each.name for each in anomalies_of(operations(*rows), is_settled=False)] == [AnomalyClass.REFUSED_BUT_FOUND]


SMALL = st.integers(0, 5)


ANY_ROW = st.one_of(
    st.builds(lambda n, o, p: sent(n, o, partition=p, began_ns=n, ended_ns=n), SMALL, SMALL, st.integers(-1, 1)),
    st.builds(lambda n, p: refused(n, partition=p), SMALL, st.integers(-1, 1)),
    st.builds(unsure, SMALL),
    st.builds(lambda n, o, p: read_back(n, o, partition=p, began_ns=3 * MS), SMALL, SMALL, st.integers(0, 1)),
    st.builds(
        lambda n, o, g, at: consumed(o, at, sequence=n, group=g), SMALL, SMALL, st.sampled_from(["", "g"]), SMALL
    ),
    st.builds(lambda o, at: committed(o, at, group="g"), SMALL, SMALL),
)


@settings(max_examples=200)
@given(st.lists(ANY_ROW, max_size=14))
def test_checkers_and_anomalies_agree_on_any_operations(rows: list[Row]) -> None:
    """One definition serves both: each checker counts what the anomalies of its classes come to, in any history."""
    in_place = [row for row in rows if row.get("partition") != -1 or row.get("outcome", OK) is not OK]
    # Checkers have nothing to say where nothing was acknowledged; elsewhere something is, and is in order.
    in_place += [sent(0, topic="fine", producer=7), read_back(0, topic="fine", producer=7, began_ns=3 * MS)]
    anomalies = anomalies_of(operations(*in_place))
    for check in by_name(JUDGED_BY.values()).values():
        verdict = check.judge(history(in_place))
        assert verdict.count == sum(each.count for each in anomalies if JUDGED_BY.get(each.name) is check), verdict
