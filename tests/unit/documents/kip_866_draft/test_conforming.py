"""The checks of the draft: a migration that follows it conforms in every row, and each planted defect is seen."""

import json
from typing import Any

import pytest

from pytest_kmigrate.documents import document
from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import fault, history
from tests.unit.documents.kip_866.checks.nodes import broker
from tests.unit.documents.kip_866_draft import conforming as draft
from tests.unit.documents.kip_866_draft.conforming import FIRST, SECOND, migration, reporting

CHECKS = document("kip-866-draft").checks
ROWS = {row.removeprefix("K866D-") for each in CHECKS for row in each.requirements}
FIELD_TAKEN = json.dumps({"version": 2, "brokerid": 3001, "timestamp": "1"})
TAMPERED = fault(draft.TAMPERED_S * 1000, "tamper(/controller)")
TAKEN_AWAY = draft.znode(draft.TAMPERED_S * 1000 + 500, "/controller", FIELD_TAKEN)
GOES_ON = [TAKEN_AWAY, draft.written(145, 200, 3001)]
DENIED = json.dumps({"version": 2, "brokerid": 3000, "timestamp": "1", "isKRaft": False})
RAISED = json.dumps({"version": 2, "brokerid": 3001, "timestamp": "1", "kraftControllerEpoch": 1000})


def outcomes(run: History) -> dict[str, set[Outcome]]:
    """By row, what is said of it, where anything is."""
    found: dict[str, set[Outcome]] = {}
    for check in CHECKS:
        about_each = check.judge(run).about if check.in_every_run is None or check.in_every_run(run) else ()
        for about in about_each:
            if not about.is_vacuous:
                found.setdefault(about.requirement.removeprefix("K866D-"), set()).add(about.outcome)
    return found


def test_a_migration_by_the_draft_conforms_in_every_row() -> None:
    """Each row has evidence of its own; what brokers learn from a request is not seen at a stub."""
    found = outcomes(migration(events=TAMPERED, places=[*draft.znodes(), *GOES_ON]))
    assert {row: said for row, said in found.items() if said != {Outcome.CONFORMS}} == {}
    assert ROWS - found.keys() == {"FWD-umr-actual-controller"}


@pytest.mark.parametrize("check", CHECKS, ids=lambda each: each.name)
def test_without_a_migration_nothing_is_decided(check: AnyChecker) -> None:
    """Vacuous: brokers stand in ZooKeeper mode, and nothing else was seen."""
    run = history(events=[*broker(0), *broker(0, 2), draft.phase(0, "ZOOKEEPER")])
    assert check.judge(run).outcome is Outcome.INCONCLUSIVE


def test_a_field_of_the_draft_in_a_znode_of_the_final_document_shows_that_nothing_depends_on_it() -> None:
    """Kafka goes on where a test has isKRaft say false; what becomes of the next tampering is no answer."""
    final = [
        draft.claimed(draft.TAKEN_S, 3000, 2, isKRaft=None, kraftControllerEpoch=1),
        draft.znode(50_500, "/controller", DENIED),
        draft.written(62, 100),
        draft.claimed(70, 3000, 3, isKRaft=None, kraftControllerEpoch=2),
        draft.znode(85_500, "/controller", RAISED.replace("3001", "3000")),
    ]
    put = [*fault(50_000, "tamper(/controller)"), *fault(85_000, "tamper(/controller)")]
    assert outcomes(migration(events=put, places=final))[INFORMATIONAL] == {Outcome.CONFORMS}
    assert outcomes(migration(events=put, places=final[:2]))[INFORMATIONAL] == {Outcome.VIOLATES}
    assert INFORMATIONAL not in outcomes(migration(events=put[-2:], places=[final[0], *final[2:]]))


INFORMATIONAL = "ZNODE-controller-informational"
NUMBERS = "METRIC-ZkMigrationState"
COUNT = "METRIC-MigrationIneligibleBrokerCount"
CONTROLLERS = "METRIC-MigrationIneligibleControllerCount"
ISKRAFT, VALUES, ONLY = "ZNODE-controller-isKRaft", "RPC-ApiVersions-values", "RPC-KRaftControllerId-only-kraft"


