"""The sequential test: how soon a test is admitted or quarantined."""

import numpy as np
import pytest

from pytest_kmigrate.analysis.statistics.sequential import ADMIT, QUARANTINE, UNDECIDED, decision


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ("", UNDECIDED),
        ("C" * 63, UNDECIDED),
        ("C" * 64, ADMIT),
        ("V", UNDECIDED),
        ("VV", QUARANTINE),
        ("V" + "C" * 60 + "V", UNDECIDED),
        ("C" * 64 + "VV", QUARANTINE),
        ("VV" + "C" * 64, ADMIT),
        ("VV" + "C" * 63, QUARANTINE),
        ("C" * 2_000 + "VV", QUARANTINE),
    ],
)
def test_the_newest_decision_stands(runs: str, expected: str) -> None:
    """64 clean runs admit, two violations at once quarantine, and a decision stands until the next one falls."""
    assert decision(np.array([each == "V" for each in runs], np.bool_)) == expected
