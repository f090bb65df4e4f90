"""Check of the records that KIP-866 introduces or changes: states, registrations and the first feature level."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.changes import began_ns
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import SnapshotTaken
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Verdict

_STATE_RECORD, _REGISTRATION = "K866-REC-ZkMigrationStateRecord", "K866-REC-RegisterBroker-v2"
_BOOTSTRAP, _FEATURES = "K866-MV-controller-bootstrap", "K866-REG-features-eq-ibp"
REGISTER, REGISTRATION_CHANGE = "REGISTER_BROKER_RECORD", "BROKER_REGISTRATION_CHANGE_RECORD"
MIGRATING = "isMigratingZkBroker"
"""The flag of a registration in migration mode."""
_STATE, _LEVEL = "ZK_MIGRATION_STATE_RECORD", "FEATURE_LEVEL_RECORD"
_FEATURE = "metadata.version"
_WITH_FLAG = 2
"""The version of registrations that has the flag of migrating brokers."""


@dataclass(frozen=True)
class LogRecords:
    """The announced records of one image that are evidence of the run's own."""

    event: Recorded[SnapshotTaken]
    file: str
    records: Sequence[Mapping[str, Any]]
    inherited: Sequence[Mapping[str, Any]]
    """Those that the log had when the run began: no evidence of it, but what its own records refer to."""
    is_whole: bool
    """Whether it holds the log from its first record on, and all of it is the run's own."""
    has_each_own: bool
    """Whether it holds each record of the run's own, so that none is left out by a snapshot."""

    @property
    def began_ns(self) -> int:
        """When taking the image began."""
        return began_ns(self.event)

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """Those of one type."""
        return [each for each in self.records if each["type"] == kind]


def has_announced(history: History) -> bool:
    """Whether any image lists the records of a migration as they are; those of 0.1 do not."""
    return any("announced" in each.of_log for each in history.images.values())


@checker(
    _STATE_RECORD,
    _REGISTRATION,
    _BOOTSTRAP,
    _FEATURES,
    in_every_run=has_announced,
    anomaly="record unlike the document",
    needs=[Capability.METADATA_LOG],
)
def records_are_those_of_the_document(history: History) -> Verdict:
    """Migration states are one number in version 0, and registrations have the flag of migrating brokers (version 2).

    ``metadata.version`` is in the log before any of them, at the level of the brokers that register as migrating; each
    of these supports that level only.
    """
    rows = ByRequirement(_STATE_RECORD, _REGISTRATION, _BOOTSTRAP, _FEATURES)
    logs = list(records_of_logs(history))
    for log in logs:
        for record in log.of(_STATE):
            wrong = record["version"] != 0 or set(record["data"]) != {"zkMigrationState"}
            expected = "a migration state is version 0 with one number"
            _judge(history, rows, _STATE_RECORD, log, record, expected if wrong else "")
        for record in log.of(REGISTER):
            wrong = record["version"] < _WITH_FLAG
            _judge(history, rows, _REGISTRATION, log, record, "a registration has version 2 at least" if wrong else "")
            if record["data"].get(MIGRATING):
                low, high = _levels(record)
                expected = f"a migrating broker supports one level of {_FEATURE}"
                _judge(history, rows, _FEATURES, log, record, expected if low is None or low != high else "")
        if log.is_whole and log.records:
            _judge_bootstrap(history, rows, log)
    text = f"{counted(len(logs), 'image')} of the metadata log, each with the records of the document"
    return rows.verdict(text, "no image of a metadata log holds records of a migration that began in this run")


def records_of_logs(history: History) -> Iterator[LogRecords]:
    """Such records of each image, in the order in which the images were taken."""
    taken = {event.what.label: event for event in history.of(SnapshotTaken)}
    starts = life_starts_ns(history)
    for label, image in history.images.items():
        if "announced" in image.of_log and label in taken:
            event = taken[label]
            inherited = history.header.inherited_offset if life_at(starts, began_ns(event)) == 0 else -1
            yield _log(image, event, inherited)


def _log(image: MetadataImage, event: Recorded[SnapshotTaken], inherited: int) -> LogRecords:
    announced = image.of_log["announced"]
    own = [each for each in announced if each["offset"] > inherited]
    former = [each for each in announced if each["offset"] <= inherited]
    has_each_own = not image.of_log.get("begins_with_snapshot")
    is_whole = inherited < 0 and has_each_own
    return LogRecords(event, event.what.file, own, former, is_whole, has_each_own)


def _judge_bootstrap(history: History, rows: ByRequirement, log: LogRecords) -> None:
    first = log.records[0]
    is_first = first["type"] == _LEVEL and first["data"].get("name") == _FEATURE
    _judge(history, rows, _BOOTSTRAP, log, first, "" if is_first else f"{_FEATURE} is recorded first")
    for record in log.of(REGISTER) if is_first else ():
        level = first["data"].get("featureLevel")
        if record["data"].get(MIGRATING) and level not in _levels(record):
            _judge(history, rows, _BOOTSTRAP, log, record, f"brokers have the level {level} of {_FEATURE}")


def _levels(record: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The lowest and the highest level of ``metadata.version`` that a registered broker supports."""
    features = (each for each in record["data"].get("features", ()) if each.get("name") == _FEATURE)
    found: Mapping[str, int] = next(features, {})
    return found.get("minSupportedVersion"), found.get("maxSupportedVersion")


def _judge(
    history: History, rows: ByRequirement, row: str, log: LogRecords, record: Mapping[str, Any], expected: str
) -> None:
    """One record; ``expected`` is empty if it is right."""
    if not expected:
        rows.looked_at(row)
        return
    what = f"offset {record['offset']}: {record['type']}, version {record['version']}, {record['data']}"
    rows.violated(row, timed_violation(history, expected, what, log.event.at_ns, log.file))