DEFECTS = [
    ("0 before the copy", migration(changed=reporting(FIRST, "ZkMigrationState", 0, 10, 40)), {NUMBERS}),
    (
        "2 before the copy",
        migration(changed=reporting(FIRST, "ZkMigrationState", 2, 10, 40)),
        {"STATE-MigratingZkData"},
    ),
    (
        "no state of the copy",
        migration(changed=reporting(FIRST, "ZkMigrationState", 1, 40, 60)),
        {"STATE-MigratingZkData"},
    ),
    (
        "1 in dual write",
        migration(changed=reporting(FIRST, "ZkMigrationState", 1, 60, 90)),
        {"STATE-DualWriteMetadata"},
    ),
    ("3 at the end", migration(changed=reporting(SECOND, "ZkMigrationState", 3, 150)), {"STATE-MigrationFinalized"}),
    ("no state", migration(changed=reporting(FIRST, "ZkMigrationState", None, 10, 40)), {"STATE-MigrationIneligible"}),
    ("written at the end", migration(places=[*draft.znodes(), draft.written(170, 300)]), {"STATE-MigrationFinalized"}),
    (
        "4 of the ZooKeeper controller",
        migration(changed=reporting("broker-0", "ZkMigrationState", 4, 0, 40)),
        {"METRIC-ZkMigrationState-from-zk-controller"},
    ),
    (
        "1 of another broker",
        migration(changed=reporting("broker-1", "ZkMigrationState", 1)),
        {"METRIC-ZkMigrationState-from-zk-controller"},
    ),
    ("no count of brokers", migration(changed=reporting(FIRST, "MigrationIneligibleBrokerCount", None)), {COUNT}),
    ("brokers counted at 0", migration(changed=reporting(FIRST, "MigrationIneligibleBrokerCount", 0, 10, 20)), {COUNT}),
    (
        "brokers counted later",
        migration(changed=reporting(FIRST, "MigrationIneligibleBrokerCount", 1, 60)),
        {f"{COUNT}-zero"},
    ),
    (
        "controllers not counted",
        migration(changed=reporting(FIRST, "MigrationIneligibleControllerCount", 0, 10, 30)),
        {CONTROLLERS},
    ),
    (
        "controllers counted later",
        migration(changed=reporting(SECOND, "MigrationIneligibleControllerCount", 2, 100)),
        {f"{CONTROLLERS}-zero"},
    ),
    (
        "a lag that stands",
        migration(changed=reporting(FIRST, "ZooKeeperWriteBehindLag", 50, 70, 90)),
        {"METRIC-ZooKeeperWriteBehindLag"},
    ),
    (
        "no lag",
        migration(changed=reporting(FIRST, "ZooKeeperWriteBehindLag", None)),
        {"METRIC-ZooKeeperWriteBehindLag"},
    ),
    (
        "a time that grows by itself",
        migration(changed=reporting(FIRST, "ZooKeeperBlockingKRaftMillis", 9, 70, 90)),
        {"METRIC-ZooKeeperBlockingKRaftMillis"},
    ),
    (
        "a record of another name",
        migration(hybrid=[draft.state_record(20, 0, "ZK_MIGRATION_STATE_RECORD")]),
        {"REC-ZkMigrationRecord"},
    ),
    ("a record with text", migration(hybrid=[draft.state_record(20, "0")]), {"REC-ZkMigrationRecord", "REC-values"}),
    ("no record", migration(hybrid=[draft.registered(5)]), {"REC-ZkMigrationRecord", "REC-two-records"}),
    ("values of the final one", migration(hybrid=[draft.state_record(20, 1)]), {"REC-values"}),
    (
        "one more record at a failover",
        migration(finalized=[draft.STARTED, draft.STARTED, draft.FINISHED]),
        {"REC-two-records"},
    ),
    ("another label", migration(hybrid=[draft.registered(5, "isMigratingZkBroker")]), {"REC-RegisterBroker-v2"}),
    (
        "an epoch in the znode",
        migration(places=[draft.claimed(45, 3000, 2, isKRaft=None, kraftControllerEpoch=1), *draft.znodes()[1:]]),
        {ISKRAFT},
    ),
    ("isKRaft as text", migration(places=[draft.claimed(45, 3000, 2, isKRaft="true"), *draft.znodes()[1:]]), {ISKRAFT}),
    (
        "the former id",
        migration(places=[each for each in draft.znodes() if "3001" not in str(each.data)]),
        {"ZNODE-controller-id-only"},
    ),
    (
        "nothing written without isKRaft",
        migration(events=TAMPERED, places=[*draft.znodes(), TAKEN_AWAY]),
        {"ZNODE-controller-informational"},
    ),
    (
        "no claim without isKRaft",
        migration(
            events=fault(85_000, "tamper(/controller)"),
            places=[*draft.znodes()[:2], draft.znode(85_500, "/controller", FIELD_TAKEN.replace("3001", "3000"))],
        ),
        {"ZNODE-controller-informational"},
    ),
    (
        "no claim while isKRaft is false",
        migration(
            events=fault(85_000, "tamper(/controller)"),
            places=[*draft.znodes()[:2], draft.znode(85_500, "/controller", DENIED)],
        ),
        {"ZNODE-controller-informational"},
    ),
    (
        "a broker that is ready",
        migration(events=[draft.answered(22, "broker-0", 1)]),
        {"RPC-ApiVersions-controllers-only"},
    ),
    ("the field in version 3", migration(events=[draft.answered(31, FIRST, 1, 1)]), {"RPC-ApiVersions-v4"}),
    ("no field in version 4", migration(events=[draft.answered(31, FIRST, None)]), {"RPC-ApiVersions-v4", VALUES}),
    (
        "no version 4",
        migration(events=[draft.answered(31, FIRST, None, readiness={"3": None})]),
        {"RPC-ApiVersions-v4", VALUES},
    ),
    ("1 without the flag", migration(events=[draft.answered(11, SECOND, 1)]), {VALUES}),
    ("none without the flag", migration(events=[draft.answered(11, SECOND, None)]), {VALUES}),
    ("an undefined number", migration(events=[draft.answered(31, FIRST, 2)]), {VALUES}),
    ("one kind is missing", migration(requested=draft.requests()[:3]), set[str]()),
    ("an id of ZooKeeper's controller", migration(events=[draft.received(31, "UpdateMetadata", 0, 0)]), {ONLY}),
    ("a stale id", migration(events=[draft.received(115, "LeaderAndIsr", 3000)]), {ONLY}),
    (
        "the id in ControllerId",
        migration(events=[draft.received(75, "StopReplica", 3000, 3000)]),
        {"RPC-ControllerId-minus-one"},
    ),
    *(
        (
            f"a boolean in {request}",
            migration(events=[draft.received(75, request, None, 3000, is_kraft=True)]),
            {f"RPC-{request}-v{version}", ONLY, "RPC-ControllerId-minus-one", "DW-rpcs"},
        )
        for request, version in draft.VERSIONS.items()
    ),
    ("not ready", migration(events=[draft.registering(36, 0)]), {"REG-features"}),
    ("a boolean", migration(events=[draft.registering(36, None, is_migrating=True)]), {"REG-features"}),
    ("a range of levels", migration(events=[draft.registering(36, 1, (1, 20))]), {"REG-features"}),
    (
        "brokers cannot learn",
        migration(events=[draft.received(75, "UpdateMetadata", None, 3000, is_kraft=True)]),
        {"FWD-umr-actual-controller"},
    ),
]


