"""The planted nights of Allure results."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.bench.planting.flaky_results import FLAKY, NIGHTS, TESTS, planted


@pytest.mark.parametrize("seed", range(20))
def test_only_the_planted_ones_flake(seed: int) -> None:
    """Thirteen tests go to and fro; every other one changes once at most, and of those some do."""
    played = planted(seed)
    flips = {name: int(np.count_nonzero(red[1:] != red[:-1])) for name, red in played.red.items()}

    assert len(played.red) == TESTS
    assert {name for name, count in flips.items() if count > 1} == played.flaky
    assert len(played.flaky) == FLAKY
    assert sum(count == 1 for count in flips.values()) == 8


def test_the_same_seed_plays_the_same() -> None:
    """Seeds differ, and nothing else does."""
    one, again, other = planted(1), planted(1), planted(2)

    assert one.flaky == again.flaky != other.flaky
    assert all(np.array_equal(red, again.red[name]) for name, red in one.red.items())


@pytest.mark.slow
def test_a_file_is_what_its_test_did_in_its_night(tmp_path: Path) -> None:
    """Every night has a result of every test, each with an id of its own, and failed ones say why."""
    played = planted(1)
    played.write(tmp_path)
    nights = sorted(tmp_path.iterdir())
    results = [json.loads(each.read_text()) for each in nights[7].glob("*-result.json")]

    assert len(nights) == NIGHTS
    assert {each["fullName"]: each["status"] == "failed" for each in results} == {
        name: red[7] for name, red in played.red.items()
    }
    assert len({path.name for path in tmp_path.rglob("*-result.json")}) == NIGHTS * TESTS
    assert all(("statusDetails" in each) == (each["status"] == "failed") for each in results)
