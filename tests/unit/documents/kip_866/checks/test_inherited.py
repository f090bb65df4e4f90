"""A run that began from a checkpoint: what came with it is the evidence of another run."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.copying.beginning import migration_begins_when_every_node_is_ready
from pytest_kmigrate.documents.kip_866.checks.copying.copied import copy_holds_what_was_acknowledged
from pytest_kmigrate.documents.kip_866.checks.dual_write.deletions import pending_deletions_leave_zookeeper
from pytest_kmigrate.documents.kip_866.checks.states.meaning import recorded_states_mean_what_they_say
from pytest_kmigrate.documents.kip_866.checks.states.recorded_numbers import (
    recorded_states_have_their_documented_numbers,
)
from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.history import History
from tests.unit.checkers.histories import history
from tests.unit.documents.kip_866.checks.copying.test_beginning import taken
from tests.unit.documents.kip_866.checks.copying.test_copied import BEFORE
from tests.unit.documents.kip_866.checks.dual_write.test_deletions import DONE, PENDING
from tests.unit.documents.kip_866.checks.migrated import migrated
from tests.unit.documents.kip_866.checks.nodes import broker, migrating
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.states.test_meaning import log, recorded


def inherited(run: History) -> History:
    """The same run from a checkpoint whose log ended at offset 99."""
    return replace(run, header=replace(run.header, extra={"checkpoint": {"log_offset": 99}}))


@pytest.mark.parametrize(
    ("check", "run"),
    [
        (copy_holds_what_was_acknowledged, migrated(BEFORE)),
        (migration_begins_when_every_node_is_ready, taken()),
        (pending_deletions_leave_zookeeper, migrated(znodes=[*PENDING, *DONE])),
        (recorded_states_mean_what_they_say, recorded(log(2, 1))),
        (recorded_states_have_their_documented_numbers, recorded(log(0, 3))),
    ],
)
def test_what_came_with_a_checkpoint_proves_nothing(check: AnyChecker, run: History) -> None:
    """Vacuous, where the same run from scratch conforms."""
    assert set(looked_at(check.judge(run).speaking_for("K0-ANY")).values()) == {"CONFORMS"}
    assert not looked_at(check.judge(inherited(run)))


def test_brokers_that_came_with_a_checkpoint_had_joined() -> None:
    """Nobody saw how they were configured; in a run from scratch somebody does."""
    run = history(events=[*broker(0, 0), *migrating(0, 1), *broker(0, 2, mode="kraft")])
    assert [each.is_migrating for each in brokers_at(run, 10)] == [False, True, False]
    assert [each.is_migrating for each in brokers_at(inherited(run), 10)] == [True, True, False]
