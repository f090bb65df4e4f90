"""Check of refusals: nodes that Kafka must not let run ended by themselves, in time and by an error."""

from collections.abc import Iterator, Sequence

from pytest_kmigrate.checkers.evidence.expectations import by_requirement
from pytest_kmigrate.checkers.evidence.expected_ends import ExpectedEnd, expected_ends
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import (
    About,
    Kind,
    Outcome,
    Verdict,
    Violation,
    conforms,
    inconclusive,
    violates,
)


@checker(in_every_run=lambda history: bool(expected_ends(history)))
def expected_ends_came(history: History) -> Verdict:
    """Every node that a test expects to refuse its start, or to end, did so in time and with an exit code other than 0.

    The exit code and the time decide. The words that a node must give as its reason can only make it INCONCLUSIVE: it
    ended, and the reason is unknown. Each expectation speaks for the requirements it names, or for those that its test
    claims and that nothing else speaks for.
    """
    ends = expected_ends(history)
    about = list(_by_requirement(history, ends))
    if not ends:
        return inconclusive(Kind.VACUOUS, "the test expected no node to end")
    found = [_violation(history, each) for each in ends if _is_missing(each)]
    if found:
        return violates(Kind.LIVENESS, found).about_each(about)
    unexplained = [each for each in ends if _is_unexplained(each)]
    if unexplained:
        return inconclusive(Kind.VACUOUS, "; ".join(map(_unexplained, unexplained))).about_each(about)
    text = f"{counted(len(ends), 'node')} ended as expected: {', '.join(map(_ended, ends))}"
    return conforms(text).about_each(about)


def _by_requirement(history: History, ends: Sequence[ExpectedEnd]) -> Iterator[About]:
    speaking = by_requirement(history, ((each.expectation, each) for each in ends))
    for requirement, of in speaking.items():
        missing = [each for each in of if _is_missing(each)]
        unexplained = [each for each in of if _is_unexplained(each)]
        if missing:
            found = [_violation(history, each) for each in missing]
            observed = tuple(f"{each.node}: {one.observed}" for each, one in zip(missing, found, strict=True))
            awaited = tuple(one.awaited for one in found)
            yield About(requirement, Outcome.VIOLATES, Kind.LIVENESS, len(of), observed[0], observed, awaited)
        elif unexplained:
            text = _unexplained(unexplained[0])
            yield About(requirement, Outcome.INCONCLUSIVE, Kind.VACUOUS, len(of), text)
        else:
            yield About(requirement, Outcome.CONFORMS, None, len(of), ", ".join(map(_ended, of)))


def _is_missing(each: ExpectedEnd) -> bool:
    return each.end is None or each.end.what.exit_code == 0


def _is_unexplained(each: ExpectedEnd) -> bool:
    return each.end is not None and each.naming not in each.end.what.said


def _unexplained(each: ExpectedEnd) -> str:
    return f"{_ended(each)}, and its last words do not name {each.naming!r}"


def _ended(each: ExpectedEnd) -> str:
    assert each.end is not None, "it ended"
    return f"{each.node} with exit code {each.end.what.exit_code}"


def _violation(history: History, each: ExpectedEnd) -> Violation:
    expectation = each.expectation
    expected = f"{each.node} ends by an error within {expectation.what.within_s} s"
    if each.end is not None:
        evidence = f"event {each.end.seq}"
        return timed_violation(history, expected, "it ended with exit code 0", each.end.at_ns, evidence)
    evidence, awaited = f"event {expectation.seq}", (expectation.what.began_ns, expectation.at_ns)
    return timed_violation(history, expected, "it did not end", expectation.at_ns, evidence, awaited=awaited)
