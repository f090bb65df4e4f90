"""Versions: what can be claimed of each Kafka version, and with what confidence."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from pytest_kmigrate.analysis.statistics.bounds import bound_after_clean
from pytest_kmigrate.reports.drawing import amount, ceiling
from pytest_kmigrate.reports.estimates import wilson
from pytest_kmigrate.reports.rows import Row, count, grouped, number, plural, release


def versions(attempts: Sequence[Row], operations: Sequence[Row]) -> list[Row]:
    """One row per version, newest first.

    ``checked_runs`` are those in which client operations were judged; ``safety_runs`` are those of them that gave an
    answer, and whatever broke SAFETY. A claim of safety is one of these only: of other runs nobody knows.
    """
    operations_of: dict[object, int] = defaultdict(int)
    for each in operations:
        operations_of[each["folder"]] += count(each["operations"])
    rows = [_version(kafka, mine, operations_of) for (kafka,), mine in grouped(attempts, "kafka").items()]
    newest_first = sorted(rows, key=lambda row: release(row["kafka"]), reverse=True)
    # What is no version is newer than all by its name.
    return sorted(newest_first, key=lambda row: release(row["kafka"])[0])


def safety_claim(version: Row) -> str:
    """What can be said of a version's safety, and nothing where it was not looked at."""
    if version["safety_violations"]:
        return f"{amount(version['safety_violations'])} broken"
    bound = number(version["safety_bound"])
    if bound is None:
        return "not checked"
    runs = plural(amount(version["safety_runs"]), "run")
    return f"none broken in {runs}, so at most {ceiling(bound)} at 95 %"


def _version(kafka: object, mine: Sequence[Row], operations_of: dict[object, int]) -> Row:
    ends = Counter(str(each["outcome"]) for each in mine)
    answers, bad = ends["CONFORMS"] + ends["VIOLATES"], ends["VIOLATES"]
    broken = [each for each in mine if each["outcome"] == "VIOLATES" and each["kind"] == "SAFETY"]
    checked = [each for each in mine if operations_of.get(each["folder"])]
    answered = {each["folder"] for each in checked if each["outcome"] in ("CONFORMS", "VIOLATES")}
    safety_runs = len(answered | {each["folder"] for each in broken})
    low, high = wilson(bad, answers)
    return {
        "kafka": kafka,
        "runs": len(mine),
        "conforming": ends["CONFORMS"],
        "violating": bad,
        "inconclusive": ends["INCONCLUSIVE"],
        "not_applicable": ends["NOT_APPLICABLE"],
        "safety_violations": len(broken),
        "rate": bad / answers if answers else None,
        "rate_low": low,
        "rate_high": high,
        "safety_runs": safety_runs,
        "safety_bound": None if broken or not safety_runs else float(bound_after_clean(safety_runs)),
        "checked_runs": len(checked),
        "operations": sum(operations_of.get(each["folder"], 0) for each in mine),
    }
