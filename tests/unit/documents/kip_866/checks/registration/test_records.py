"""Check of the records that KIP-866 introduces or changes."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.registration.records import records_are_those_of_the_document as check
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import history, snapshot
from tests.unit.documents.kip_866.checks.outcomes import looked_at, outcomes

STATE, REGISTRATION = "REC-ZkMigrationStateRecord", "REC-RegisterBroker-v2"
BOOTSTRAP, FEATURES = "MV-controller-bootstrap", "REG-features-eq-ibp"
Record = dict[str, Any]


def level(offset: int = 2, name: str = "metadata.version", number: int = 21) -> Record:
    """A feature is set."""
    data = {"name": name, "featureLevel": number}
    return {"offset": offset, "type": "FEATURE_LEVEL_RECORD", "version": 0, "data": data}


def state(version: int = 0, **more: object) -> Record:
    """A migration state."""
    data = {"zkMigrationState": 2, **more}
    return {"offset": 3, "type": "ZK_MIGRATION_STATE_RECORD", "version": version, "data": data}


def registered(version: int = 3, low: int = 21, high: int = 21, *, is_migrating: bool = True) -> Record:
    """A broker registers."""
    supported = {"name": "metadata.version", "minSupportedVersion": low, "maxSupportedVersion": high}
    data = {"brokerId": 0, "isMigratingZkBroker": is_migrating, "features": [supported]}
    return {"offset": 12, "type": "REGISTER_BROKER_RECORD", "version": version, "data": data}


def run(*records: Record, **more: object) -> History:
    """A run with an image of this log."""
    image = MetadataImage("metadata-log", extra={"announced": list(records), **more})
    return history(events=[snapshot(10_000, "a-log")], images={"a-log": image})


def test_records_of_the_document_conform() -> None:
    """Conforming: a broker in KRaft mode supports more than one level."""
    verdict = check.judge(run(level(), state(), registered(), registered(low=1, is_migrating=False)))
    assert set(looked_at(verdict)) == {STATE, REGISTRATION, BOOTSTRAP, FEATURES}
    assert set(looked_at(verdict).values()) == {"CONFORMS"}


@pytest.mark.parametrize(
    ("records", "row"),
    [
        ([level(), state(version=1)], STATE),
        ([level(), state(more=1)], STATE),
        ([level(), registered(version=1)], REGISTRATION),
        ([level(), registered(low=20)], FEATURES),
        ([state(), level(offset=9)], BOOTSTRAP),
        ([level(name="other"), state()], BOOTSTRAP),
        ([level(number=20), registered()], BOOTSTRAP),
    ],
)
def test_any_other_record_violates(records: list[Record], row: str) -> None:
    """Violating: by its own row only."""
    found = outcomes(check.judge(run(*records)))
    assert [each for each, outcome in found.items() if outcome == "VIOLATES"] == [row]


def test_what_a_run_did_not_see_begin_proves_nothing() -> None:
    """Vacuous: what came with a checkpoint, what a snapshot begins with, and no image."""
    whole = run(level(), state(), registered())
    inherited = replace(whole, header=replace(whole.header, extra={"checkpoint": {"log_offset": 99}}))
    assert not looked_at(check.judge(inherited))
    assert BOOTSTRAP not in looked_at(check.judge(run(state(), begins_with_snapshot=True)))
    assert check.judge(history()).is_vacuous
