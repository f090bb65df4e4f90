"""Check of a run against a mutant: what was planted in Kafka was there, and the run came by."""

from collections.abc import Iterable, Mapping

from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, RuleOutcome, only
from pytest_kmigrate.model.events.nodes import RulesReported
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, conforms, inconclusive


@checker(in_every_run=lambda history: history.header.has_mutant)
def mutant_was_in_force(history: History) -> Verdict:
    """Every Byteman rule that the nodes were started with was carried out in one of them, and Byteman refused none.

    A changed class (``--kmigrate-mutant``) was loaded by one of them.
    Otherwise what held says nothing of the mutant; whether the rule's own condition was ever met is not known.
    Asked of each process before it is ended, and of all when the run is judged. Source: the rules of conformance (a
    verdict needs a witness).
    """
    became = became_of_rules(history.events)
    idle = idle_rules(became)
    if idle or not became:
        return inconclusive(Kind.VACUOUS, "; ".join(idle) or "no node was seen to have a rule")
    return conforms(f"{counted(len(became), 'rule')} carried out: {', '.join(sorted(became))}")


def became_of_rules(events: Iterable[Event]) -> dict[str, str]:
    """By name of each rule what the processes report of it: the best of all, but a failure before all."""
    reported: dict[str, set[str]] = {}
    for event in only(events, RulesReported):
        for rule, outcome in event.what.rules.items():
            reported.setdefault(rule, set()).add(outcome)
    return {rule: _best_of(outcomes) for rule, outcomes in reported.items()}


def idle_rules(became: Mapping[str, str]) -> list[str]:
    """Those that were not carried out, each with what became of it, sorted by name."""
    return [f"rule {rule}: {each}" for rule, each in sorted(became.items()) if each != RuleOutcome.CARRIED_OUT]


def unfit_rules(became: Mapping[str, str]) -> list[str]:
    """Those that were refused, or fit no code, by name."""
    return sorted(rule for rule, each in became.items() if each not in (RuleOutcome.CARRIED_OUT, RuleOutcome.WOVEN))


def _best_of(outcomes: set[str]) -> str:
    failed = sorted(outcomes.difference(RuleOutcome))
    return failed[0] if failed else next(each for each in RuleOutcome if each in outcomes)
