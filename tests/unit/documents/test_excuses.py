"""Excuses are narrow: of everything that a bug or a deviation explains, tampered forms stay red."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from pytest_kmigrate.catalogue import Deviation, deviations, profiles
from pytest_kmigrate.catalogue.deviations import EXACT
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict
from tests.unit.checkers.histories import history

ROOT = Path(__file__).parents[3]
EACH = [each for profile in profiles() for each in deviations(profile)]
NUMBERS = (1, 2, 0, 5, 3000, 10_000_000)


@pytest.mark.parametrize("deviation", EACH, ids=[each.id for each in EACH])
def test_a_deviation_excuses_what_it_describes_and_nothing_more(deviation: Deviation) -> None:
    """Not another observation beside it, not one beyond its bound or in the midst of another, not another row's."""
    observed = _within(deviation)
    assert _is_known(deviation, observed)
    assert not _is_known(deviation, observed, "something else")
    assert not _is_known(deviation, _beyond(deviation))
    assert not _is_known(deviation, observed, requirement="K866-DW-topic-create")


def _is_known(deviation: Deviation, *observed: str, requirement: str = "") -> bool:
    run = history(kafka=_release_of(deviation))
    about = About(requirement or deviation.requirement, Outcome.VIOLATES, Kind.SAFETY, 1, "", observed)
    verdict = Verdict("any", Outcome.VIOLATES, Kind.SAFETY, about=(about,))
    profile = next(each for each in profiles() if deviation in deviations(each))
    run = replace(run, header=replace(run.header, profile=profile))
    (found,) = explained(run, [verdict], ())
    return deviation.id in found.known_bugs


def _release_of(deviation: Deviation) -> str:
    return str(re.findall(r"\d+\.\d+\.\d+", deviation.broken[0])[-1])


def _numbered(deviation: Deviation, *, is_explained: bool) -> str | None:
    """A text that the expression finds, with numbers within the bound or beyond it."""
    names = list(re.compile(deviation.observed).groupindex)
    for numbers in product(NUMBERS, repeat=len(names)):
        text = _Text(dict(zip(names, map(str, numbers), strict=True))).of(deviation.observed)
        if re.search(deviation.observed, text) and deviation.explains(text) is is_explained:
            return text
    return None


def _within(deviation: Deviation) -> str:
    text = _numbered(deviation, is_explained=True)
    assert text is not None, f"{deviation.id}: no number is within {deviation.bound}"
    return text


def _beyond(deviation: Deviation) -> str:
    if deviation.bound == EXACT:
        return f"not so: {_within(deviation)}"
    text = _numbered(deviation, is_explained=False)
    assert text is not None, f"{deviation.id}: every number is within {deviation.bound}"
    return text


class _Text:
    """A text that an expression finds: of each alternative the first, of each repetition one more than none."""

    def __init__(self, numbers: dict[str, str]) -> None:
        self._numbers = numbers
        self._groups: dict[int, str] = {}

    def of(self, pattern: str) -> str:
        parsed = parser.parse(pattern)
        self._names = {number: name for name, number in parsed.state.groupdict.items()}
        return self._all(parsed)

    def _all(self, parts: Any) -> str:
        return "".join(self._one(operation, argument) for operation, argument in parts)

    def _one(self, operation: Any, argument: Any) -> str:
        made: dict[Any, Callable[[Any], Any]] = {
            ops.LITERAL: chr,
            ops.IN: self._of_class,
            ops.MAX_REPEAT: self._repeated,
            ops.SUBPATTERN: self._of_group,
            ops.BRANCH: lambda branches: self._all(branches[1][0]),
            ops.GROUPREF: self._groups.get,
            ops.ANY: lambda _: " ",
        }
        return str(made[operation](argument)) if operation in made else ""

    def _repeated(self, argument: Any) -> str:
        least, most, parts = argument
        return "".join(self._all(parts) for _ in range(min(max(least, 1), most)))

    def _of_group(self, argument: Any) -> str:
        number, _, _, parts = argument
        self._groups[number] = self._numbers.get(self._names.get(number, "")) or self._all(parts)
        return self._groups[number]

    @staticmethod
    def _of_class(members: Any) -> str:
        operation, argument = members[0]
        if operation is ops.RANGE:
            return chr(argument[0])
        if operation is ops.LITERAL:
            return chr(argument)
        return "1" if argument is ops.CATEGORY_DIGIT else "x"
