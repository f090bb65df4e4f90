"""What a verdict says of each requirement, in one word."""

from pytest_kmigrate.model.verdict import Verdict


def outcomes(verdict: Verdict) -> dict[str, str]:
    """Requirement (without its document) -> outcome, "vacuous" where nothing was looked at."""
    return {
        each.requirement.partition("-")[2]: "vacuous" if each.is_vacuous else each.outcome.name
        for each in verdict.about
    }


def looked_at(verdict: Verdict) -> dict[str, str]:
    """The same, without what nothing was looked at of."""
    return {requirement: outcome for requirement, outcome in outcomes(verdict).items() if outcome != "vacuous"}
