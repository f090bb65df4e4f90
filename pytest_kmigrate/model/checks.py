"""Checks: a checker declares itself, and a test asks for it by plain data that a run folder holds and judges again."""

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, Generic, ParamSpec

from pytest_kmigrate.model.capabilities import Capability, Needs
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

P = ParamSpec("P")


class Cause(enum.Enum):
    """What makes a run doubtful, where a check judges the same: known to the check, the doubt is known, too."""

    DEATH = "a node ended unexpectedly"
    READING_BACK = "the records could not be read back"


@dataclass(frozen=True)
class Check:
    """What ``verify`` is given: the name of a checker and its arguments, which survive JSON."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value}' for key, value in self.arguments.items())})"


@dataclass(frozen=True)
class Checker(Generic[P]):
    """A pure function of a History (no cluster, no clock, no files) and what it declares; made by ``checker``."""

    judge: Callable[Concatenate[History, P], Verdict]
    requirements: tuple[str, ...] = ()
    """The requirements it speaks for wherever it is judged, by ledger id; a general checker has none of its own."""
    in_every_run: Callable[[History], bool] | None = None
    """Whether a run is judged by it although its test did not ask; None: only where it is asked for."""
    anomaly: str = ""
    """What reports call its violation, where they list it beside the anomalies of client operations."""
    needs: Needs = frozenset()
    """What the provider of a run must be able to do for its evidence to be there."""
    doubt: Cause | None = None
    """The doubt about a run that comes of the same thing: known here, it is known there."""
    ends_test: bool = False
    """Whether a test ends by what it judges, before it has asked for any check."""
    where: Mapping[str, Callable[[History], bool]] = field(default_factory=dict)
    """By requirement, which runs could have violated it; the others say nothing of it, whatever is judged there."""

    @property
    def name(self) -> str:
        """The function's name: what checks and verdicts are recorded with."""
        return self.judge.__name__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Check:
        """Make the check that ``verify`` takes; WrongUseError for arguments that the function does not have."""
        possible = signature(self.judge)
        try:
            bound = possible.bind(_NOTHING, *args, **kwargs)
        except TypeError as error:
            taken = ", ".join(map(str, list(possible.parameters.values())[1:]))
            raise WrongUseError(f"checks.{self.name}: expected {self.name}({taken}); got: {error}") from error
        given = list(bound.arguments.items())[1:]
        return Check(self.name, {key: _plain(value) for key, value in given if value is not None})

    def speaks_for(self, history: History) -> tuple[str, ...]:
        """The requirements that this run could have violated."""
        return tuple(each for each in self.requirements if self.where.get(each, always)(history))

    def judged(self, history: History, check: Check) -> Verdict:
        """Judge one history by a check that names this checker."""
        judge: Callable[..., Verdict] = self.judge
        return judge(history, **check.arguments)


AnyChecker = Checker[Any]
CheckersByName = Mapping[str, AnyChecker]

_NOTHING: Any = None


def checker(
    *requirements: str,
    in_every_run: Callable[[History], bool] | None = None,
    anomaly: str = "",
    needs: Iterable[Capability] = (),
    doubt: Cause | None = None,
    ends_test: bool = False,
) -> Callable[[Callable[Concatenate[History, P], Verdict]], Checker[P]]:
    """Declare a function of a History to be a checker; the function's docstring says what it claims.

    The verdicts that it returns are recorded with the function's name.
    """

    def declared(judge: Callable[Concatenate[History, P], Verdict]) -> Checker[P]:
        @wraps(judge)
        def named(history: History, /, *args: P.args, **kwargs: P.kwargs) -> Verdict:
            return judge(history, *args, **kwargs).by(judge.__name__)

        return Checker(named, requirements, in_every_run, anomaly, frozenset(needs), doubt, ends_test)

    return declared


def speaking(
    general: Checker[P],
    *requirements: str,
    in_every_run: Callable[[History], bool] | None = None,
    where: Callable[[History], bool] | None = None,
) -> Checker[P]:
    """Bind a general checker to (more) requirements of a document, which names it among its checks.

    ``where``: which runs could have violated these requirements, if not all in which the checker finds something.
    """
    return replace(
        general,
        requirements=(*general.requirements, *requirements),
        in_every_run=in_every_run or general.in_every_run,
        where={**general.where, **(dict.fromkeys(requirements, where) if where else {})},
    )


def always(_: History) -> bool:
    """Judge every run; where a run gives no opportunity the verdict is vacuous."""
    return True


def by_name(checkers: Iterable[AnyChecker]) -> dict[str, AnyChecker]:
    """Checkers by their names, the last of those with one function; WrongUseError when two functions share a name."""
    found: dict[str, AnyChecker] = {}
    for each in checkers:
        other = found.get(each.name, each)
        if other.judge is not each.judge:
            where = " and ".join(str(function.__module__) for function in (other.judge, each.judge))
            raise WrongUseError(
                f"checker {each.name}: expected one function of this name, got two, in {where}: rename one"
            )
        found[each.name] = each
    return found


def _plain(value: object) -> object:
    """An argument as JSON has it."""
    if isinstance(value, enum.Enum):
        return value.name
    return list(value) if isinstance(value, tuple | set | frozenset) else value
