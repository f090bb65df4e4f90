"""Cuts a violated verdict into single violations: a known bug explains one of them, and nothing that is beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.checkers.evidence.expectations import with_one_unmet
from pytest_kmigrate.checkers.metadata.made import made_ns
from pytest_kmigrate.checkers.metadata.wrong import at_one_place, wrong_in
from pytest_kmigrate.checkers.run.steps import about_one, expectations_met
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import MOST_VIOLATIONS, About, Verdict, Violation

Part = tuple[History, Verdict]
"""The run, and a verdict about one violation."""
_GAPS = "too_long_ns"
"""The fact that lists all gaps of a check that keeps a few examples."""


@dataclass(frozen=True)
class Parts:
    """A violated verdict cut into all that is known of it."""

    each: Sequence[Part]
    unseen: int
    """Violations that the verdict counts and does not hold: nothing explains these."""


def parts(history: History, verdict: Verdict) -> Parts:
    """One part for each expectation that was not met, each place of the metadata, or each violation."""
    if verdict.listed("images"):
        return Parts([(history, each) for each in at_one_place(history, verdict)], 0)
    cut = _by_expectation if verdict.check == expectations_met.name else _by_violation
    return cut(history, verdict)


def moments(history: History, part: Verdict) -> list[int]:
    """When what a part is about was made, or was seen, in nanoseconds since the run began; empty: it is not known."""
    wrong = wrong_in(history, part)
    if wrong is not None:
        return made_ns(history, wrong)
    gaps = part.facts.get(_GAPS)
    if isinstance(gaps, list | tuple):
        return [int(ended) for _, ended in gaps]
    return [each.at_ns for each in part.violations if each.at_ns is not None]


def left_of(verdict: Verdict, left: Sequence[Verdict], unseen: int, known: Sequence[str]) -> Verdict:
    """A verdict of which known bugs explain a part: it shows what is left, and says what the rest is known as."""
    own = [violation for each in left for violation in each.violations]
    shown = tuple(dict.fromkeys(own))[:MOST_VIOLATIONS] or verdict.violations
    first = f"; the first: expected {own[0].expected}; observed {own[0].observed}" if own else ""
    text = f"{len(left) + unseen} left that no known bug explains{first}; the rest is known as {', '.join(known)}"
    every = () if unseen or not all(each.violations for each in left) else tuple(dict.fromkeys(own))
    return replace(verdict, violations=shown, every=every, summary=f"{text}; in all: {verdict.summary}")


def _by_expectation(history: History, _: Verdict) -> Parts:
    asked = Check(expectations_met.name)
    alone = [about_one(expectations_met.judged(run, asked), event) for event, run in with_one_unmet(history)]
    return Parts([(history, each) for each in alone], 0)


def _by_violation(history: History, verdict: Verdict) -> Parts:
    gaps = verdict.facts.get(_GAPS)
    if isinstance(gaps, list | tuple):
        held = verdict.every if len(verdict.every) == len(gaps) else (None,) * len(gaps)
        cut = [(history, _of_gap(verdict, *each)) for each in zip(gaps, held, strict=True)]
        return Parts(cut, verdict.count - len(gaps))
    cut = [(history, _alone(verdict, each)) for each in verdict.every or verdict.violations]
    return Parts(cut, verdict.count - len(cut))


def _of_gap(verdict: Verdict, gap: object, one: Violation | None) -> Verdict:
    """The verdict about one gap; ``one``: the violation that it is, where all are held."""
    alone = replace(verdict, facts={**verdict.facts, _GAPS: [gap]}, count=1)
    return alone if one is None else replace(alone, violations=(one,), every=(one,))


def _alone(verdict: Verdict, one: Violation) -> Verdict:
    """The verdict about one of its violations, and about the requirements that this one violates."""
    alone = replace(verdict, violations=(one,), every=(one,), count=1)
    return alone.about_each(_of_one(each, one) for each in verdict.about if not each.observed or _is_in(each, one))


def _is_in(about: About, one: Violation) -> bool:
    return one.observed in about.observed


def _of_one(about: About, one: Violation) -> About:
    return replace(about, observed=(one.observed,))
