"""Bounds and grades of a certificate."""

import pytest

from pytest_kmigrate.certificates.counting import bound, parts_of
from pytest_kmigrate.certificates.statement import Counts, OutcomeName, Row


def row(strict: OutcomeName, apache: OutcomeName, level: str = "MUST") -> Row:
    """A requirement of this outcome."""
    counts = Counts(conforms=1, violates=0, inconclusive=0, not_applicable=0)
    known: list[str] = []
    part = "core" if level == "MUST" else "extended"
    named = {"id": "R", "level": level, "part": part, "reason": "", "deviations": known, "known_bugs": known}
    return Row.model_validate(
        {**named, "strict": strict, "apache": apache, "counts": counts, "n": 1, "required": 1, "bound": "1"}
    )


@pytest.mark.parametrize(
    ("violations", "n", "expected"),
    [(0, 0, "1.0000"), (0, 1, "0.9500"), (0, 59, "0.0495"), (1, 59, "0.0779"), (3, 3, "1.0000"), (1, 3, "0.8646")],
)
def test_bounds(violations: int, n: int, expected: str) -> None:
    """59 runs without a violation: at most 5 % at 95 %, as textbooks have it."""
    assert bound(violations, n) == expected


@pytest.mark.parametrize(
    ("rows", "strict", "apache"),
    [
        ([row("CONFORMS", "CONFORMS")], "success", "success"),
        ([row("CONFORMS", "CONFORMS"), row("VIOLATES", "CONFORMS")], "failed", "success"),
        ([row("VIOLATES", "INCONCLUSIVE")], "failed", "partial"),
        ([row("CONFORMS", "CONFORMS"), row("NOT_APPLICABLE", "NOT_APPLICABLE")], "partial", "partial"),
        ([row("INCONCLUSIVE", "INCONCLUSIVE"), row("VIOLATES", "VIOLATES")], "failed", "failed"),
        ([row("CONFORMS", "CONFORMS"), row("VIOLATES", "VIOLATES", "SHOULD")], "success", "success"),
    ],
)
def test_grades_of_the_core_part(rows: list[Row], strict: str, apache: str) -> None:
    """A violation fails it, an open row makes it partial, and what is no MUST does not count."""
    core, _ = parts_of(rows)
    assert (core.strict, core.apache) == (strict, apache)
