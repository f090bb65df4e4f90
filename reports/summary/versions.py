"""Versions: what can be claimed of each Kafka version, and with what confidence."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pytest_kmigrate.analysis.statistics.bounds import bound_after_clean
from pytest_kmigrate.checkers.kernels import AnomalyClass
from pytest_kmigrate.reports.pages.drawing import amount, ceiling
from pytest_kmigrate.reports.summary.estimates import interval
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, listed, number, plural, release

ClassesOf = Mapping[object, Sequence[object]]
"""Folder of a run -> the classes of anomaly that its operations would have shown."""


def versions(attempts: Sequence[Row], tables: Mapping[str, Sequence[Row]]) -> list[Row]:
    """One row per version, newest first.

    ``checked`` says of each class of anomaly how many runs would have shown it. ``safety_runs`` are those that gave an
    answer and would have shown a loss, and whatever broke SAFETY. A claim of safety is one of these only: of others
    it is unknown.
    """
    operations_of: dict[object, int] = defaultdict(int)
    for each in tables["operation_counts"]:
        operations_of[each["folder"]] += count(each["operations"])
    classes_of = {each["folder"]: listed(each["classes"]) for each in tables["checked_classes"]}
    by_verdicts = grouped(tables["consistency"], "kafka")
    rows = [
        _version(kafka, mine, operations_of, classes_of)
        | {"checked": _checked(mine, classes_of, by_verdicts.get((kafka,), []))}
        for (kafka,), mine in grouped(attempts, "kafka").items()
    ]
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


def runs_checked(version: Row, name: str) -> int:
    """How many runs of a version would have shown a class of anomaly."""
    checked = version["checked"]
    return count(checked.get(name, 0)) if isinstance(checked, dict) else 0


def _checked(mine: Sequence[Row], classes_of: ClassesOf, verdicts: Sequence[Row]) -> dict[str, int]:
    """Class of anomaly -> runs that would have shown it: by their operations, or as a check of controllers answered."""
    checked = Counter(str(name) for each in mine for name in classes_of.get(each["folder"], ()))
    for each in verdicts:
        if each["anomaly"]:
            checked[str(each["anomaly"])] += count(each["conforming"]) + count(each["violating"])
    return dict(+checked)


def _version(kafka: object, mine: Sequence[Row], operations_of: Mapping[object, int], classes_of: ClassesOf) -> Row:
    ends = Counter(str(each["outcome"]) for each in mine)
    answers, bad = ends["CONFORMS"] + ends["VIOLATES"], ends["VIOLATES"]
    broken = [each for each in mine if each["outcome"] == "VIOLATES" and each["kind"] == "SAFETY"]
    answered = {
        each["folder"]
        for each in mine
        if each["outcome"] in ("CONFORMS", "VIOLATES")
        and AnomalyClass.LOST_WRITE.value in classes_of.get(each["folder"], ())
    }
    safety_runs = len(answered | {each["folder"] for each in broken})
    low, high = interval(bad, answers)
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
        "operations": sum(operations_of.get(each["folder"], 0) for each in mine),
    }
