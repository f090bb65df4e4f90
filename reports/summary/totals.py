"""Totals: the counts over all runs, and the sentence to take away from them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypedDict

from pytest_kmigrate.model.verdict import Outcome, merged
from pytest_kmigrate.reports.summary.rows import Row, count, plural, release


class Totals(TypedDict):
    """The counts over all runs."""

    runs: int
    tests: int
    requirements: int
    outcomes: dict[str, int]
    outcome: str
    """The worst outcome of all runs, as the console command reports it; an unreadable run is INCONCLUSIVE."""
    safety_violations: int
    flaky_tests: int
    known_bugs: int
    set_aside: int
    doubtful: int
    """Files and folders set aside on which a verdict may hang."""
    kafka: list[str]
    topologies: list[str]
    profiles: list[str]
    providers: list[str]
    first_started_at: str | None
    last_started_at: str | None


def totals_of(attempts: Sequence[Row], tables: Mapping[str, list[Row]]) -> Totals:
    """Count the runs, each as it counts (``excused``)."""
    outcomes = Counter(str(attempt["outcome"]) for attempt in attempts)
    violations = Counter(str(attempt["kind"]) for attempt in attempts if attempt["outcome"] == Outcome.VIOLATES.name)
    started = [each.isoformat() if hasattr(each, "isoformat") else str(each) for each in _seen(attempts, "started_at")]
    doubtful = len({row["path"] for row in tables["set_aside"] if row["is_run"]})
    return {
        "runs": len(attempts),
        "tests": len(_seen(attempts, "test_id")),
        "requirements": len(_seen(tables["requirements"], "requirement")),
        "outcomes": {outcome.name: outcomes[outcome.name] for outcome in Outcome},
        "outcome": merged([*map(Outcome.__getitem__, outcomes), *[Outcome.INCONCLUSIVE] * (doubtful > 0)]).name,
        "safety_violations": violations["SAFETY"],
        "flaky_tests": len({row["test_id"] for row in tables["flakiness"] if row["standing"] == "FLAKY"}),
        "known_bugs": len(_seen(tables["bugs"], "bug")),
        "set_aside": len(tables["set_aside"]),
        "doubtful": doubtful,
        "kafka": sorted(map(str, _seen(attempts, "kafka")), key=release),
        "topologies": sorted(map(str, _seen(attempts, "topology"))),
        "profiles": sorted(map(str, _seen(attempts, "profile"))),
        "providers": sorted(map(str, _seen(attempts, "provider"))),
        "first_started_at": min(started, default=None),
        "last_started_at": max(started, default=None),
    }


def headline(totals: Totals, asked: Sequence[Row]) -> str:
    """The one sentence to take away, and what limits it: how little was asked, and what could not be read."""
    doubtful = totals["doubtful"]
    limits = [f"{plural(doubtful, 'path')} set aside may change that"] if doubtful else []
    if totals["outcome"] == Outcome.CONFORMS.name:
        return "; ".join(_all_well(totals, asked))
    return "; ".join([*_found(totals), *limits])


def _all_well(totals: Totals, asked: Sequence[Row]) -> list[str]:
    """That all is well, of how much, and which requirements known bugs violate though no test was about these."""
    keys = ("requirements", "asked", "violates")
    of_all, all_asked, violated = (sum(count(row[key]) for row in asked) for key in keys)
    runs = plural(totals["runs"], "run")
    whole = f"All {runs} conform" if violated else f"Everything conforms in {runs}"
    claim = whole if totals["runs"] > 1 else "The run conforms"
    if not of_all:
        return [claim]
    share = f"{all_asked} of {plural(of_all, 'requirement')} {'was' if all_asked == 1 else 'were'} asked"
    return [claim, share + (f", known Kafka bugs violate {violated} of them" if violated else "")]


def _found(totals: Totals) -> list[str]:
    """What the runs found. A share is one of the runs with an answer; those without one are counted beside it."""
    outcomes = totals["outcomes"]
    bad, silent = outcomes["VIOLATES"], outcomes["INCONCLUSIVE"]
    answers = plural(bad + outcomes["CONFORMS"], "run")
    beside = [f"{silent} could not be decided"] if silent else []
    if totals["safety_violations"]:
        return [f"{totals['safety_violations']} of {answers} broke a safety requirement", *beside]
    if bad:
        # Results of other tools are about no requirement of ours.
        return [f"{bad} of {answers} {'violated a requirement' if totals['requirements'] else 'failed'}", *beside]
    runs = plural(totals["runs"], "run")
    if silent or totals["doubtful"]:
        return [f"No violation in {runs}", *beside]
    return [f"Nothing in {runs} applied to this cluster"]


def _seen(rows: Sequence[Row], column: str) -> set[object]:
    return {row[column] for row in rows if row[column] is not None}
