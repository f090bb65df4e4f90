"""Facts about the values everything speaks in: states by number and release, verdicts merged, operations by column."""

import itertools

import numpy as np
import pytest

from pytest_kmigrate.documents.kip_866.phases import LEGAL_EDGES, Phase, ZkMigrationState, zk_migration_state
from pytest_kmigrate.model.operations import OperationKind, no_operations
from pytest_kmigrate.model.verdict import MOST_VIOLATIONS, Kind, Outcome, Violation, conforms, merged, violates
from tests.unit.checkers.histories import consumed, operations, sent

STATE = ZkMigrationState


@pytest.mark.parametrize(
    ("kafka", "names"),
    [
        ("3.4.0", ["NONE", "PRE_MIGRATION", "MIGRATION", "POST_MIGRATION"]),
        ("3.4.1", ["NONE", "PRE_MIGRATION", "MIGRATION", "POST_MIGRATION"]),
        ("3.5.0", ["NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION", "ZK"]),
        ("3.6.0", ["NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION", "ZK"]),
        ("3.9.1", ["NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION", "ZK"]),
    ],
)
def test_a_state_is_known_by_the_number_its_release_gives_it(kafka: str, names: list[str]) -> None:
    """3.4 numbers as the KIP does, from 3.5 two are swapped; no number beyond, nor -1, means a state."""
    found = [zk_migration_state(number, kafka) for number in range(len(names))]
    assert found == [STATE[name] for name in names]
    assert zk_migration_state(-1, kafka) is None
    assert zk_migration_state(len(names), kafka) is None


def test_states_move_one_way_only() -> None:
    """No legal edge has its way back, none leaves POST_MIGRATION, and none skips MIGRATION."""
    assert not any((after, before) in LEGAL_EDGES for before, after in LEGAL_EDGES)
    assert STATE.POST_MIGRATION not in {before for before, _ in LEGAL_EDGES}
    assert {before for before, after in LEGAL_EDGES if after is STATE.POST_MIGRATION} == {STATE.MIGRATION}


def test_phases_are_in_the_order_of_a_migration() -> None:
    """Phases compare, so that "up to" means something."""
    assert [phase.name for phase in sorted(Phase)] == [
        "ZOOKEEPER",
        "PREPARING",
        "COPYING",
        "HYBRID",
        "ALL_KRAFT",
        "FINALIZED",
    ]


@pytest.mark.parametrize("outcomes", list(itertools.product(Outcome, repeat=2)))
def test_the_worse_of_two_outcomes_wins(outcomes: tuple[Outcome, Outcome]) -> None:
    """VIOLATES beats INCONCLUSIVE beats CONFORMS beats NOT_APPLICABLE, in whatever order they come."""
    worst_first = ["VIOLATES", "INCONCLUSIVE", "CONFORMS", "NOT_APPLICABLE"]
    assert merged(outcomes).name == next(name for name in worst_first if name in {each.name for each in outcomes})


def test_no_outcome_at_all_is_inconclusive() -> None:
    """Nothing judged is never a pass."""
    assert merged([]) is Outcome.INCONCLUSIVE


def test_a_verdict_keeps_few_violations_and_counts_all() -> None:
    """A million violations make no million examples."""
    found = [Violation("a", f"b{number}") for number in range(MOST_VIOLATIONS + 5)]
    verdict = violates(Kind.SAFETY, found).by("check")
    assert (len(verdict.violations), verdict.count) == (MOST_VIOLATIONS, MOST_VIOLATIONS + 5)
    assert verdict.summary == f"{MOST_VIOLATIONS + 5} x: expected a; observed b0"
    assert conforms("over 3 records", records=3).by("check").facts == {"records": 3}


def test_operations_are_chosen_in_order() -> None:
    """``of`` keeps one kind; ``where`` those that are true, or those at the positions that are named."""
    rows = operations(
        sent(0, partition=1), sent(1, topic="bills"), consumed(0), sent(2, partition=1), sent(3, partition=-1)
    )
    sends = rows.of(OperationKind.PRODUCE)
    assert list(sends.where(sends.partition == 1).sequence) == [0, 2]
    assert list(sends.where(np.array([3, 1])).sequence) == [3, 1]
    assert (len(rows), len(sends), len(no_operations())) == (5, 4, 0)
