"""KIP-778: each level of metadata.version in turn, what it allows, and how it is lowered."""

import pytest

from pytest_kmigrate.documents.kip_778.levels import (
    FIRST_SCRAM_LEVEL,
    LEVEL_RECORD,
    METADATA_VERSION,
    gated,
    highest_fetch,
    level_changes,
    lossless_down_to,
    made_twice,
    of_type,
    written_too_early,
)
from pytest_kmigrate.wire.features import SAFE_DOWNGRADE

NODES = ("controller-3000", "broker-0", "broker-1")


@pytest.mark.scene
@pytest.mark.topology("kraft-broker2-controller1-low")
class TestLevels:
    """One small cluster, formatted at a low level; the tests raise it and lower it, and never restart a node."""

    @pytest.mark.sample
    @pytest.mark.requirement(
        "K778-FLAG-gates-records",
        "K778-FLAG-gates-rpcs",
        "K778-FLAG-iv-granularity",
        "K778-UPG-record-written",
        "K778-UPG-takes-effect-online",
        "K778-UPG-many-steps",
        "K778-APIV-finalized-updates",
        "K778-REC-featurelevel-schema",
        "K778-DYN-interbroker-renegotiate",
        "K778-DYN-client-reconnect",
        "K778-DYN-hold-back-rpc",
        "K778-IBP-ignored",
        "K778-NG-no-transitional",
        "K778-NG-no-duplicate-records",
        "K778-MVC-snapshot-before",
    )
    def test_every_level_in_turn(
        self, features, walk, log_of, snapshots_of, top_level, held_connection, expect, verify
    ):
        """The level is raised by one again and again; a topic is created and credentials are asked for at each."""
        began = features("broker-0").finalized[METADATA_VERSION][1]
        raised = list(range(began + 1, top_level() + 1))
        with held_connection("broker-0") as ask:
            ask()
            seen = walk()
            expect(
                "the level that a connection says which was held",
                lambda: ask().finalized[METADATA_VERSION][1],
                equals="the broker closed the connection",
                within_s=0,
                requirements=["K778-DYN-client-reconnect"],
            )
        expect(
            "levels that were set",
            lambda: [each.level for each in seen if each.answer == "NONE"],
            equals=raised,
            requirements=["K778-FLAG-iv-granularity", "K778-UPG-many-steps"],
        )
        expect(
            "levels that were not in force on every node within 10 s",
            lambda: [each.level for each in seen if {level for level, _ in each.in_force.values()} != {each.level}],
            equals=[],
            requirements=["K778-UPG-takes-effect-online", "K778-APIV-finalized-updates"],
        )
        expect(
            "nodes whose epoch of features did not rise with a level",
            lambda: [
                (node, each.level)
                for each in seen
                for node, (_, epoch) in each.in_force.items()
                if epoch <= each.before[node][1]
            ],
            equals=[],
            requirements=["K778-APIV-finalized-updates"],
        )
        expect(
            "fetches of followers that the level did not allow",
            lambda: [
                (each.level, sorted(each.fetches)) for each in seen if max(each.fetches) > highest_fetch(each.level)
            ],
            equals=[],
            requirements=["K778-FLAG-gates-rpcs"],
        )
        expect(
            "levels at which followers went on with an older fetch",
            lambda: [each.level for each in seen if highest_fetch(each.level) not in each.fetches],
            equals=[],
            requirements=["K778-DYN-interbroker-renegotiate", "K778-IBP-ignored"],
        )
        expect(
            "levels at which SCRAM credentials were answered otherwise than they should",
            lambda: [
                (each.level, each.scram)
                for each in seen
                if each.scram != ("NONE" if each.level >= FIRST_SCRAM_LEVEL else "UNSUPPORTED_VERSION")
            ],
            equals=[],
            requirements=["K778-DYN-hold-back-rpc"],
        )
        records = {node: log_of(node) for node in NODES}
        expect(
            "the levels that each log records last",
            lambda: {node: level_changes(records[node])[-len(raised) :] for node in NODES},
            equals=dict.fromkeys(NODES, raised),
            requirements=["K778-UPG-record-written"],
        )
        expect(
            "the fields and versions of records of levels",
            lambda: {(each["version"], *sorted(each["data"])) for each in of_type(records["broker-0"], LEVEL_RECORD)},
            equals={(0, "featureLevel", "name")},
            requirements=["K778-REC-featurelevel-schema"],
        )
        expect(
            "records that the level in force did not allow, and whether others needed a level",
            lambda: (written_too_early(records["broker-0"]), gated(records["broker-0"]) > 0),
            equals=([], True),
            requirements=["K778-FLAG-gates-records"],
        )
        expect(
            "topics and partitions that have two records",
            lambda: made_twice(records["broker-0"]),
            equals=[],
            requirements=["K778-NG-no-duplicate-records"],
        )
        expect(
            "brokers that were registered as fenced, each once",
            lambda: sorted(
                each["data"]["brokerId"] for each in of_type(records["broker-0"], "REGISTER_BROKER_RECORD", fenced=True)
            ),
            equals=[0, 1],
            requirements=["K778-UPG-takes-effect-online"],
        )
        expect(
            "nodes whose finalized minimum is not the level",
            lambda: [node for node in NODES if len(set(features(node).finalized[METADATA_VERSION])) != 1],
            equals=[],
            requirements=["K778-NG-no-transitional"],
        )
        expect(
            "snapshots of controller 3000, one before each change of the level",
            lambda: len(snapshots_of("controller-3000")) - 1 >= len(raised),
            equals=True,
            within_s=0,
            requirements=["K778-MVC-snapshot-before"],
        )
        verify()

    @pytest.mark.requirement(
        "K778-DWN-lossy-refused",
        "K778-DWN-per-level-flag",
        "K778-RPC-unsafe-error",
        "K778-DWN-lossless-allowed",
        "K778-DWN-lossless-no-rewrite",
        "K778-DWN-controller-snapshot",
        "K778-DWN-broker-snapshot",
    )
    def test_a_level_is_lowered_where_nothing_can_be_lost(
        self, cluster_metadata, features, set_level, levels, log_of, snapshots_of, expect, verify
    ):
        """Asked for every lower level, and done for the lowest one that loses nothing."""
        top = features("controller-3000").finalized[METADATA_VERSION][1]
        lowest = lossless_down_to(top)
        expect(
            "the lower levels that would be accepted",
            lambda: [
                level for level in range(7, top) if set_level(level, SAFE_DOWNGRADE, dry_run=True).first_error == "NONE"
            ],
            equals=list(range(lowest, top)),
            within_s=0,
            requirements=["K778-DWN-lossy-refused", "K778-DWN-per-level-flag"],
        )
        expect(
            "the answer to a lossy downgrade",
            lambda: set_level(lowest - 1, SAFE_DOWNGRADE).first_error,
            equals="UNSAFE_FEATURE_DOWNGRADE",
            within_s=0,
            requirements=["K778-RPC-unsafe-error"],
        )
        before, kept = cluster_metadata.seen("log"), len(log_of("controller-3000"))
        expect(
            "the answer to a lossless downgrade",
            lambda: set_level(lowest, SAFE_DOWNGRADE).first_error,
            equals="NONE",
            within_s=0,
            requirements=["K778-DWN-lossless-allowed"],
        )
        expect(
            "the levels in force",
            levels,
            equals=dict.fromkeys(NODES, lowest),
            within_s=10,
            requirements=["K778-DWN-lossless-allowed"],
        )
        after = cluster_metadata.seen("log")
        expect(
            "topics, partitions and configs that changed",
            lambda: [
                family
                for family in ("topics", "partitions", "configs", "scram")
                if getattr(before, family) != getattr(after, family)
            ],
            equals=[],
            requirements=["K778-DWN-lossless-allowed", "K778-DWN-lossless-no-rewrite"],
        )
        expect(
            "what was written for it, besides nothing",
            lambda: {each["type"] for each in log_of("controller-3000")[kept:]} - {"NO_OP_RECORD"},
            equals={LEVEL_RECORD},
            within_s=0,
            requirements=["K778-DWN-lossless-no-rewrite"],
        )
        expect(
            "whether controller 3000 wrote a snapshot at the change",
            lambda: len(snapshots_of("controller-3000")) > 1,
            equals=True,
            within_s=10,
            requirements=["K778-DWN-controller-snapshot"],
        )
        expect(
            "whether broker 0 wrote a snapshot at the change",
            lambda: len(snapshots_of("broker-0")) > 1,
            equals=True,
            within_s=0,
            requirements=["K778-DWN-broker-snapshot"],
        )
        verify()
