"""Counts runs by requirement: outcomes under two baselines, and bounds."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_kmigrate.catalogue import Requirement, deviations, requirement, requirements
from pytest_kmigrate.certificates.evidence_of_runs import Evidence, RunEvidence
from pytest_kmigrate.certificates.statement import Counts, OutcomeName, Row
from pytest_kmigrate.checkers.grading import graded
from pytest_kmigrate.checkers.tally import Tally, Word, tally_together
from pytest_kmigrate.judging.outcomes import RowOutcome
from pytest_kmigrate.judging.planning.plan import PlannedTest, plan
from pytest_kmigrate.model.capabilities import not_offered
from pytest_kmigrate.model.verdict import Outcome

CONFIDENCE = 0.95
_FINE = 1e-9
"""How closely a bound is computed; four digits of it are shown."""


@dataclass(frozen=True)
class _Seen:
    """One requirement in one run."""

    run: str
    row: RowOutcome

    @property
    def outcome(self) -> Outcome | None:
        return self.row.outcome


def rows_of(profile: str, evidence: Evidence) -> list[Row]:
    """The requirements that runs can judge, each counted once, in the order of the document."""
    listed = [each for each in requirements(profile) if each.covered_by is None and each.untestable is None]
    return [_row(each, evidence) for each in listed]


def untestable(profile: str) -> dict[str, str]:
    """The requirements that no run can judge, with the reason."""
    return {each.id: each.untestable for each in requirements(profile) if each.untestable and not each.covered_by}


def bound(violations: int, n: int) -> str:
    """The upper bound of the share of runs that violate, at 95 %, one-sided (Clopper and Pearson)."""
    if n == 0 or violations >= n:
        return "1.0000"
    if violations == 0:
        return f"{1 - (1 - CONFIDENCE) ** (1 / n):.4f}"
    return f"{_upper(violations, n):.4f}"


def _upper(violations: int, n: int) -> float:
    """The share at which no more than ``violations`` of ``n`` are as unlikely as the confidence leaves room for."""
    low, high = violations / n, 1.0
    while high - low > _FINE:
        share = (low + high) / 2
        at_most = sum(
            math.exp(_log_choose(n, k) + k * math.log(share) + (n - k) * math.log1p(-share))
            for k in range(violations + 1)
        )
        low, high = (share, high) if at_most > 1 - CONFIDENCE else (low, share)
    return (low + high) / 2


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _row(wanted: Requirement, evidence: Evidence) -> Row:
    sources = wanted.same_as or (wanted.id,)
    seen = [_seen(source, evidence.runs) for source in sources]
    required = _required(wanted.profile, sources, evidence)
    found = tally_together([[one.row.said for one in each] for each in seen], graded(*sources), required)
    unfit = _inapplicable(wanted.profile, sources, evidence) if not any(seen) else ""
    word = Word.NOT_APPLICABLE if unfit else found.word
    strict, apache = _if_enough(_STRICT[word], _BY_APACHE.get(word, _STRICT[word]), is_enough=found.n >= required)
    listed = {each.id for each in deviations(wanted.profile)}
    known = sorted({each for each, _ in found.by})
    return Row(
        id=wanted.id,
        level=wanted.level,
        part="core" if wanted.level == "MUST" else "extended",
        word=word,
        strict=_name(strict),
        apache=_name(apache),
        counts=Counts(
            conforms=found.conforming,
            violates=found.violating,
            inconclusive=found.inconclusive,
            not_applicable=found.not_applicable,
        ),
        n=found.n,
        required=required,
        bound=bound(found.violating, found.n),
        deviations=[each for each in known if each in listed],
        known_bugs=[each for each in known if each not in listed],
        reason="" if word is Word.CONFORMS else unfit or _reason(seen, found, required),
    )


_STRICT = {
    Word.VIOLATION: Outcome.VIOLATES,
    Word.DEFECT: Outcome.VIOLATES,
    Word.DEPARTURE: Outcome.VIOLATES,
    Word.REMARK: Outcome.CONFORMS,
    Word.INCONCLUSIVE: Outcome.INCONCLUSIVE,
    Word.CONFORMS: Outcome.CONFORMS,
    Word.NOT_APPLICABLE: Outcome.NOT_APPLICABLE,
    Word.NOT_JUDGED: Outcome.INCONCLUSIVE,
}
_BY_APACHE = {Word.DEFECT: Outcome.INCONCLUSIVE, Word.DEPARTURE: Outcome.CONFORMS}
"""A departure that Apache Kafka is known for conforms to what people run; a known defect hides what else would show."""


def _if_enough(*outcomes: Outcome, is_enough: bool) -> list[Outcome]:
    """The outcomes, of which none conforms by fewer runs than are required."""
    return [Outcome.INCONCLUSIVE if each is Outcome.CONFORMS and not is_enough else each for each in outcomes]


def _seen(row: str, runs: Iterable[RunEvidence]) -> list[_Seen]:
    """What counted runs say of a requirement; of a run that departs from its plan only a violation counts."""
    counting = requirement(row).covered_by or row
    found = [_Seen(run.header.run_id, run.rows[counting]) for run in runs if counting in run.rows and not run.is_void]
    departing = {run.header.run_id for run in runs if run.departs}
    return [each for each in found if each.outcome is Outcome.VIOLATES or each.run not in departing]


def _reason(seen: Sequence[Sequence[_Seen]], found: Tally, required: int) -> str:
    """Why a requirement does not conform: the first run that violates it, or what is missing."""
    listed = [one for each in seen for one in each]
    violating = [one for one in listed if one.outcome is Outcome.VIOLATES]
    if found.violating:
        return f"{violating[0].run}: {violating[0].row.reason}"
    undecided = [one for one in listed if one.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE)]
    parts = [f"{found.n} of {required} runs that could have violated it"] if found.n else []
    parts += [f"{one.run}: {one.row.reason}" for one in undecided[:1]]
    parts += [f"{known} of another requirement hit {runs}" for known, runs in found.hit_by]
    return "; ".join(parts) or "no counted run could have violated it"


def _required(profile: str, sources: Sequence[str], evidence: Evidence) -> int:
    """The runs that the tests which claim it are planned with, of those that can be run; if none can, of all."""
    tests = _tests_of(profile, sources)
    return max((test.runs for test in [*filter(evidence.can_run, tests)] or tests), default=1)


def _tests_of(profile: str, sources: Sequence[str]) -> list[PlannedTest]:
    """The planned tests that claim one of these requirements."""
    profiles = {profile, *(requirement(each).profile for each in sources)}
    tests = [test for each in sorted(profiles) for test in plan(each).tests.values()]
    return [test for test in tests if set(sources) & set(test.requirements)]


def _inapplicable(profile: str, sources: Sequence[str], evidence: Evidence) -> str:
    """Why no test of a requirement applies: this Kafka cannot run it, or no provider offers what it needs.

    Empty: one applies.
    """
    tests = _tests_of(profile, sources)
    fit = [test for test in tests if test.runs_on(evidence.kafka)]
    if tests and not fit:
        spans = sorted({each.releases for each in tests})
        return f"its tests are about Kafka {', '.join(spans)}, and this is {evidence.kafka}"
    lacking = [min((sorted(test.needs - each) for each in evidence.offers), key=len) for test in fit]
    if not fit or not all(lacking):
        return ""
    why = (run.header.circumstances.lacking.get(each, "") for run in evidence.runs for each in lacking[0])
    return "; ".join(dict.fromkeys(filter(None, [not_offered(fit[0].test, lacking[0]), *why])))


def _name(outcome: Outcome) -> OutcomeName:
    names: dict[Outcome, OutcomeName] = {
        Outcome.CONFORMS: "CONFORMS",
        Outcome.VIOLATES: "VIOLATES",
        Outcome.INCONCLUSIVE: "INCONCLUSIVE",
        Outcome.NOT_APPLICABLE: "NOT_APPLICABLE",
    }
    return names[outcome]
