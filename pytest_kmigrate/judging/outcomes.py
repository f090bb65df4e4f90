"""What the verdicts of one run say of each requirement."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_kmigrate.checkers.grading import of_row
from pytest_kmigrate.checkers.tally import Said
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict


@dataclass
class RowOutcome:
    """One requirement in one run."""

    outcome: Outcome | None = None
    """The worst of the verdicts that could have violated it; None: no verdict could."""
    kind: Kind | None = None
    """Kind of the worst."""
    checks: set[str] = field(default_factory=set)
    """The checks that could have violated it."""
    known_as: set[str] = field(default_factory=set)
    """Known bugs and deviations that explain violations of it."""
    is_explained: bool = True
    """Whether every violation of it is explained so."""
    reason: str = ""
    """The summary of the worst, unless it conforms."""

    @property
    def said(self) -> Said:
        """What a tally counts of it."""
        return Said(self.outcome, frozenset(self.known_as if self.is_explained else ()))


def outcomes_by_requirement(verdicts: Iterable[Verdict]) -> dict[str, RowOutcome]:
    """The requirements that the verdicts of a run are about."""
    found: defaultdict[str, RowOutcome] = defaultdict(RowOutcome)
    for verdict in verdicts:
        for about in verdict.about:
            row = found[about.requirement]
            if about.outcome is Outcome.VIOLATES:
                row.known_as.update(of_row(about.requirement, about.known_bugs))
                row.is_explained &= bool(about.known_bugs)
            if about.is_vacuous:
                continue
            row.checks.add(verdict.check)
            if row.outcome is None or about.outcome > row.outcome:
                row.outcome, row.kind = about.outcome, about.kind
                row.reason = "" if about.outcome is Outcome.CONFORMS else about.summary or verdict.summary
    return dict(found)
