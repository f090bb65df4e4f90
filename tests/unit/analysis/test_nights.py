"""Synthetic nights: what is planned is what is played."""

import numpy as np

from tests.bench.planting.nights import Cause, Change, Plan, nights


def test_the_same_seed_plays_the_same_nights() -> None:
    """And another seed others: without this no found defect could be looked at again."""
    plan = Plan(tests=3, nights=40)

    assert np.array_equal(nights(1, plan).outcome, nights(1, plan).outcome)
    assert not np.array_equal(nights(1, plan).outcome, nights(2, plan).outcome)


def test_rates_changes_causes_outages_and_durations_are_as_planned() -> None:
    """Counted over many runs, everything planted is there at its size."""
    plan = Plan(
        tests=2,
        nights=2_000,
        faults=2,
        phases=2,
        rates=(0.1,) * 8,
        cause=Cause(fault=1, phase=0, added_rate=0.5),
        changes=(Change(cell=0, night=1_000, rate=0.8),),
        outages=(7,),
        slower_from_night=1_000,
    )
    played = nights(1, plan)
    is_late = played.night >= 1_000

    def rate(cell: int, *, late: bool) -> float:
        return float(played.violated[(played.cell == cell) & (is_late == late) & played.answered].mean())

    def took_ms(*, late: bool) -> float:
        return float(np.median(played.duration_ms[(played.cell == 0) & (is_late == late)]))

    assert np.allclose([rate(0, late=False), rate(0, late=True)], [0.1, 0.8], atol=0.05)
    assert np.allclose([rate(2, late=False), rate(3, late=False)], [0.55, 0.1], atol=0.06)
    assert not played.answered[played.night == 7].all()
    assert np.isclose(took_ms(late=True) / took_ms(late=False), 1.5, atol=0.05)
