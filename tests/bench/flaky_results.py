"""Allure results of many nights: flaky tests planted among steady, broken, newly broken and repaired ones; seeded."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

NIGHTS, TESTS = 50, 200
FLAKY, BROKEN, BREAKING, REPAIRED = 13, 4, 5, 3
RATES = (0.04, 0.4)
"""Of a flaky test: from hardly ever to four nights in ten."""

_FIRST_MS = 1_767_225_600_000
_MS_PER_NIGHT = 86_400_000
_FEWEST_FLIPS = 2


@dataclass(frozen=True)
class Planted:
    """Which tests failed in which nights, and which of them are flaky; the others changed at most once, for good."""

    red: Mapping[str, npt.NDArray[np.bool_]]
    flaky: frozenset[str]

    def write(self, folder: Path) -> None:
        """A folder of results per night, as Allure's reporters leave them."""
        for night in range(NIGHTS):
            results = folder / f"night-{night:02}"
            results.mkdir(parents=True)
            for place, (name, red) in enumerate(self.red.items()):
                told = _result(name, night, place, is_red=bool(red[night]))
                (results / f"{told['uuid']}-result.json").write_text(json.dumps(told))


def planted(seed: int) -> Planted:
    """Play the nights."""
    chance = np.random.default_rng(seed)
    names = [f"suites.shop.test_{place:03}" for place in chance.permutation(TESTS)]
    night = np.arange(NIGHTS)
    red = {name: np.zeros(NIGHTS, np.bool_) for name in names}
    rest = iter(names)
    flaky = [next(rest) for _ in range(FLAKY)]
    for name, rate in zip(flaky, np.linspace(*RATES, FLAKY), strict=True):
        red[name] = _flaking(chance, float(rate))
    for _ in range(BROKEN):
        red[next(rest)][:] = True
    for _ in range(BREAKING):
        red[next(rest)][:] = night >= chance.integers(10, NIGHTS - 10)
    for _ in range(REPAIRED):
        red[next(rest)][:] = night < chance.integers(10, NIGHTS - 10)
    return Planted(dict(sorted(red.items())), frozenset(flaky))


def _flaking(chance: np.random.Generator, rate: float) -> npt.NDArray[np.bool_]:
    """Failures by chance; drawn again when nobody could tell them from a test that never failed, or changed once."""
    while True:
        red = chance.random(NIGHTS) < rate
        if np.count_nonzero(red[1:] != red[:-1]) >= _FEWEST_FLIPS:
            return red


def _result(name: str, night: int, place: int, *, is_red: bool) -> dict[str, object]:
    start_ms = _FIRST_MS + night * _MS_PER_NIGHT + place * 1_000
    history_id = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    suite, _, test = name.rpartition(".")
    told: dict[str, object] = {
        "uuid": hashlib.md5(f"{name} {night}".encode(), usedforsecurity=False).hexdigest(),
        "historyId": history_id,
        "testCaseId": history_id,
        "fullName": name,
        "name": test,
        "status": "failed" if is_red else "passed",
        "stage": "finished",
        "start": start_ms,
        "stop": start_ms + 500 + 7 * place,
        "labels": [{"name": "suite", "value": suite}, {"name": "framework", "value": "pytest"}],
    }
    if is_red:
        message = f"AssertionError: expected 200, got 50{place % 4} after {night + place} ms"
        told["statusDetails"] = {"message": message, "trace": f"{message}\n  at {test}:{place}"}
    return told
