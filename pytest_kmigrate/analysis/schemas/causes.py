"""Causes, clusters and signs: which failures and log lines are one, and what goes together with failures."""

from pyspark.sql.types import DataType, StructType

from pytest_kmigrate.analysis.schemas.columns import COUNT, MOMENT, NUMBER, TEXT, TEXTS, struct

_PAIR: dict[str, DataType] = {
    "with_failures": COUNT,
    "with_runs": COUNT,
    "without_failures": COUNT,
    "without_runs": COUNT,
    "lift": NUMBER,
    "lift_low": NUMBER,
    "lift_high": NUMBER,
    "p_value": NUMBER,
    "q_value": NUMBER,
    "rank": COUNT,
    "tests_compared": COUNT,
    "only_in": TEXT,
}
"""What is known of a failure and something that goes with it.

Runs are those of the tests that failed so and were run both ways; of all tests, if no test was (``tests_compared`` 0).
Then ``only_in`` is the test that alone was ever run with it, if there is one.
"""

ASSOCIATION = struct(what=TEXT, failure=TEXT, factor=TEXT, level=TEXT, **_PAIR)
"""One row per failure and level of a factor."""

MESSAGES = struct(folder=TEXT, check=TEXT, outcome=TEXT, text=TEXT)
"""What is clustered: one row per failure message or log slice of a run."""

CAUSES: dict[str, StructType] = {
    "failure_clusters": struct(
        cluster=TEXT,
        representative=TEXT,
        normal_form=TEXT,
        outcome=TEXT,
        failures=COUNT,
        runs=COUNT,
        tests=TEXTS,
        kafka=TEXTS,
        first_at=MOMENT,
        last_at=MOMENT,
        checks=TEXTS,
        example_folder=TEXT,
        example_timeline=TEXT,
    ),
    "failure_members": struct(cluster=TEXT, folder=TEXT, check=TEXT, outcome=TEXT, text=TEXT, normal_form=TEXT),
    "causes": struct(what=TEXT, failure=TEXT, factor=TEXT, level=TEXT, **_PAIR, inseparable=TEXTS),
    "log_forms": struct(template=TEXT, shape=TEXT, lines=COUNT),
    "log_templates": struct(
        template=TEXT,
        levels=TEXTS,
        roles=TEXTS,
        representative=TEXT,
        normal_form=TEXT,
        lines=COUNT,
        runs=COUNT,
        tests=TEXTS,
        kafka=TEXTS,
        first_at=MOMENT,
        last_at=MOMENT,
        example_folder=TEXT,
        example_node=TEXT,
        example_line=COUNT,
        example_timeline=TEXT,
    ),
    "log_signs": struct(what=TEXT, failure=TEXT, template=TEXT, **_PAIR),
}
"""Table name -> its columns, in order."""
