"""Check of what nodes answer to ApiVersions at their start."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.nodes.requests import readiness_is_told_by_controllers_only as check
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.checks.outcomes import looked_at, outcomes
from tests.unit.documents.kip_866.diagnoses.naming import named

READY, ONLY_ZOOKEEPER, OLD = "RPC-ApiVersions-ready", "RPC-listener-zkBroker", "RPC-old-versions-kept"
CONTROL = {"4": [0, 7], "5": [0, 4], "6": [0, 8]}
OTHERS = {"3": [0, 12]}
IN_ZOOKEEPER_MODE: dict[str, Any] = {"node": "broker-0", "mode": "zookeeper", "requests": {**CONTROL, **OTHERS}}
IN_KRAFT_MODE: dict[str, Any] = {"node": "broker-0", "mode": "kraft"}
CONTROLLER: dict[str, Any] = {"node": "controller-3000"}


def started(
    node: str,
    *,
    ready: bool,
    flag: str | None = None,
    mode: str | None = None,
    requests: dict[str, list[int]] | None = None,
    kafka: str = "3.9.1",
    role: str = "",
) -> History:
    """A node was configured, started, and answered."""
    events: list[Event] = []
    if flag is not None:
        events += [event(EventKind.NODE_RECONFIGURED, 1, node, changed={MIGRATION_FLAG: flag}, mode=None)]
    role = role or node.partition("-")[0]
    events += [event(EventKind.NODE_STARTED, 2, node, role=role, mode=mode, kafka=kafka)]
    answer = {"requests": OTHERS if requests is None else requests, "is_ready_to_migrate": ready}
    return history(events=[*events, event(EventKind.NODE_REQUESTS, 3, node, **answer)])


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (started(**CONTROLLER, flag="true", ready=True), {READY: "CONFORMS", ONLY_ZOOKEEPER: "CONFORMS"}),
        (started(**CONTROLLER, ready=False), {READY: "CONFORMS", ONLY_ZOOKEEPER: "CONFORMS"}),
        (started(**IN_KRAFT_MODE, ready=False), {READY: "CONFORMS", ONLY_ZOOKEEPER: "CONFORMS"}),
        (started(**IN_ZOOKEEPER_MODE, flag="true", ready=False), {READY: "CONFORMS"}),
        (started("node-1", ready=True, role="combined"), {ONLY_ZOOKEEPER: "CONFORMS"}),
        (started(**CONTROLLER, flag="true", ready=False, kafka="3.4.1"), {ONLY_ZOOKEEPER: "CONFORMS"}),
        (started(**IN_ZOOKEEPER_MODE, ready=False, kafka="3.3.2"), {READY: "CONFORMS"}),
    ],
)
def test_what_each_kind_of_node_has_to_answer_conforms(run: History, expected: dict[str, str]) -> None:
    """Conforming; what a release or a kind of node cannot answer is not judged."""
    assert looked_at(check.judge(run)) == expected


@pytest.mark.parametrize(
    ("run", "row", "observed"),
    [
        (
            started(**CONTROLLER, flag="true", ready=False),
            READY,
            "controller-3000 with the migration enabled does not report",
        ),
        (started(**CONTROLLER, flag="false", ready=True), READY, "controller-3000 reports that it is ready"),
        (started(**IN_KRAFT_MODE, ready=True), READY, "broker-0 in KRaft mode reports"),
        (started(**CONTROLLER, ready=False, requests={"6": [0, 8]}), ONLY_ZOOKEEPER, "controller-3000 accepts it"),
        (started(**IN_KRAFT_MODE, ready=False, requests=CONTROL), ONLY_ZOOKEEPER, "broker-0 in KRaft mode accepts it"),
        (started(**{**IN_ZOOKEEPER_MODE, "requests": OTHERS}, ready=False), OLD, "accepts none"),
        (started(**{**IN_ZOOKEEPER_MODE, "requests": {**CONTROL, "5": [1, 4]}}, ready=False), OLD, "versions 1 to 4"),
        (started(**{**IN_ZOOKEEPER_MODE, "requests": {**CONTROL, "6": [0, 6]}}, ready=False), OLD, "versions 0 to 6"),
    ],
)
def test_any_other_answer_violates(run: History, row: str, observed: str) -> None:
    """Violating, and not known."""
    verdict = check.judge(run)
    assert outcomes(verdict)[row] == "VIOLATES"
    assert observed in verdict.violations[0].observed
    assert named(run, verdict) == ()


def test_a_migrating_broker_that_reports_readiness_is_a_known_deviation() -> None:
    """In ZooKeeper mode."""
    run = started(**IN_ZOOKEEPER_MODE, flag="true", ready=True)
    assert named(run, check.judge(run)) == ("readiness-reported-by-brokers",)


def test_nodes_that_came_with_a_checkpoint_migrate_unless_they_run_in_kraft_mode() -> None:
    """Nobody saw how they were configured."""
    for kind, ready in ((CONTROLLER, True), (IN_KRAFT_MODE, False)):
        run = started(**kind, ready=ready)
        run = replace(run, header=replace(run.header, extra={"checkpoint": {"log_offset": 9}}))
        assert looked_at(check.judge(run))[READY] == "CONFORMS"


def test_without_an_answer_of_a_node_whose_start_was_seen_nothing_is_proved() -> None:
    """Vacuous."""
    answer = event(EventKind.NODE_REQUESTS, 3, "broker-0", requests=CONTROL, is_ready_to_migrate=True)
    assert check.judge(history(events=[answer])).is_vacuous
    assert check.judge(history()).is_vacuous
