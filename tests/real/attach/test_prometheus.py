"""Exporters of Prometheus in real nodes: a migration is watched by what they show."""

from pathlib import Path

import pytest

from tests.real.attach.exporters import RULES, exporting, metrics_table
from tests.real.attach.standing import Watching, attach_file, operated
from tests.real.attach.test_attaching import OFFERED, offered_by, outcomes

JUDGED_BY_METRICS = ("phase_reached", "migration_state_moves_along_legal_edges", "one_active_controller_per_epoch")


@pytest.mark.nightly
@pytest.mark.parametrize("dialect", sorted(RULES))
def test_a_migration_is_watched_by_exporters(tmp_path: Path, dialect: str) -> None:
    """The state of the migration, who is active and the epoch are known to the end, when ZooKeeper is gone."""
    with operated(exporting("zk1-broker1-controller3", dialect, tmp_path), tmp_path) as operator:
        file = attach_file(operator.cluster, tmp_path, metrics_table(dialect))
        assert offered_by(file) == OFFERED
        judged = outcomes(Watching(file, tmp_path / "runs").of_a_migration(operator))
    assert {each: judged.get(each) for each in JUDGED_BY_METRICS} == dict.fromkeys(JUDGED_BY_METRICS, "CONFORMS")
