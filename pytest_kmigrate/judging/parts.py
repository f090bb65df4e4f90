"""Cuts a violated verdict into what may each have a cause of its own: one verdict may be the work of several bugs."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_kmigrate.checkers.evidence.expectations import with_one_unmet
from pytest_kmigrate.checkers.metadata.wrong import at_one_place
from pytest_kmigrate.checkers.run.steps import expectations_met
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

Part = tuple[History, Verdict]
"""A verdict about less, and the run as if nothing else had gone wrong that the whole verdict is about."""


def parts(history: History, verdict: Verdict) -> list[Part]:
    """The parts of a violated verdict; none where it cannot be cut, or only one thing is wrong.

    They are expectations that were not met, places of the metadata, or violations that say all by themselves.
    Every other check is asked about as a whole, because its facts are not those of one violation.
    """
    cut = _by_place if verdict.listed("images") else _CUT.get(verdict.check, _uncut)
    found = cut(history, verdict)
    return found if len(found) > 1 else []


def _by_place(history: History, verdict: Verdict) -> list[Part]:
    return [(history, each) for each in at_one_place(history, verdict)]


def _by_expectation(history: History, _: Verdict) -> list[Part]:
    alone = with_one_unmet(history)
    return [(each, expectations_met.judged(each, Check(expectations_met.name))) for each in alone]


def _by_violation(history: History, verdict: Verdict) -> list[Part]:
    if verdict.count != len(verdict.violations):
        return []
    return [(history, _alone(verdict, number)) for number in range(verdict.count)]


def _alone(verdict: Verdict, number: int) -> Verdict:
    """The verdict about one of its violations."""
    one = verdict.violations[number]
    return replace(verdict, violations=(one,), count=1).about_each(
        replace(each, observed=(one.observed,)) for each in verdict.about
    )


def _uncut(_history: History, _verdict: Verdict) -> list[Part]:
    return []


_CUT: Mapping[str, Callable[[History, Verdict], list[Part]]] = {
    expectations_met.name: _by_expectation,
    "clients_are_told_the_same": _by_violation,
    "zookeeper_follows_the_log": _by_violation,
}
