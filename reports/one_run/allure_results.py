"""Allure results of one run: what Allure's own reporters would have written, from the run folder alone."""

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import Attachment, Label, Link, Parameter, Status, StatusDetails, TestResult, TestStepResult
from allure_commons.types import LabelType, LinkType

from pytest_kmigrate.catalogue import all_departures, described, requirement
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.redaction import redacted_values
from pytest_kmigrate.reports.one_run.run_evidence import RunEvidence
from pytest_kmigrate.reports.one_run.timeline_lanes import Band, clock, fault_lane, step_lane
from pytest_kmigrate.reports.one_run.timeline_verdicts import when

_STATUSES = {
    Outcome.CONFORMS: Status.PASSED,
    Outcome.VIOLATES: Status.FAILED,
    Outcome.INCONCLUSIVE: Status.BROKEN,
    Outcome.NOT_APPLICABLE: Status.SKIPPED,
}
_STEP_STATUSES = {
    "step-done": Status.PASSED,
    "step-stopped": Status.PASSED,
    "step-failed": Status.FAILED,
    "step-unfinished": Status.BROKEN,
    "fault": Status.PASSED,
    "fault-unseen": Status.BROKEN,
}
_SEED = "seed"
"""The parameter that is excluded from a test's history."""
_KNOWN_AS = "known as "
_LOG_LINES = 200
_MOST_LOG_MOMENTS = 4
Attach = Callable[..., object]
"""Called with ``body`` and ``file_name``, as Allure's hook ``report_attached_data``."""

_JSON, _JSON_LINES, _TEXT, _HTML = "application/json", "application/x-ndjson", "text/plain", "text/html"


def write_allure_results(evidence: RunEvidence) -> None:
    """(Re)write ``allure-results/``: one result with its attachments, the environment and the categories."""
    logger: Any = AllureFileLogger(str(evidence.folder.allure), clean=True)  # type: ignore[no-untyped-call]
    result = result_of(evidence, logger.report_attached_data)
    # The logger would name the file by chance; by the run's own name a second report replaces the first.
    result.file_pattern = f"{result.uuid}-result.json"
    logger.report_result(result)
    about_all(environment([evidence.history.header]), logger.report_attached_data)


def result_of(evidence: RunEvidence, attach: Attach) -> TestResult:
    """The result of a run; its attachments are written by ``attach``, under names that a second report has again."""
    run_uuid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"kmigrate:{evidence.history.header.run_id}"))
    result = _result(evidence, run_uuid)
    for name, media_type, body in _attached(evidence):
        source = f"{uuid.uuid5(uuid.UUID(run_uuid), name)}-attachment.{name.rpartition('.')[2]}"
        attach(body=body, file_name=source)
        result.attachments.append(Attachment(name=name, source=source, type=media_type))
    return result


def about_all(facts: Mapping[str, str], attach: Attach) -> None:
    """Write what Allure shows beside all results of a folder: the environment and the categories."""
    escaped = {name: value.replace("\\", "\\\\").replace("\n", " ") for name, value in facts.items()}
    attach(body="".join(f"{name}={value}\n" for name, value in escaped.items()), file_name="environment.properties")
    attach(body=json.dumps(categories(), indent=1), file_name="categories.json")


def _result(evidence: RunEvidence, run_uuid: str) -> TestResult:
    header = evidence.history.header
    at = _wall_clock(evidence)
    conditions = {
        "requirements": ", ".join(header.requirements),
        _SEED: str(header.seed),
        "kafka": header.kafka,
        "topology": header.topology,
        "provider": header.provider,
        "profile": header.profile,
    }
    # Each night has another seed, and a test has one history over all nights.
    lasting = {name: value for name, value in conditions.items() if name != _SEED}
    told_apart = json.dumps([header.test_id, lasting], sort_keys=True)
    return TestResult(
        uuid=run_uuid,
        historyId=_digest(told_apart),
        testCaseId=_digest(header.test_id),
        name=_short_name(header.test_id),
        fullName=header.test_id,
        titlePath=header.test_id.partition("::")[0].removesuffix(".py").replace("/", ".").split("."),
        status=_STATUSES[evidence.outcome],
        statusDetails=_details(evidence),
        stage="finished",
        start=at(0),
        stop=at(evidence.end_ns / 1e6),
        labels=list(_labels(evidence)),
        links=list(_links(evidence)),
        parameters=[
            Parameter(name=name, value=value, excluded=True if name == _SEED else None)
            for name, value in conditions.items()
            if value
        ],
        steps=[_step(band, at) for band in _bands(evidence)],
    )


