"""Allure results of many nights: flaky tests planted among steady, broken, newly broken and repaired ones; seeded."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tests.bench.planting.nights import Change, Plan, nights

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
                reported = _result(name, night, place, is_red=bool(red[night]))
                (results / f"{reported['uuid']}-result.json").write_text(json.dumps(reported))


def planted(seed: int) -> Planted:
    """Play the nights; again when a flaky test looks like one that never failed, or changed once."""
    chance = np.random.default_rng(seed)
    names = [f"suites.shop.test_{place:03}" for place in chance.permutation(TESTS)]
    rates = (*np.linspace(*RATES, FLAKY), *[1.0] * BROKEN, *[0.0] * BREAKING, *[1.0] * REPAIRED)
    turns = enumerate(chance.integers(10, NIGHTS - 10, BREAKING + REPAIRED).tolist(), FLAKY + BROKEN)
    plan = Plan(
        tests=TESTS,
        nights=NIGHTS,
        faults=1,
        phases=1,
        usual_inconclusive=0.0,
        rates=(*rates, *[0.0] * (TESTS - len(rates))),
        changes=tuple(Change(test, night, 1.0 - rates[test]) for test, night in turns),
    )
    while True:
        red = nights(int(chance.integers(2**32)), plan).violated.reshape(NIGHTS, TESTS)
        if np.count_nonzero(red[1:] != red[:-1], axis=0)[:FLAKY].min() >= _FEWEST_FLIPS:
            return Planted(dict(sorted(zip(names, red.T, strict=True))), frozenset(names[:FLAKY]))


def _result(name: str, night: int, place: int, *, is_red: bool) -> dict[str, object]:
    start_ms = _FIRST_MS + night * _MS_PER_NIGHT + place * 1_000
    history_id = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    suite, _, test = name.rpartition(".")
    reported: dict[str, object] = {
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
        reported["statusDetails"] = {"message": message, "trace": f"{message}\n  at {test}:{place}"}
    return reported
