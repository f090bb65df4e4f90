"""Which requirements each verdict of a run speaks for: the evidence of a requirement is its own, or there is none.

- A checker speaks for the requirements it declares, by its own outcome for each where it looks at several.
- An expectation speaks for the requirements it names, and then no general claim does. One that names none speaks for
  those that the test claims and that are free: no checker declares them, and no expectation names them.
- Of the checks that the test asked for and that declare none, those that may be a test's whole point (equal metadata,
  a phase that is reached) speak for what is free. Those about its traffic do so only where there is nothing else: what
  clients saw is no evidence that tokens were copied.
- A requirement that the test claims and that nothing could have violated is INCONCLUSIVE.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from pytest_kmigrate.model.capabilities import Capability, not_offered
from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import CapabilityLacking, EndExpected, ExpectationEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict, inconclusive, not_applicable

UNSPOKEN = "claims_were_judged"
"""The check of a run whose test claims requirements that nothing in it could have violated."""

SEEN = "seen_in_what_an_operator_did"
"""The check of an observed procedure, which shows nothing of some requirements."""

OFFERED = "needs_were_offered"
"""The check of a run whose test ended because its provider cannot do what the test needs."""


def declared(checkers: Iterable[AnyChecker]) -> frozenset[str]:
    """The requirements that some checker declares."""
    return frozenset(requirement for each in checkers for requirement in each.requirements)


def named_by_expectations(history: History) -> frozenset[str]:
    """The requirements that an expectation of the test names as its own."""
    expectations = history.of(ExpectationEnded, EndExpected)
    return frozenset(row for each in expectations for row in each.what.requirements or ())


def without_what_others_own(verdict: Verdict, checker: AnyChecker, own: Container[str]) -> Verdict:
    """The verdict of expectations about their own requirements only: those named, and those that are free."""
    if checker.requirements:
        return verdict
    return verdict.about_each([each for each in verdict.about if each.requirement in own])


def speaks_for_the_free(
    verdicts: Sequence[Verdict], by: Sequence[AnyChecker], asked: int, free: Sequence[str]
) -> list[bool]:
    """Which of the verdicts, the first of which were ``asked`` for, speak for what is free by their own outcome."""
    may = [number < asked and not each.requirements for number, each in enumerate(by)]
    chosen = [is_possible and Capability.TRAFFIC not in each.needs for is_possible, each in zip(may, by, strict=True)]
    is_expected = any(about.requirement in free for each in verdicts for about in each.about)
    return chosen if is_expected or any(chosen) else may


def spoken(verdict: Verdict, checker: AnyChecker, free: Sequence[str], history: History) -> Verdict:
    """The verdict with an outcome for each requirement it speaks for; ``free``: those it speaks for undeclared."""
    verdict = replace(verdict, anomaly=checker.anomaly)
    if not checker.requirements:
        return verdict if verdict.about else verdict.speaking_for(*free)
    verdict = verdict if verdict.about else verdict.speaking_for(*checker.speaks_for(history))
    looked_at = {each.requirement for each in verdict.about}
    unseen = [About(each, Outcome.INCONCLUSIVE, Kind.VACUOUS) for each in checker.requirements if each not in looked_at]
    return verdict.about_each([*verdict.about, *unseen])


def unspoken(verdicts: Iterable[Verdict], claimed: Sequence[str]) -> list[Verdict]:
    """One INCONCLUSIVE verdict about the claimed requirements that no verdict speaks for; none if there are none."""
    spoken_for = {requirement for verdict in verdicts for requirement in verdict.requirements}
    lacking = [each for each in claimed if each not in spoken_for]
    if not lacking:
        return []
    text = f"nothing in this run could have violated {', '.join(lacking)}, which its test claims"
    about = [About(each, Outcome.INCONCLUSIVE, Kind.VACUOUS) for each in lacking]
    return [inconclusive(Kind.VACUOUS, text).by(UNSPOKEN).about_each(about)]


def unseen(verdicts: Iterable[Verdict], requirements: Sequence[str]) -> list[Verdict]:
    """One NOT_APPLICABLE verdict about those requirements of which an observed procedure shows nothing."""
    spoken_for = {requirement for verdict in verdicts for requirement in verdict.requirements}
    lacking = [each for each in requirements if each not in spoken_for]
    text = "nothing that was seen could have violated it: it takes faults, clients or changes that a test makes"
    return [not_applicable(text).by(SEEN).speaking_for(*lacking)] if lacking else []


def inapplicable(lacking: Recorded[CapabilityLacking], claimed: Sequence[str]) -> Verdict:
    """The verdict NOT_APPLICABLE about all that a test claims, by the event that ended it."""
    text = not_offered(lacking.what.what, lacking.what.lacking)
    return not_applicable(text).by(OFFERED).speaking_for(*claimed)
