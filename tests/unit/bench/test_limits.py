"""A figure beside its target."""

import pytest
from rich.console import Console

from tests.bench.provider.limits import Limit, limits_table


@pytest.mark.parametrize(
    ("limit", "is_met", "target"),
    [
        (Limit("seconds", 40.0, "s", at_most=40), True, "<= 40"),
        (Limit("seconds", 40.1, "s", at_most=40), False, "<= 40"),
        (Limit("found", 13, "", at_least=13), True, ">= 13"),
        (Limit("found", 12, "", at_least=13), False, ">= 13"),
        (Limit("coverage", 92.9, "%", at_most=97, at_least=93), False, "93 to 97"),
        (Limit("coverage", 97.1, "%", at_most=97, at_least=93), False, "93 to 97"),
        (Limit("explains", 1e9, "s"), True, ""),
    ],
)
def test_a_figure_is_held_against_both_ends(limit: Limit, is_met: bool, target: str) -> None:
    """It is met on the very edge and missed past it, and what is wanted is said."""
    assert (limit.is_met, limit.target) == (is_met, target)


def test_only_what_has_a_target_is_judged() -> None:
    """The table says met or missed of figures with a target, and nothing of the others."""
    console = Console(width=100)
    with console.capture() as reported:
        console.print(
            limits_table([Limit("slow", 2, "s", at_most=1), Limit("quick", 1, "s", 1), Limit("so", 3, "s")], "")
        )

    lines = {
        name: line for line in reported.get().splitlines() for name in ("slow", "quick", "so") if f" {name} " in line
    }
    assert "missed" in lines["slow"]
    assert "met" in lines["quick"]
    assert "met" not in lines["so"]
    assert "missed" not in lines["so"]
