"""KIP-778: each level of metadata.version in turn, what it allows, and how it is lowered."""

import pytest

from pytest_kmigrate.documents.kip_778.levels import (
    FIRST_LEVEL_WITH_DIRECTORIES,
    FIRST_SCRAM_LEVEL,
    METADATA_VERSION,
    gated,
    highest_fetch,
    level_changes,
    lossless_down_to,
    made_twice,
    of_type,
    registered_with_directories,
    without_snapshot_before,
    written_too_early,
)
from pytest_kmigrate.model.image import FEATURE_LEVEL
from pytest_kmigrate.wire.features import SAFE_DOWNGRADE

NODES = ("controller-3000", "broker-0", "broker-1")
FAMILIES = ("topics", "partitions", "configs", "scram")


@pytest.mark.since("3.4.0")  # of a level above the one that the disks are formatted for
@pytest.mark.scene
@pytest.mark.topology("kraft-broker2-controller1-low", brokers=2, controllers=1)
class TestLevels:
    """One small cluster, formatted at a low level; the tests raise it and lower it, and never restart a node."""

    @pytest.mark.sample
    @pytest.mark.requirement(
        "K778-FLAG-gates-rpcs",
        "K778-FLAG-iv-granularity",
        "K778-UPG-takes-effect-online",
        "K778-UPG-many-steps",
        "K778-APIV-finalized-updates",
        "K778-DYN-interbroker-renegotiate",
        "K778-DYN-client-reconnect",
        "K778-DYN-hold-back-rpc",
        "K778-IBP-ignored",
        "K778-NG-no-transitional",
        "K778-MVC-snapshot-before",
    )
    def test_every_level_in_turn(self, walk, features, snapshots_of, log_of, top_level, held_connection, claim, verify):
        """The level is raised by one again and again; a topic is created and credentials are asked for at each."""
        began = features("broker-0").finalized[METADATA_VERSION][1]
        with held_connection("broker-0") as ask:
            ask()
            seen = walk()
            held = ask().finalized[METADATA_VERSION][1]
        set_ = [each.level for each in seen if each.answer == "NONE"]
        late = [each.level for each in seen if {level for level, _ in each.in_force.values()} != {each.level}]
        same = [
            (node, each.level)
            for each in seen
            for node, (_, epoch) in each.in_force.items()
            if epoch <= each.before[node][1]
        ]
        early = [(each.level, sorted(each.fetches)) for each in seen if max(each.fetches) > highest_fetch(each.level)]
        stale = [each.level for each in seen if highest_fetch(each.level) not in each.fetches]
        claim(
            "levels that were set",
            *(set_, list(range(began + 1, top_level() + 1))),
            *("K778-FLAG-iv-granularity", "K778-UPG-many-steps"),
        )
        claim("levels that were not in force on every node within 10 s", late, [], "K778-UPG-takes-effect-online")
        claim("nodes whose epoch of features did not rise with a level", same, [], "K778-APIV-finalized-updates")
        claim("fetches of followers that the level did not allow", early, [], "K778-FLAG-gates-rpcs")
        claim(
            "levels at which followers went on with an older fetch",
            *(stale, [], "K778-DYN-interbroker-renegotiate", "K778-IBP-ignored"),
        )
        claim("levels at which SCRAM was answered as it should not", wrong_scram(seen), [], "K778-DYN-hold-back-rpc")
        claim(
            "the level that a connection says which was held", held, "the broker closed it", "K778-DYN-client-reconnect"
        )
        ranges = [node for node in NODES if len(set(features(node).finalized[METADATA_VERSION])) != 1]
        claim("nodes whose finalized minimum is not the level", ranges, [], "K778-NG-no-transitional")
        bare = without_snapshot_before(log_of("controller-3000"), snapshots_of("controller-3000"))
        claim("whether a snapshot was written before each level", *(bare == [], True, "K778-MVC-snapshot-before"))
        verify()

    @pytest.mark.requirement(
        "K778-FLAG-gates-records",
        "K778-UPG-record-written",
        "K778-REC-featurelevel-schema",
        "K778-NG-no-duplicate-records",
        "K778-UPG-takes-effect-online",
    )
    def test_what_the_log_holds_of_the_levels(self, walk, top_level, log_of, expect, claim, verify):
        """Each node has the same levels in its log, and under each only what it allows."""
        walk()
        logs = {node: log_of(node) for node in NODES}
        of_broker = logs["broker-0"]
        levels = {node: level_changes(records) for node, records in logs.items()}
        all_in_turn = {node: list(range(7, top_level() + 1)) for node in NODES}
        claim("the levels that each log records", levels, all_in_turn, "K778-UPG-record-written")
        shapes = {(each["version"], *sorted(each["data"])) for each in of_type(of_broker, FEATURE_LEVEL)}
        claim(
            "the version and fields of records of levels",
            *(shapes, {(0, "featureLevel", "name")}, "K778-REC-featurelevel-schema"),
        )
        claim(
            "records that the level in force did not allow, and whether others needed a level",
            *((written_too_early(of_broker), gated(of_broker) > 0), ([], True), "K778-FLAG-gates-records"),
        )
        claim("topics and partitions that have two records", made_twice(of_broker), [], "K778-NG-no-duplicate-records")
        fenced = of_type(of_broker, "REGISTER_BROKER_RECORD", fenced=True)
        claim(
            "brokers that were registered as fenced, once each",
            *(sorted(each["data"]["brokerId"] for each in fenced), [0, 1], "K778-UPG-takes-effect-online"),
        )
        expect(
            "the brokers that registered their log directories as the level rose",
            lambda: registered_with_directories(log_of("broker-0")),
            [0, 1] if top_level() >= FIRST_LEVEL_WITH_DIRECTORIES else [],
            within_s=10,
            requirements=["K778-UPG-takes-effect-online"],
        )
        verify()

    @pytest.mark.since("3.7.0")  # before, no level lies below the highest one that loses nothing
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
        self, cluster_metadata, top_level, set_level, levels, log_of, snapshots_of, expect, claim, verify
    ):
        """Asked at the highest level for every lower one, and done for the lowest that loses nothing."""
        top = top_level()
        set_level(top)
        lowest = lossless_down_to(top)
        answers = {level: set_level(level, SAFE_DOWNGRADE, dry_run=True).first_error for level in range(7, top)}
        claim(
            "the lower levels that would be accepted",
            *([level for level, answer in answers.items() if answer == "NONE"], list(range(lowest, top))),
            *("K778-DWN-lossy-refused", "K778-DWN-per-level-flag"),
        )
        lossy = set_level(lowest - 1, SAFE_DOWNGRADE).first_error
        claim("the answer to a lossy downgrade", lossy, "UNSAFE_FEATURE_DOWNGRADE", "K778-RPC-unsafe-error")
        before, kept = cluster_metadata.seen("log"), len(log_of("controller-3000"))
        had = {each: set(snapshots_of(each)) for each in NODES}
        lossless = set_level(lowest, SAFE_DOWNGRADE).first_error
        claim("the answer to a lossless downgrade", lossless, "NONE", "K778-DWN-lossless-allowed")
        expect(
            "the levels in force",
            *(levels, dict.fromkeys(NODES, lowest)),
            within_s=10,
            requirements=["K778-DWN-lossless-allowed"],
        )
        after = cluster_metadata.seen("log")
        changed = [family for family in FAMILIES if getattr(before, family) != getattr(after, family)]
        written = {each["type"] for each in log_of("controller-3000")[kept:]} - {"NO_OP_RECORD"}
        claim(
            "families of metadata that changed with it",
            *(changed, [], "K778-DWN-lossless-allowed", "K778-DWN-lossless-no-rewrite"),
        )
        claim("what was written for it", written, {FEATURE_LEVEL}, "K778-DWN-lossless-no-rewrite")
        expect(
            "whether controller 3000 wrote a snapshot at the change",
            *(lambda: set(snapshots_of("controller-3000")) > had["controller-3000"], True),
            within_s=10,
            requirements=["K778-DWN-controller-snapshot"],
        )
        of_broker = set(snapshots_of("broker-0")) > had["broker-0"]
        claim("whether broker 0 wrote a snapshot at the change", *(of_broker, True, "K778-DWN-broker-snapshot"))
        verify()


def wrong_scram(seen):
    """The levels at which credentials were taken and cannot be recorded, or refused and could be, and the answers."""
    right = {each.level: "NONE" if each.level >= FIRST_SCRAM_LEVEL else "UNSUPPORTED_VERSION" for each in seen}
    return [(each.level, each.scram) for each in seen if each.scram != right[each.level]]