def _short_name(test_id: str) -> str:
    """The test's own name with its parameters, which may hold anything."""
    function, bracket, parameters = test_id.partition("[")
    return function.rpartition("::")[2] + bracket + parameters


def _details(evidence: RunEvidence) -> StatusDetails | None:
    """The worst verdicts in words; for a test that conforms, nothing."""
    if evidence.outcome is Outcome.CONFORMS:
        return None
    reported = [
        _told(check, evidence) for check in evidence.checks if check.counts and check.outcome is evidence.outcome
    ]
    again = evidence.history.header.circumstances.reproduce
    lines = [*reported, *evidence.notices, *([f"again: {again}"] if again else [])]
    return StatusDetails(message=redacted_values("\n".join(lines)), known=evidence.is_known or None)


def _told(verdict: Verdict, evidence: RunEvidence) -> str:
    kind = f" ({verdict.kind.value})" if verdict.kind else ""
    lines = [f"{verdict.outcome.name}{kind} {verdict.check}: {verdict.summary}"]
    lines += [f"  {each}" for each in described(verdict.known_bugs)]
    for violation in verdict.violations:
        lines += [f"  expected: {violation.expected}", f"  observed: {violation.observed}"]
        at_ns = evidence.moment_of(violation)
        lines += [f"  when: {when(evidence, at_ns)}"] if at_ns is not None else []
        lines += [f"  evidence: {', '.join(violation.evidence)}"] if violation.evidence else []
    if verdict.count > len(verdict.violations):
        lines.append(f"  {verdict.count} in all")
    return "\n".join(lines)


def _labels(evidence: RunEvidence) -> Iterable[Label]:
    """KIP as epic, area of the requirement as feature, requirement as story."""
    header = evidence.history.header
    yield Label(name=LabelType.EPIC, value=_epic(header.profile))
    for area in dict.fromkeys(_area(each) for each in header.requirements):
        yield Label(name=LabelType.FEATURE, value=area)
    for requirement_id in header.requirements:
        yield Label(name=LabelType.STORY, value=requirement_id)
    yield Label(name=LabelType.SUITE, value=header.test_id.partition("::")[0])
    yield Label(name=LabelType.TAG, value=f"kafka-{header.kafka}")
    yield Label(name=LabelType.FRAMEWORK, value="pytest")
    yield Label(name=LabelType.LANGUAGE, value="python")


def _epic(profile: str) -> str:
    """Such as "KIP-866" or "KIP-866 (draft)"."""
    match = re.fullmatch(r"kip-(\d+)(?:-(.+))?", profile)
    return profile if match is None else f"KIP-{match[1]}" + (f" ({match[2]})" if match[2] else "")


def _area(requirement_id: str) -> str:
    try:
        return requirement(requirement_id).area
    except WrongUseError:
        # A run of another release may claim what this catalogue does not know; its report is still one.
        return "not in this catalogue"


def _links(evidence: RunEvidence) -> Iterable[Link]:
    for bug in dict.fromkeys(bug for check in evidence.checks for bug in check.known_bugs):
        if re.fullmatch(r"KAFKA-\d+", bug):
            yield Link(type=LinkType.ISSUE, url=f"https://issues.apache.org/jira/browse/{bug}", name=bug)


def _bands(evidence: RunEvidence) -> list[Band]:
    """Migration steps and faults in the order they began."""
    return sorted([*step_lane(evidence).bands, *fault_lane(evidence).bands], key=lambda band: band.begin_ms)


