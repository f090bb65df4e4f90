"""Check that metadata outlives a way back."""

from dataclasses import replace

from pytest_kmigrate.documents.kip_866.checks.metadata_kept import (
    metadata_changed_in_the_migration_outlives_it,
)
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import change, event, history, phase
from tests.unit.documents.kip_866.checks.migrated import LOG, settled, zookeeper

CREATED = change(12_000, "create-topic", "orders", wanted={"partitions": 2, "replication": 2})
LATER = change(22_000, "create-topic", "orders", wanted={"partitions": 2, "replication": 2})


def reverted(image: MetadataImage, created: object = CREATED, *, in_phase: str = "ZOOKEEPER") -> History:
    """Dual write from 11 s on; the controllers were taken away after 20 s, and ZooKeeper was looked at after 30 s."""
    edges = [phase(0, "ZOOKEEPER"), phase(11_000, "HYBRID"), phase(19_000, in_phase)]
    away = event(EventKind.STEP_ENDED, 20_000, step="deprovision-controllers", outcome="done", reason="")
    events = [*edges, away, *settled(30_000, "after", "zookeeper"), created]
    return history(events=events, images={"after-zookeeper": image})


def test_what_was_acknowledged_before_is_there_after() -> None:
    """Conforming, and violating."""
    assert metadata_changed_in_the_migration_outlives_it.judge(reverted(zookeeper())).outcome is Outcome.CONFORMS
    verdict = metadata_changed_in_the_migration_outlives_it.judge(reverted(replace(zookeeper(LOG), topics={})))
    assert verdict.outcome is Outcome.VIOLATES
    expected = "topics orders is present in after-zookeeper, as acknowledged before the way back"
    assert verdict.violations[0].expected == expected


def test_what_came_later_says_nothing() -> None:
    """Vacuous: it was created after the way back, or there was none yet."""
    lacking = replace(zookeeper(), topics={})
    for run in (reverted(lacking, LATER), reverted(lacking, in_phase="HYBRID")):
        assert metadata_changed_in_the_migration_outlives_it.judge(run).outcome is Outcome.INCONCLUSIVE
