"""KIP-778: what nodes say of metadata.version, what a request may ask, and what the tool does."""

import pytest

from pytest_kmigrate.documents.kip_778.levels import LEVEL_RECORD, METADATA_VERSION, described_level, level_changes
from pytest_kmigrate.wire.features import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE

NODES = ("controller-3000", "broker-0", "broker-1")
UPDATE_FEATURES = 57
REFUSED = "INVALID_UPDATE_VERSION"
WRONG_WAYS = ((("downgrade",), "3.6"), (("upgrade",), "3.3-IV3"))


@pytest.mark.scene
@pytest.mark.topology("kraft-broker2-controller1-low")
class TestRequests:
    """One small cluster, formatted at a low level, which only the last test changes."""

    @pytest.mark.requirement(
        "K778-FLAG-exists",
        "K778-FLAG-no-assume-highest",
        "K778-APIV-finalized-shape",
        "K778-FIN-no-minimum",
        "K778-RPC-controller-listener",
        "K778-RPC-valid-versions",
        "K778-RPC-allowdowngrade-removed",
        "K778-INI-bootstrap-record",
    )
    def test_what_each_node_says(self, features, log_of, expect, verify):
        """The level that the disks were formatted with is in force, though each node supports higher ones."""
        supported = {node: features(node).supported[METADATA_VERSION] for node in NODES}
        expect(
            "nodes that support no level above 7",
            lambda: [node for node, (_, highest) in supported.items() if highest <= 7],
            equals=[],
            requirements=["K778-FLAG-exists"],
        )
        expect(
            "the level that each node takes for finalized",
            lambda: {node: features(node).finalized[METADATA_VERSION][1] for node in NODES},
            equals=dict.fromkeys(NODES, 7),
            requirements=["K778-FLAG-exists", "K778-FLAG-no-assume-highest"],
        )
        expect(
            "nodes whose finalized minimum is not the level",
            lambda: [node for node in NODES if len(set(features(node).finalized[METADATA_VERSION])) != 1],
            equals=[],
            requirements=["K778-FIN-no-minimum"],
        )
        expect(
            "the minimum level in version 4 of the answer",
            lambda: features("broker-0", version=4).finalized[METADATA_VERSION][0],
            equals=None,
            within_s=0,
            requirements=["K778-APIV-finalized-shape"],
        )
        versions = features("controller-3000").requests[UPDATE_FEATURES]
        expect(
            "whether the controller's listener takes version 1 of UpdateFeatures",
            lambda: versions[0] <= 1 <= versions[1],
            equals=True,
            requirements=["K778-RPC-controller-listener", "K778-RPC-valid-versions"],
        )
        expect(
            "the lowest version of UpdateFeatures",
            lambda: versions[0],
            equals=1,
            within_s=0,
            requirements=["K778-RPC-allowdowngrade-removed"],
        )
        records = log_of("controller-3000")
        expect(
            "the levels that the log records, and the type of its first record of data",
            lambda: (level_changes(records), records[0]["type"]),
            equals=([7], LEVEL_RECORD),
            requirements=["K778-INI-bootstrap-record"],
        )
        verify()

    @pytest.mark.requirement(
        "K778-RPC-downgrade-type-field",
        "K778-RPC-dryrun-field",
        "K778-RPC-level-below-one",
        "K778-RPC-per-feature-results",
        "K778-RPC-forwarded",
        "K778-UPG-validate-local",
        "K778-DWN-floor",
        "K778-CMP-broker-no-range",
    )
    def test_what_a_request_may_ask(self, set_level, top_level, log_of, registered_without_a_range, expect, verify):
        """Asked without effect: the same answers as of a real change, and nothing is written."""
        expect(
            "the answers to an upgrade of each type, 0 and 1 and 7",
            lambda: [set_level(8, kind, dry_run=True).first_error for kind in (0, 1, 7)],
            equals=["NONE", REFUSED, REFUSED],
            within_s=0,
            requirements=["K778-RPC-downgrade-type-field"],
        )
        expect(
            "the answers to levels 0 and -1, by each type",
            lambda: {set_level(level, kind, dry_run=True).first_error for level in (0, -1) for kind in (1, 2, 3)},
            equals={REFUSED},
            within_s=0,
            requirements=["K778-RPC-level-below-one"],
        )
        expect(
            "the answer to a level above the highest",
            lambda: set_level(top_level() + 1).first_error,
            equals=REFUSED,
            within_s=0,
            requirements=["K778-UPG-validate-local"],
        )
        expect(
            "the answers to a level below 3.3-IV0, by each type",
            lambda: {set_level(3, kind).first_error for kind in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)},
            equals={REFUSED},
            within_s=0,
            requirements=["K778-DWN-floor"],
        )
        both = {METADATA_VERSION: 8, "no.such.feature": 1}
        expect(
            "the answers to a right update and a wrong one in one request",
            lambda: {name: error for name, (error, _) in set_level(both, dry_run=True).of_each.items()},
            equals={METADATA_VERSION: "NONE", "no.such.feature": REFUSED},
            within_s=0,
            requirements=["K778-RPC-per-feature-results"],
        )
        expect(
            "the answer through a broker",
            lambda: set_level(8, UPGRADE, dry_run=True, at="broker-1").first_error,
            equals="NONE",
            within_s=0,
            requirements=["K778-RPC-forwarded", "K778-RPC-dryrun-field"],
        )
        expect(
            "the answer to a broker without a range",
            registered_without_a_range,
            equals="UNSUPPORTED_VERSION",
            within_s=0,
            requirements=["K778-CMP-broker-no-range"],
        )
        expect(
            "the levels that the log records",
            lambda: level_changes(log_of("controller-3000")),
            equals=[7],
            within_s=0,
            requirements=["K778-RPC-dryrun-field", "K778-RPC-level-below-one"],
        )
        verify()

    @pytest.mark.requirement(
        "K778-CLI-subcommands",
        "K778-CLI-bootstrap-required",
        "K778-CLI-describe",
        "K778-CLI-dry-run",
        "K778-CLI-exit-status",
    )
    def test_what_the_tool_offers(self, tool, features_tool, log_of, expect, verify):
        """Kafka-features explains itself, describes the cluster, and fails by its status and in words."""
        expect(
            "sub-commands that the tool does not list, or does not explain",
            lambda: [
                word
                for word in ("describe", "upgrade", "downgrade", "disable")
                if word not in tool("broker-0", "kafka-features", "-h").output
                or "usage:" not in tool("broker-0", "kafka-features", word, "-h").output
            ],
            equals=[],
            within_s=0,
            requirements=["K778-CLI-subcommands"],
        )
        alone = tool("broker-0", "kafka-features", "describe")
        expect(
            "the status without an address, and whether the tool names the option",
            lambda: (alone.status, "--bootstrap-server" in alone.output),
            equals=(1, True),
            requirements=["K778-CLI-bootstrap-required"],
        )
        described = features_tool("describe")
        expect(
            "the status of describe, and the level in its line of metadata.version",
            lambda: (described.status, described_level(described.output)),
            equals=(0, "3.3-IV3"),
            requirements=["K778-CLI-describe"],
        )
        could, could_not = (features_tool("upgrade", "--dry-run", "--metadata", to) for to in ("3.5", "3.3-IV0"))
        expect(
            "the statuses of a dry run that could be made and of one that could not, and the levels recorded then",
            lambda: (could.status, could_not.status, level_changes(log_of("controller-3000"))),
            equals=(0, 1, [7]),
            requirements=["K778-CLI-dry-run"],
        )
        failed = features_tool("upgrade", "--metadata", "3.3-IV0")
        expect(
            "the status of an upgrade to a lower level, and whether the output counts the failure",
            lambda: (failed.status, "1 out of 1 operation(s) failed" in failed.output),
            equals=(1, True),
            requirements=["K778-CLI-exit-status"],
        )
        verify()

    @pytest.mark.requirement(
        "K778-CLI-upgrade-metadata",
        "K778-CLI-feature-kv",
        "K778-CLI-downgrade-safe",
        "K778-CLI-downgrade-unsafe",
        "K778-CLI-downgrade-wrong-direction",
        "K778-CLI-disable",
    )
    def test_what_the_tool_does(self, features_tool, levels, expect, verify):
        """Levels are raised by name and by number, lowered where nothing is lost, and never taken away."""

        def done(*words):
            return features_tool(*words).status, levels()["controller-3000"]

        expect(
            "the status and the level after an upgrade to 3.4, to 3.5-IV1, to an unknown release and to a lower one",
            lambda: [done("upgrade", "--metadata", to) for to in ("3.4", "3.5-IV1", "9.9", "3.4")],
            equals=[(0, 8), (0, 10), (1, 10), (1, 10)],
            within_s=0,
            requirements=["K778-CLI-upgrade-metadata"],
        )
        expect(
            "the status and the level after an upgrade to a feature's named level",
            lambda: done("upgrade", "--feature", "metadata.version=3.5-IV2"),
            equals=(0, 11),
            within_s=0,
            requirements=["K778-CLI-feature-kv"],
        )
        expect(
            "the status and the level after a downgrade to 3.4-IV0, and to 3.3-IV3, which loses metadata",
            lambda: [done("downgrade", "--metadata", to) for to in ("3.4-IV0", "3.3-IV3")],
            equals=[(0, 8), (1, 8)],
            within_s=0,
            requirements=["K778-CLI-downgrade-safe"],
        )
        expect(
            "the status and the level after an unsafe downgrade",
            lambda: done("downgrade", "--unsafe", "--metadata", "3.3-IV3"),
            equals=(0, 7),
            within_s=0,
            requirements=["K778-CLI-downgrade-unsafe"],
        )
        expect(
            "the status of a downgrade to a higher level, and of an upgrade to a lower one",
            lambda: [features_tool(*words, "--metadata", to).status for words, to in WRONG_WAYS],
            equals=[1, 1],
            within_s=0,
            requirements=["K778-CLI-downgrade-wrong-direction"],
        )
        expect(
            "the status of disabling metadata.version, safely or not, and whether it is finalized then",
            lambda: [
                (features_tool("disable", "--feature", METADATA_VERSION, *how).status, levels()["broker-0"] is not None)
                for how in ((), ("--unsafe",), ("--dry-run",))
            ],
            equals=[(1, True)] * 3,
            within_s=0,
            requirements=["K778-CLI-disable"],
        )
        verify()