@pytest.mark.parametrize(("run", "rows"), [each[1:] for each in DEFECTS], ids=[each[0] for each in DEFECTS])
def test_a_planted_defect_is_seen_by_its_row(run: History, rows: set[str]) -> None:
    """Each of these rows violates."""
    found = outcomes(run)
    assert rows <= {row for row, said in found.items() if Outcome.VIOLATES in said}


def test_each_row_was_seen_to_fail() -> None:
    """No row is without a planted defect."""
    assert ROWS - set().union(*(rows for _, _, rows in DEFECTS)) == set()


@pytest.mark.parametrize(("fault_name", "is_seen"), [("hold(a controller at x)", False), ("kill(broker-0)", True)])
def test_a_claim_may_be_held_after_the_fault_was_healed(fault_name: str, *, is_seen: bool) -> None:
    """A thread at a crash point goes on when its time is over; of another fault that is over nothing is left."""
    put = [*fault(80_000, fault_name), draft.event(EventKind.FAULT_HEALED, 88_000, fault_id=fault_name)]
    places = [each for each in draft.znodes() if "3001" not in str(each.data)]
    found = outcomes(migration(events=put, places=places))
    assert (Outcome.VIOLATES in found.get("ZNODE-controller-id-only", ())) is is_seen


def test_without_all_three_kinds_of_requests_nothing_follows() -> None:
    """Vacuous."""
    assert "DW-rpcs" not in outcomes(migration(requested=draft.requests()[:3]))


def test_what_does_not_exist_cannot_be_zero() -> None:
    """Not applicable: the row of the metric violates already."""
    absent = {"MigrationIneligibleBrokerCount": None}
    run = migration(changed=lambda each: draft.Sample(each.at_ns, each.node, {**each.values, **absent}))
    assert outcomes(run)[f"{COUNT}-zero"] == {Outcome.NOT_APPLICABLE}


def test_a_cluster_born_in_kraft_mode_has_no_state_of_the_draft() -> None:
    """Whatever it reports."""
    run = migration(without=lambda each: each.node == "zookeeper-1")
    assert not {row for row in outcomes(run) if row.startswith("STATE-")}


def test_a_broker_of_an_older_release_takes_no_part() -> None:
    """Vacuous: it cannot know of a migration."""
    started = draft.event(EventKind.NODE_STARTED, 1, "broker-0", role="broker", mode="zookeeper", kafka="3.3.2")
    run = migration(
        without=lambda each: each.node == "broker-0",
        events=[started],
        changed=reporting("broker-0", "ZkMigrationState", None),
    )
    assert "METRIC-ZkMigrationState-from-zk-controller" not in outcomes(run)


def test_folders_of_before_hold_whether_a_broker_sends_the_field() -> None:
    """Without the number of each version, the rest is vacuous."""

    def is_answer(each: Any) -> bool:
        return each.kind is EventKind.NODE_REQUESTS

    old = draft.answered(22, "broker-0", None, 1, readiness=None)
    found = outcomes(migration(without=is_answer, events=[old]))
    assert found["RPC-ApiVersions-controllers-only"] == {Outcome.VIOLATES}
    assert "RPC-ApiVersions-v4" not in found
