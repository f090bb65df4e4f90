"""Check of the records that the draft gives other names, numbers and labels than the final document does."""

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.registration.records import LogRecords, has_announced, records_of_logs
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation

_NAME, _VALUES, _TWO = "K866D-REC-ZkMigrationRecord", "K866D-REC-values", "K866D-REC-two-records"
_LABEL = "K866D-REC-RegisterBroker-v2"
_DRAFTED, _SHIPPED = "ZK_MIGRATION_RECORD", "ZK_MIGRATION_STATE_RECORD"
_REGISTER, _FIELD, _WITH_FLAG = "REGISTER_BROKER_RECORD", "isZkBroker", 2
_DUE: Mapping[str, tuple[int, ...]] = {"HYBRID": (0,), "ALL_KRAFT": (0,), "FINALIZED": (0, 1)}
"""By phase, the values of all records of the migration in a log: 0 when it started, 1 when it is finished."""


@checker(
    _NAME,
    _VALUES,
    _TWO,
    _LABEL,
    in_every_run=has_announced,
    anomaly="record unlike the draft",
    needs=[Capability.METADATA_LOG],
)
def records_are_those_of_the_draft(history: History) -> Verdict:
    """A migration leaves two records ZkMigrationRecord, 0 and 1; registrations have the field isZkBroker.

    Whatever the record is called, its number and values are judged, by images that hold a whole log.
    """
    rows = ByRequirement(_NAME, _VALUES, _TWO, _LABEL)
    logs = list(records_of_logs(history))
    for log in logs:
        _judge_registrations(history, rows, log)
        phase = phase_at(history, log.event.at_ns) or Phase.ZOOKEEPER.name
        if log.is_whole and phase in _DUE and phase_at(history, log.began_ns) == phase:
            _judge_states(history, rows, log, phase)
    text = f"{counted(len(logs), 'image')} of the metadata log, each with the records of the draft"
    return rows.verdict(text, "no image of a metadata log holds records of a migration that began in this run")


def _judge_states(history: History, rows: ByRequirement, log: LogRecords, phase: str) -> None:
    drafted, shipped = log.of(_DRAFTED), log.of(_SHIPPED)
    records = sorted([*drafted, *shipped], key=lambda each: int(each["offset"]))
    values, due = [_value(each) for each in records], _DUE[phase]
    is_named = drafted and not shipped
    wrong = [each for each in drafted if each["version"] != 0 or not isinstance(_value(each), int)]
    named = shipped[:1] or wrong[:1]
    observed = _shown(named) if named else f"no such record in {phase}"
    expected = f"{_DRAFTED}, version 0, with one number"
    _judge(_NAME, rows, not is_named or wrong, _violation(history, log, expected, observed))
    expected, observed = f"the values are {list(due)} in {phase}", f"they are {values} in {phase}"
    _judge(_VALUES, rows, tuple(dict.fromkeys(values)) != due, _violation(history, log, expected, observed))
    expected, observed = (f"{counted(len(each), 'record')} in {phase}" for each in (due, records))
    _judge(_TWO, rows, len(records) != len(due), _violation(history, log, expected, observed))


def _judge_registrations(history: History, rows: ByRequirement, log: LogRecords) -> None:
    for record in log.of(_REGISTER):
        if record["version"] >= _WITH_FLAG:
            expected = f"a registration of version {record['version']} has the boolean {_FIELD}"
            is_wrong = not isinstance(record["data"].get(_FIELD), bool)
            observed = f"its fields are {', '.join(sorted(record['data']))}"
            _judge(_LABEL, rows, is_wrong, _violation(history, log, expected, observed))


def _judge(row: str, rows: ByRequirement, is_wrong: object, violation: Violation) -> None:
    if is_wrong:
        # Another name or number in the log misleads its readers; no metadata is at stake.
        rows.violated(row, violation, Kind.LIVENESS)
    else:
        rows.looked_at(row)


def _violation(history: History, log: LogRecords, expected: str, observed: str) -> Violation:
    return timed_violation(history, expected, observed, log.event.at_ns, log.file)


def _value(record: Mapping[str, Any]) -> object:
    return record["data"].get("zkMigrationState")


def _shown(records: Sequence[Mapping[str, Any]]) -> str:
    first = records[0]
    return f"{first['type']}, version {first['version']}, {first['data']}"