def _step(band: Band, at: Callable[[float], int]) -> TestStepResult:
    name = f"fault: {band.text}" if band.style.startswith("fault") else band.text
    return TestStepResult(
        name=name,
        status=_STEP_STATUSES.get(band.style, Status.UNKNOWN),
        statusDetails=StatusDetails(message=redacted_values(band.tip)),
        stage="finished",
        start=at(band.begin_ms),
        stop=at(band.end_ms),
    )


def _wall_clock(evidence: RunEvidence) -> Callable[[float], int]:
    """Milliseconds of the run to milliseconds since 1970, by when the header says the run began."""
    try:
        began = datetime.fromisoformat(evidence.history.header.started_at)
    except ValueError:
        began = datetime.fromtimestamp(evidence.folder.header.stat().st_mtime, UTC)
    began_ms = int(began.timestamp() * 1000)
    return lambda of_run_ms: began_ms + int(of_run_ms)


def _attached(evidence: RunEvidence) -> Iterable[tuple[str, str, str | bytes]]:
    """Name, media type and content of everything attached; what a run does not have is left out."""
    folder = evidence.folder
    if folder.timeline.is_file():
        yield "timeline.html", _HTML, folder.timeline.read_bytes()
    lines = {"verdicts.jsonl": folder.verdicts, "history.jsonl": folder.history, "metrics.jsonl": folder.metrics}
    for name, file in lines.items():
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            yield name, _JSON_LINES, "\n".join(_line_without_secrets(line) for line in text.splitlines()) + "\n"
    header = redacted_values(json.loads(folder.header.read_text(encoding="utf-8")))
    yield "run.json", _JSON, json.dumps(header, indent=1)
    for node in evidence.nodes:
        log = _log(evidence, node)
        if log:
            yield f"{node}.log.txt", _TEXT, log


def _line_without_secrets(line: str) -> str:
    try:
        return json.dumps(redacted_values(json.loads(line)), ensure_ascii=False)
    except ValueError:
        # The last line of an interrupted run.
        return str(redacted_values(line))


def _log(evidence: RunEvidence, node: str) -> str:
    """A node's log up to each of the first violations; without a violation, up to the end of the run."""
    known = sorted({at_ns for each in evidence.violations if (at_ns := evidence.moment_of(each)) is not None})
    moments: list[int | None] = [*known[:_MOST_LOG_MOMENTS]] or [None]
    parts = []
    for at_ns in moments:
        piece = evidence.log_slice(node, at_ns, _LOG_LINES, _LOG_LINES // 10)
        if piece is not None:
            upto = "the end of the run" if at_ns is None else clock(at_ns)
            parts.append("\n".join([*piece.before, f"=== the above: {node} up to {upto} ===", *piece.after]))
    return "\n\n".join(parts)


def environment(headers: Iterable[RunHeader]) -> dict[str, str]:
    """What runs were made with, by name; where they differ, each value once."""
    facts: dict[str, list[str]] = {}
    for header in headers:
        made_with: Mapping[str, object] = {
            "Kafka": header.kafka,
            "topology": header.topology,
            "provider": header.provider,
            "profile": header.profile,
            "pytest-kmigrate": header.circumstances.pytest_kmigrate,
            "Python": header.circumstances.python,
        }
        for name, value in made_with.items():
            facts.setdefault(name, []).append(str(value))
    return {name: ", ".join(sorted(set(values) - {""})) for name, values in facts.items() if any(values)}


def categories() -> list[dict[str, object]]:
    """Every known Kafka bug by name, then what no bug explains; the same for every run: folders may be mixed."""
    named: list[dict[str, object]] = [
        {
            "name": f"{bug.id}: {bug.symptom}",
            "matchedStatuses": [Status.FAILED],
            "messageRegex": rf"[\s\S]*{_KNOWN_AS}{re.escape(bug.id)} [\s\S]*",
        }
        for bug in all_departures()
    ]
    return [
        *named,
        {
            "name": "Violations that no known Kafka bug explains",
            "matchedStatuses": [Status.FAILED],
            "messageRegex": rf"(?![\s\S]*{_KNOWN_AS})[\s\S]*",
        },
        {"name": "Inconclusive: harness, environment or evidence", "matchedStatuses": [Status.BROKEN]},
        {"name": "Not applicable here", "matchedStatuses": [Status.SKIPPED]},
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
