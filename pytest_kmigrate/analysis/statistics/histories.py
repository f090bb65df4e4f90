"""What the runs of one cell, in order, come to. A history is a text with a letter per run."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from pytest_kmigrate.analysis.statistics.arrays import Flags
from pytest_kmigrate.analysis.statistics.bernoulli_changes import rate_changes
from pytest_kmigrate.analysis.statistics.sequential import UNDECIDED, decision

CONFORMS, VIOLATES, EXPLAINED, SAFETY, INCONCLUSIVE, NOT_APPLICABLE, SET_ASIDE = "C", "V", "K", "S", "I", "N", "X"
"""EXPLAINED: a violation, by a known bug of Kafka. SAFETY: one of that kind. SET_ASIDE: whatever, in an infra night."""

ANSWERS = CONFORMS + VIOLATES + EXPLAINED + SAFETY
"""In small letters these are retries: attempts like others, but no news of what the first attempt already showed."""

_CLEAR = 0.01
"""One flip only, or red in all its last runs, in an order that chance gives so rarely: it did not flake, it changed."""


@dataclass(frozen=True)
class Told:
    """The counts of a history, and what those since the last change of its rate amount to now.

    ``turns`` are the answers that are known to follow another one: so many times it could flip.
    """

    runs: int
    conforming: int
    violating: int
    inconclusive: int
    infra_runs: int
    safety_violations: int
    flips: int
    turns: int
    conforming_now: int
    violating_now: int
    undecided_now: int
    clean_runs: int
    decision: str
    standing: str


def reported(history: str, timeless: str = "") -> Told:
    """Count and judge one history. ``timeless`` are runs without a start time: they have no order."""
    runs = timeless + history
    counts = {code: runs.upper().count(code) for code in ANSWERS + INCONCLUSIVE + SET_ASIDE}
    violated, timeless_violated = violations(history), violations(timeless)
    safety = counts[SAFETY]
    now = _since_the_last_change(history)
    if now != history:
        # Nobody knows on which side of the change they were.
        timeless = ""
    violated_now = violations(timeless + now)
    undecided_now = (timeless + now).count(INCONCLUSIVE)
    standing = _standing(runs, violated_now, violations(now), safety)
    if standing == "CONFORMS" and is_undecided(len(violated_now), undecided_now):
        standing = "INCONCLUSIVE"
    return Told(
        runs=len(runs),
        conforming=counts[CONFORMS],
        violating=counts[VIOLATES] + counts[EXPLAINED] + safety,
        inconclusive=counts[INCONCLUSIVE],
        infra_runs=counts[SET_ASIDE],
        safety_violations=safety,
        flips=_flips(violated),
        turns=max(len(violated) - 1, 0),
        conforming_now=int(np.count_nonzero(~violated_now)),
        violating_now=int(np.count_nonzero(violated_now)),
        undecided_now=undecided_now,
        clean_runs=_clean_runs(violated, timeless_violated),
        decision=_decision(timeless, now) if standing in ("FLAKY", "CONFORMS") else UNDECIDED,
        standing=standing,
    )


def is_undecided(answers: int, undecided: int) -> bool:
    """Whether so many runs without an answer, a third or more, keep the answers of the others from being trusted."""
    return undecided > 0 and answers <= 2 * undecided


def violations(history: str, *, with_retries: bool = True) -> Flags:
    """Per run with an answer, in order: was it a violation?"""
    kept = ANSWERS + ANSWERS.lower() * with_retries
    return np.array([each not in "Cc" for each in history if each in kept], np.bool_)


def _since_the_last_change(history: str) -> str:
    """The runs of the test as it is: what came before a believed change was another one, flaky or not.

    A test that is red for good is so from the first of these runs on, also where it was red at times before and too
    lately broke for a change of its rate to be believed: it is not put aside as flaky.
    """
    firsts = [place for place, each in enumerate(history) if each in ANSWERS]
    violated = violations(history, with_retries=False)
    changes = rate_changes(violated)
    began = changes[-1].at if changes else 0
    began += red_for_good_from(violated[began:]) or 0
    return history[firsts[began] :] if began else history


def red_for_good_from(violated: Flags) -> int | None:
    """From which answer on a test violated in all, if chance hardly gives the same answers in such an order.

    Of all orders, those with so many violations at the end. None where that is no surprise, or nothing conformed.
    """
    conforming = int(np.count_nonzero(~violated))
    if not conforming:
        return None
    began = len(violated) - int(np.argmax(~violated[::-1]))
    log_share = _log_choose(began, conforming) - _log_choose(len(violated), conforming)
    return began if began < len(violated) and np.exp(log_share) <= _CLEAR else None


def _log_choose(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _flips(violated: Flags) -> int:
    return int(np.count_nonzero(violated[1:] != violated[:-1]))


def _clean_runs(violated: Flags, timeless: Flags) -> int:
    """How many runs conformed since the last violation; none, where its time is unknown."""
    if timeless.any():
        return 0
    return int(np.argmax(violated[::-1])) if violated.any() else len(timeless) + len(violated)


def _standing(runs: str, violated: Flags, in_order: Flags, safety: int) -> str:
    """What the cell amounts to by what it answered since its last change. SAFETY is never called flaky, however rare.

    A test that broke, or was repaired, too lately for a change to be believed gave both answers too, but in an order
    that chance hardly ever gives. It is what it is since. Both answers without an order are no such thing.
    """
    if safety:
        return "SAFETY"
    flips = _flips(in_order)
    if flips > 1 or (flips and _chance_of_one_flip(in_order) > _CLEAR):
        return "FLAKY"
    if not flips and violated.any() and not violated.all():
        return "FLAKY"
    if len(violated):
        return "VIOLATES" if violated[-1] else "CONFORMS"
    return "INCONCLUSIVE" if INCONCLUSIVE in runs or SET_ASIDE in runs else "NOT_APPLICABLE"


def _decision(timeless: str, history: str) -> str:
    """Whether a test is steady enough, of one that has shown no more than that it may not be.

    What broke SAFETY, or is red for good, a person must look at; no formula puts it aside. And a test that found a bug
    of Kafka is no less steady for that. Violations are weighed in their order, so all of them must have one.
    """
    first = violations(timeless.replace(EXPLAINED, ""), with_retries=False)
    if first.any():
        return UNDECIDED
    return decision(np.concatenate([first, violations(history.replace(EXPLAINED, ""), with_retries=False)]))


def _chance_of_one_flip(violated: Flags) -> float:
    """How often so many of both answers, in any order, would have only one flip."""
    runs, found = len(violated), int(violated.sum())
    return float(2 / np.exp(gammaln(runs + 1) - gammaln(found + 1) - gammaln(runs - found + 1)))
