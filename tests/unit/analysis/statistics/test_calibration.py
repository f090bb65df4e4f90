"""Calibration, the quick version: statistics keep what they claim on a few hundred synthetic tests."""

import pytest

from tests.bench.calibration import claims


@pytest.mark.slow
def test_every_claim_is_kept() -> None:
    """Intervals hold the truth as often as they say, changes are found near, false alarms and wrong decisions are rare.

    With fixed seeds, so this cannot fail by chance. ``python -m tests.bench calibration`` measures over more tests.
    """
    broken = [each for each in claims(tests=300) if not each.is_met]

    assert broken == []
