"""What a check says by requirement, as it is stored."""

import json

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement


def test_counts_of_columns_are_stored_as_numbers() -> None:
    """A column of NumPy counts in its own numbers, which JSON knows as text only; judged again they would differ."""
    rows = ByRequirement("ROW")
    rows.looked_at("ROW", np.int64(46))
    (about,) = rows.verdict("46 commits", "none").by("check").about
    assert json.loads(json.dumps(about.seen)) == 46
