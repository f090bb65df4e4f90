"""What needs a human today, most urgent first: the first thing a report says."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from pytest_kmigrate.catalogue import find_bug
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.reports.pages.drawing import measure_name, measured
from pytest_kmigrate.reports.summary.alike import Clusters
from pytest_kmigrate.reports.summary.chaos import detail_of, incomplete_nights, reds_of_schedules
from pytest_kmigrate.reports.summary.rows import (
    CONDITION,
    SHAPE,
    Row,
    answers,
    began,
    began_in,
    began_with,
    changes_of,
    clusters_of,
    count,
    day,
    grouped,
    is_worse,
    kafka_of,
    known,
    listed,
    plural,
    worse_since,
)
from pytest_kmigrate.reports.summary.words import is_defect

LEVELS = ("SAFETY", "VIOLATES", "DEFECT", "FLAKY", "SLOWER", "VARIES", "INCONCLUSIVE", "DEPARTURE")
"""How urgent a concern is: what is new, then known defects, then what may be chance; departures last, and folded."""

_ANSWERS = (Outcome.VIOLATES.name, Outcome.CONFORMS.name)
_WHY_OPEN = {
    Kind.HARNESS.name: "trouble of the harness",
    Kind.INFRA.name: "trouble of the machine",
    Kind.VACUOUS.name: "no opportunity to violate",
}
"""Why runs gave no answer, in the words of the glossary."""


def attention(tables: Mapping[str, list[Row]], tests: Sequence[Row], attempts: Sequence[Row]) -> list[Row]:
    """What needs a human: one row with level, title, detail and the test or bug it is about.

    A violation that a known defect of Kafka explains is listed once, as that defect with all its versions; unexplained
    ones come before it, because it is not yet known what they are. What several tests fail by is one row, with their
    number and with what it goes together with. Departures from the text are one row together.
    """
    of_test = grouped([each for each in attempts if not each["is_aside"]], "test_id", *CONDITION)
    changes = grouped(tables.get("change_points", []), *SHAPE)
    on_cluster = clusters_of(attempts)
    bugs = grouped(tables.get("bugs", []), "bug")
    reported = [_about_defect(each, attempts) for (name,), each in bugs.items() if is_defect(name)]
    new = {
        key: [each for each in mine if each["outcome"] == Outcome.VIOLATES.name and not each["known_bugs"]]
        for key, mine in of_test.items()
    }
    alike = Clusters(tables, [run for runs in new.values() for run in runs])
    reported += alike.concerns({test["test_id"]: str(test["standing"]) for test in tests})
    for test in tests:
        alone = [
            run for run in new.get(tuple(test[name] for name in ("test_id", *CONDITION)), []) if alike.is_alone(run)
        ]
        of_cluster = changes.get(tuple(test[name] for name in SHAPE), [])
        since = _since_sentence(changes_of(test, of_cluster)) or _red_sentence(
            test, of_test.get(tuple(test[name] for name in ("test_id", *CONDITION)), [])
        )
        concern = _about_test(test, on_cluster(test), alone, f"{since}{alike.cause(alone)}")
        reported += [concern] if concern else []
    unshared = [run for runs in new.values() for run in runs if alike.is_alone(run)]
    for check, runs in reds_of_schedules(tables.get("schedules", []), unshared).items():
        level = "SAFETY" if any(each["kind"] == "SAFETY" for each in runs) else "VIOLATES"
        where = kafka_of(*sorted({str(each["kafka"]) for each in runs}))
        reported.append({**_concern(level, check, where, detail_of(runs), runs[-1]), "weight": 0})
    slower = (each for each in tables.get("trend_changes", []) if each["direction"] == "WORSE")
    reported += [_about_change(each, on_cluster(each)) for each in slower]
    reported.sort(key=lambda row: (LEVELS.index(str(row["level"])), -count(row.pop("weight")), str(row["title"])))
    doubts = _about_set_aside(tables.get("set_aside", [])) + _about_no_answers(attempts)
    doubts += [{**each, **_no_run("")} for each in incomplete_nights(tables.get("chaos_nights", []))]
    return [
        *reported,
        *doubts,
        *_about_departures([row for (name,), of in bugs.items() if not is_defect(name) for row in of]),
    ]


def _about_test(test: Row, cluster: str, unexplained: Sequence[Row], why: str) -> Row | None:
    """The concern of a test, by its runs that nothing known explains; ``why``: since when, and with what."""
    standing = str(test["standing"])
    if standing not in LEVELS or not unexplained:
        return None
    condition = " · ".join(known(kafka_of(test["kafka"]), cluster))
    # The newest run that shows the worst: one that lost a record, though others were red since.
    safety = [attempt for attempt in unexplained if attempt["kind"] == "SAFETY"]
    level = standing if safety or standing != "SAFETY" else "VIOLATES"
    shown = safety or unexplained
    concern = _concern(level, test["test_id"], condition, f"{_counts_sentence(test)}{why}", shown[-1])
    return {**concern, "test_id": test["test_id"], "weight": 0}


def _counts_sentence(test: Row) -> str:
    safety = f", {test['safety_violations']} of them SAFETY" if test["safety_violations"] else ""
    open_ones = f"; {test['inconclusive']} inconclusive" if test["inconclusive"] else ""
    return f"{test['violating']} of {plural(answers(test), 'run')} violate{safety}{open_ones}"


def _since_sentence(changes: Sequence[Row]) -> str:
    """When it began, where that is known: the first question in a repair."""
    worse = [each for each in changes if is_worse(each)]
    return f"; {worse_since(max(worse, key=lambda each: str(each['since_at'])))}" if worse else ""


def _red_sentence(test: Row, attempts: Sequence[Row]) -> str:
    """From which run on a test that violates now did so in each, where it conformed before."""
    answered = [each for each in attempts if each["outcome"] in _ANSWERS and each["started_at"]]
    red = list(takewhile(lambda each: each["outcome"] == Outcome.VIOLATES.name, reversed(answered)))
    if test["standing"] != Outcome.VIOLATES.name or len(red) in (0, len(answered)):
        return ""
    first = red[-1]
    names = {"since_at": "started_at", "since_run": "run_id", "since_kafka": "kafka", "since_commit": "commit"}
    change = {to: first.get(name) for to, name in names.items()}
    run, at = began_in(change), began(change)
    return f"; red in each of its last {plural(len(red), 'run')}, since {f'{run} ({at})' if run else at}"


def _about_set_aside(rows: Sequence[Row]) -> list[Row]:
    """One row for all that could not be read and on which a verdict may hang."""
    doubtful = [each for each in rows if each["is_run"]]
    if not doubtful:
        return []
    title = f"{plural(len({each['path'] for each in doubtful}), 'path')} set aside"
    reported = {"level": Outcome.INCONCLUSIVE.name, "title": title, "condition": ""}
    first = min(doubtful, key=lambda each: str(each["path"]))
    detail = "not read, though a verdict may hang on it; the first:"
    return [{**reported, "detail": detail, **_no_run(f"{first['path']}: {first['reason']}")}]


def _about_no_answers(attempts: Sequence[Row]) -> list[Row]:
    """One row per reason why runs were INCONCLUSIVE, the most frequent first: each is a thing to repair once."""
    open_ones = [each for each in attempts if each["outcome"] == Outcome.INCONCLUSIVE.name]
    return [
        _concern(
            Outcome.INCONCLUSIVE.name,
            f"{plural(len(mine), 'run')} without an answer",
            " · ".join(
                known(
                    _WHY_OPEN.get(str(kind), str(kind).lower()),
                    kafka_of(*sorted({str(attempt["kafka"]) for attempt in mine})),
                )
            ),
            f"in {plural(len({attempt['test_id'] for attempt in mine}), 'test')}",
            mine[-1],
        )
        for (kind, _), mine in sorted(grouped(open_ones, "kind", "check").items(), key=lambda reason: -len(reason[1]))
    ]


def _concern(level: str, title: object, condition: str, detail: str, example: Row) -> Row:
    """One concern with a run that shows it."""
    shown = {key: example[key] for key in ("check", "timeline", "reproduce")}
    reported = {"level": level, "title": title, "condition": condition, "detail": detail, "test_id": None}
    return {**reported, "example": example["summary"], **shown}


def _about_defect(seen: Sequence[Row], attempts: Sequence[Row]) -> Row:
    """A known defect: what an operator loses by it, where it is fixed, and the latest run that was red by it."""
    bug, versions = str(seen[0]["bug"]), [each["kafka"] for each in seen]
    red = [each for each in attempts if each["kafka"] in versions and bug in listed(each["known_bugs"])]
    latest = max(red, key=lambda each: str(each["started_at"] or ""), default={})
    checks = ", ".join(sorted({str(check) for each in seen for check in listed(each["checks"])}))
    where = f", latest in {str(latest['test_id']).rpartition('::')[2]}" if latest else ""
    runs = plural(sum(count(each["runs"]) for each in seen), "run")
    known_as = find_bug(bug)
    fixed = f"Fixed in: {known_as.fixed}. " if known_as else ""
    detail = f"{fixed}Seen in {runs} by {checks}{where}"
    reported = {"level": "DEFECT", "title": bug, "condition": kafka_of(*versions), "detail": detail}
    shown = {key: latest.get(key) for key in ("test_id", "timeline", "reproduce")}
    example = next((each["example"] for each in seen if each["kafka"] == latest.get("kafka")), seen[-1]["example"])
    cost = f"{known_as.symptom.rstrip('.')}. {known_as.consequence}" if known_as else example
    return {**reported, **_no_run(cost), **shown, "weight": known_as.severity if known_as else 0}


def _about_departures(seen: Sequence[Row]) -> list[Row]:
    """One row for all departures of Kafka from the text, which ask for no action; none if none was seen."""
    if not seen:
        return []
    names = sorted({str(each["bug"]) for each in seen})
    kafka = kafka_of(*sorted({str(each["kafka"]) for each in seen}))
    title = f"{plural(len(names), 'departure')} of {kafka or 'Kafka'} from the text"
    found = {name: find_bug(name) for name in names}
    members = [f"{name}: {bug.symptom}" for name, bug in found.items() if bug]
    reported = {"level": "DEPARTURE", "title": title, "condition": "", "members": members}
    return [{**reported, "detail": "on purpose or without harm", **_no_run("")}]


def _about_change(change: Row, cluster: str) -> Row:
    """A measure that got worse: when, from what to what."""
    title = f"{change['name']}: {measure_name(change['measure'])} got worse"
    condition = " · ".join(known(cluster, f"since {', '.join(known(began_with(change), began_in(change)))}"))
    before, after = (measured(change["measure"], change[name]) for name in ("median_before", "median_after"))
    detail = f"median {before} before, {after} since {day(change['since_at'])}"
    reported = {"level": "SLOWER", "title": title, "condition": condition, "detail": detail}
    return {**reported, **_no_run(""), "weight": 0}


def _no_run(example: object) -> Row:
    """A concern that no single run shows."""
    return {"test_id": None, "example": example, "check": "", "timeline": None, "reproduce": None}
