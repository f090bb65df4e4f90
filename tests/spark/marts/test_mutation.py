"""Generated mutants: the best of all tests of one counts, and what each requirement alone notices."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis import mutation
from pytest_kmigrate.analysis.schemas.exercise import EXERCISE
from pytest_kmigrate.model.mutants import Fate
from tests.spark.frames import table


def _row(mutant: str, fate: Fate | None, *requirements: str, seed: int = 1) -> dict[str, object]:
    of = {"profile": "kip-866", "kafka": "3.9.1", "seed": seed, "mutant": mutant}
    return {**of, "fate": fate and fate.value, "requirements": [*requirements]}


@pytest.fixture(scope="module")
def tried(spark: SparkSession) -> DataFrame:
    """Two samples that both drew one mutant; of the first, one mutant was not tried yet."""
    rows = [_row("a", Fate.SURVIVED), _row("a", Fate.KILLED, "K1"), _row("b", Fate.KILLED, "K1", "K2")]
    rows += [_row("c", Fate.EXCUSED), _row("d", Fate.EQUIVALENT), _row("e", None), _row("f", Fate.NOT_EXECUTED)]
    rows += [_row("a", Fate.KILLED, "K1", seed=2)]
    return table(spark, "mutation", rows)


def test_a_score_counts_each_mutant_once_by_its_best_test(tried: DataFrame) -> None:
    """An equivalent one is not counted; one that no test executes is, as not noticed."""
    found = mutation.mutation_scores(tried)
    assertSchemaEqual(found.schema, EXERCISE["mutation_scores"])
    first, second = sorted(found.collect(), key=lambda row: row.seed)
    assert (first.drawn, first.tried, first.counted, first.noticed, first.never_executed) == (6, 5, 4, 2, 1)
    assert first.share == 0.5
    assert (round(first.share_low, 2), round(first.share_high, 2)) == (0.15, 0.85)
    assert (second.drawn, second.share) == (1, 1.0)


def test_a_requirement_has_what_it_alone_notices(tried: DataFrame) -> None:
    """A mutant of both samples counts once."""
    found = mutation.mutation_requirements(tried)
    assertSchemaEqual(found.schema, EXERCISE["mutation_requirements"])
    assert {row.requirement: (row.mutants, row.alone) for row in found.collect()} == {"K1": (2, 1), "K2": (1, 0)}
