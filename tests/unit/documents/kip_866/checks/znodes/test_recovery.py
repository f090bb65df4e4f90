"""Check that a failover in dual write copies nothing again."""

from dataclasses import replace
from typing import Any

from pytest_kmigrate.documents.kip_866.checks.znodes.recovery import failover_copies_nothing_again
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import history, snapshot
from tests.unit.documents.kip_866.checks.migrated import LOG
from tests.unit.documents.kip_866.checks.nodes import controller
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.znodes.test_controller_znodes import place

WAY = [place(20, 55), place(21, 60), place(30, 60, 2, 3001, 4), place(31, 70, 4, 3001, 4)]
COPY = {"offset": 54, "event": "end", "copied": {"TOPIC_RECORD": 7}}


def log(*transactions: dict[str, Any]) -> MetadataImage:
    """A log with a copy that ended at 54, and these transactions."""
    extra = {
        "migration_states": [{"offset": 3, "number": 2}, {"offset": 53, "number": 1}],
        "transactions": [{"offset": 10, "event": "begin"}, *transactions],
        "brokers": {},
    }
    return replace(LOG, extra=extra)


def failed_over(*znodes: ZnodeChange, image: MetadataImage | None = None, at_ms: int = 1_000) -> History:
    """The log was looked at afterwards."""
    nodes = [controller(), controller(0, 3001), snapshot(at_ms, "after-log", took_ms=0)]
    return history(events=nodes, znodes=znodes, images={"after-log": image or log(COPY)})


def test_a_controller_that_goes_on_conforms() -> None:
    """Conforming: from where the znode says, with one copy in the log."""
    assert looked_at(failover_copies_nothing_again.judge(failed_over(*WAY))) == {"ZNODE-migration-recovery": "CONFORMS"}


def test_a_controller_that_begins_anew_violates() -> None:
    """Violating: in the znode, or in the log."""
    anew = [*WAY[:2], place(30, -1, -1, 3001, 4)]
    verdict = failover_copies_nothing_again.judge(failed_over(*anew))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].observed.startswith("it begins anew, after 60")
    again = log(COPY, {"offset": 80, "event": "begin"}, {"offset": 99, "event": "end", "copied": {"TOPIC_RECORD": 7}})
    verdict = failover_copies_nothing_again.judge(failed_over(*WAY, image=again))
    assert verdict.violations[0].observed.startswith("2 transactions with metadata ended in the log")


def test_without_a_failover_or_a_look_at_the_log_nothing_is_proved() -> None:
    """Vacuous: one controller, none that had a place before, or no image of afterwards."""
    before = [place(20, -1, -1), place(30, 60, 2, 3001, 4)]
    for run in (failed_over(*WAY[:2]), failed_over(*before), failed_over(*WAY, at_ms=5)):
        assert failover_copies_nothing_again.judge(run).outcome is Outcome.INCONCLUSIVE
