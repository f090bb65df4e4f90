"""Totals: the counts over all runs, and the sentence to take away from them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypedDict

from pytest_kmigrate.model.verdict import Outcome, merged
from pytest_kmigrate.reports.summary.rows import Row, count, plural, release
from pytest_kmigrate.reports.summary.words import is_defect


class Totals(TypedDict):
    """The counts over all runs."""

    runs: int
    tests: int
    requirements: int
    outcomes: dict[str, int]
    outcome: str
    """The worst outcome of all runs, as the console command reports it; an unreadable run is INCONCLUSIVE."""
    safety_violations: int
    new_violations: int
    """Runs that violate something that nothing known explains."""
    new_safety_violations: int
    flaky_tests: int
    known_defects: int
    departures: int
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
    violations = Counter(str(each["kind"]) for each in attempts if each["outcome"] == Outcome.VIOLATES.name)
    red = [each for each in attempts if each["outcome"] == Outcome.VIOLATES.name]
    new = Counter(str(each["kind"]) for each in red if not each["known_bugs"])
    started = [each.isoformat() if hasattr(each, "isoformat") else str(each) for each in _seen(attempts, "started_at")]
    defects = {each for each in _seen(tables["bugs"], "bug") if is_defect(each)}
    doubtful = len({row["path"] for row in tables["set_aside"] if row["is_run"]})
    return {
        "runs": len(attempts),
        "tests": len(_seen(attempts, "test_id")),
        "requirements": len(_seen(tables["requirements"], "requirement")),
        "outcomes": {outcome.name: outcomes[outcome.name] for outcome in Outcome},
        "outcome": merged([*map(Outcome.__getitem__, outcomes), *[Outcome.INCONCLUSIVE] * (doubtful > 0)]).name,
        "safety_violations": violations["SAFETY"],
        "new_violations": sum(new.values()),
        "new_safety_violations": new["SAFETY"],
        "flaky_tests": len({row["test_id"] for row in tables["flakiness"] if row["standing"] == "FLAKY"}),
        "known_defects": len(defects),
        "departures": len(_seen(tables["bugs"], "bug") - defects),
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
    of_all, all_asked = (sum(count(row[key]) for row in asked) for key in ("requirements", "asked"))
    claim = f"All {totals['runs']} runs conform" if totals["runs"] > 1 else "The run conforms"
    share = f"{all_asked} of {plural(of_all, 'requirement')} {'was' if all_asked == 1 else 'were'} asked"
    return [claim, *([share] if of_all else []), *_known(totals)]


def _known(totals: Totals) -> list[str]:
    """Which known defects hit the runs; a departure from the text is no news."""
    return [f"{plural(totals['known_defects'], 'known defect')} of Kafka hit them"] if totals["known_defects"] else []


def _found(totals: Totals) -> list[str]:
    """What the runs found. A share is one of the runs with an answer; those without one are counted beside it."""
    outcomes = totals["outcomes"]
    bad, silent = outcomes["VIOLATES"], outcomes["INCONCLUSIVE"]
    answers = plural(bad + outcomes["CONFORMS"], "run")
    beside = [f"{silent} could not be decided"] if silent else []
    new, safety = totals["new_violations"], totals["new_safety_violations"]
    met = f"met known {'defects' if totals['known_defects'] else 'departures'} of Kafka"
    if bad and not new:
        return [f"No new violation in {answers}: {bad} {met}", *beside]
    # Results of other tools are about no requirement of ours.
    how = "broke a safety requirement" if safety else "violated a requirement" if totals["requirements"] else "failed"
    known = [f"{bad - new} more {met}"] if bad > new else []
    if bad:
        return [f"{safety or new} of {answers} {how}", *known, *beside]
    runs = plural(totals["runs"], "run")
    if 2 * silent > totals["runs"]:
        others = (
            f"no violation in the other {totals['runs'] - silent}" if silent < totals["runs"] else "nothing is shown"
        )
        return [f"{silent} of {runs} gave no answer: {others}"]
    if silent or totals["doubtful"]:
        return [f"No violation in {runs}", *beside]
    return [f"Nothing in {runs} applied to this cluster"]


def _seen(rows: Sequence[Row], column: str) -> set[object]:
    return {row[column] for row in rows if row[column] is not None}
