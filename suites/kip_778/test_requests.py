"""KIP-778: what nodes say of metadata.version, what a request may ask, and what the tool does."""

import pytest

from pytest_kmigrate.documents.kip_778 import java_api
from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION, described_level, level_changes
from pytest_kmigrate.model.image import FEATURE_LEVEL
from pytest_kmigrate.wire.features import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE

NODES = ("controller-3000", "broker-0", "broker-1")
UPDATE_FEATURES = 57
REFUSED = "INVALID_UPDATE_VERSION"
LOWER = ("--feature", f"{METADATA_VERSION}=6")
BOOTSTRAP, ADDRESS = "--bootstrap-server", "K778-CLI-bootstrap-required"
DRY = dict.fromkeys(("upgrade", "downgrade", "disable"), ("--dry-run",))
UNKNOWN = "unrecognized arguments"
SUBCOMMANDS = ("describe", "upgrade", "downgrade", "disable")
DOWNGRADES = (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
OPTIONAL = "group.version"
ALONE: dict[str, tuple[str, ...]] = {
    "describe": (),
    "upgrade": ("--metadata", "3.4"),
    "downgrade": ("--metadata", "3.3"),
    "disable": ("--feature", METADATA_VERSION),
}
"""Sub-commands, each with what it needs besides an address."""
CONSTRUCTORS = {"short, boolean": "deprecated", "short, DowngradeType": "kept"}
BOTH = {METADATA_VERSION: 8, "no.such.feature": 1}


@pytest.mark.scene
@pytest.mark.topology("kraft-broker2-controller1-low", brokers=2, controllers=1)
class TestRequests:
    """One small cluster, formatted at a low level, which only the last test changes."""

    @pytest.mark.requirement(
        "K778-FLAG-exists",
        "K778-FLAG-no-assume-highest",
        "K778-APIV-finalized-shape",
        "K778-FIN-no-minimum",
        "K778-RPC-valid-versions",
        "K778-RPC-allowdowngrade-removed",
        "K778-INI-bootstrap-record",
    )
    def test_what_each_node_says(self, features, supported, levels, log_of, claim, verify):
        """The level that the disks were formatted with is in force, though each node supports higher ones."""
        low = [node for node, (_, highest) in supported(*NODES).items() if highest <= 7]
        claim("nodes that support no level above 7", low, [], "K778-FLAG-exists")
        in_force = levels()
        claim(
            "the level that each node takes for finalized",
            *(in_force, dict.fromkeys(NODES, 7), "K778-FLAG-exists", "K778-FLAG-no-assume-highest"),
        )
        ranges = [node for node in NODES if len(set(features(node).finalized[METADATA_VERSION])) != 1]
        claim("nodes whose finalized minimum is not the level", ranges, [], "K778-FIN-no-minimum")
        least = features("broker-0", version=4).finalized[METADATA_VERSION][0]
        claim(
            "the minimum level in version 4 of the answer, or the last before", least, None, "K778-APIV-finalized-shape"
        )
        lowest, highest = features("controller-3000").requests[UPDATE_FEATURES]
        claim(
            "whether the controller's listener takes version 1 of UpdateFeatures",
            *(lowest <= 1 <= highest, True, "K778-RPC-valid-versions"),
        )
        claim("the lowest version of UpdateFeatures", lowest, 1, "K778-RPC-allowdowngrade-removed")
        records = log_of("controller-3000")
        claim(
            "the levels that the log records, and the type of its first record of data",
            *((level_changes(records), records[0]["type"]), ([7], FEATURE_LEVEL), "K778-INI-bootstrap-record"),
        )
        verify()

    @pytest.mark.requirement("K778-ADM-featureupdate", "K778-ADM-options-dryrun")
    def test_what_the_java_client_offers(self, java_class, claim, verify):
        """Of public classes of the admin client: constructors, kinds of an update, and what is off by default."""
        update, kinds = java_class(java_api.UPDATE), java_class(*java_api.TYPES)
        claim(
            "the public constructors of FeatureUpdate",
            *(java_api.constructors(update), CONSTRUCTORS, "K778-ADM-featureupdate"),
        )
        claim("the types of an update", kinds.constants, ["NONE", "SAFE", "UNSAFE"], "K778-ADM-featureupdate")
        off = java_api.switches_off_by_default(java_class(java_api.OPTIONS))
        claim("whether a dry run is off by default", *("dryRun" in off, True, "K778-ADM-options-dryrun"))
        verify()

    @pytest.mark.until("4.0.0")  # which have the old constructor no more
    @pytest.mark.requirement("K778-ADM-old-constructor-map")
    def test_what_the_old_constructor_makes_of_a_boolean(self, java_class, claim, verify):
        """True is a safe downgrade, and false is none."""
        kinds = java_api.types_of_old_constructor(java_class(java_api.UPDATE))
        claim("the types that the old constructor makes of true and false", kinds, ["SAFE_DOWNGRADE", "UPGRADE"])
        verify()

    @pytest.mark.since("3.4.0")  # of a level above the one in force
    @pytest.mark.requirement(
        "K778-RPC-downgrade-type-field",
        "K778-RPC-dryrun-field",
        "K778-RPC-level-below-one",
        "K778-RPC-per-feature-results",
        "K778-RPC-controller-listener",
        "K778-RPC-forwarded",
        "K778-UPG-validate-local",
        "K778-DWN-floor",
        "K778-CMP-broker-no-range",
    )
    def test_what_a_request_may_ask(self, set_level, top_level, log_of, registered_without_a_range, claim, verify):
        """Asked without effect: the same answers as of a real change, and nothing is written."""
        of_types = [set_level(8, kind, dry_run=True).first_error for kind in (0, 1, 7)]
        claim(
            "the answers to an upgrade of each type, 0 and 1 and 7",
            *(of_types, ["NONE", REFUSED, REFUSED], "K778-RPC-downgrade-type-field"),
        )
        below = {set_level(level, kind, dry_run=True).first_error for level in (0, -1) for kind in DOWNGRADES}
        claim("the answers to levels 0 and -1, which delete", below, {"NONE"}, "K778-RPC-level-below-one")
        above = set_level(top_level() + 1).first_error
        claim("the answer to a level above the highest", above, REFUSED, "K778-UPG-validate-local")
        floor = {set_level(3, kind).first_error for kind in DOWNGRADES}
        claim("the answers to a level below 3.3-IV0, by each type", floor, {REFUSED}, "K778-DWN-floor")
        of_each = {name: error for name, (error, _) in set_level(BOTH, dry_run=True).of_each.items()}
        claim(
            "the answers to a right update and a wrong one in one request",
            *(of_each, {METADATA_VERSION: "NONE", "no.such.feature": REFUSED}, "K778-RPC-per-feature-results"),
        )
        direct = set_level(8, UPGRADE, dry_run=True, at="controller-3000").first_error
        claim("the answer at the controller's listener", direct, "NONE", "K778-RPC-controller-listener")
        through = set_level(8, UPGRADE, dry_run=True, at="broker-1").first_error
        claim("the answer through a broker", through, "NONE", "K778-RPC-forwarded", "K778-RPC-dryrun-field")
        is_refused = registered_without_a_range() in ("UNSUPPORTED_VERSION", "INVALID_REGISTRATION")
        claim("whether a broker without a range is refused", *(is_refused, True, "K778-CMP-broker-no-range"))
        recorded = level_changes(log_of("controller-3000"))
        claim("the levels that the log records", recorded, [7], "K778-RPC-dryrun-field", "K778-RPC-level-below-one")
        verify()

    @pytest.mark.since("3.5.0")  # of the level that it asks for
    @pytest.mark.requirement(
        "K778-CLI-subcommands",
        "K778-CLI-bootstrap-required",
        "K778-CLI-describe",
        "K778-CLI-dry-run",
        "K778-CLI-exit-status",
    )
    def test_what_the_tool_offers(self, tool, features_tool, log_of, claim, verify):
        """Kafka-features explains itself, describes the cluster, and fails by its status and in words."""
        listed = tool("broker-0", "kafka-features", "-h").output
        explained = {word: tool("broker-0", "kafka-features", word, "-h").output for word in SUBCOMMANDS}
        silent = [word for word in SUBCOMMANDS if word not in listed or "usage:" not in explained[word]]
        claim("sub-commands that the tool does not list, or explain", silent, [], "K778-CLI-subcommands")
        alone = {word: tool("broker-0", "kafka-features", word, *more) for word, more in ALONE.items()}
        claim(
            "sub-commands that do without an address, or do not name the option",
            *([word for word, ran in alone.items() if ran.status != 1 or BOOTSTRAP not in ran.output], [], ADDRESS),
        )
        instead = [word for word, ran in alone.items() if "--bootstrap-controller" in ran.output]
        claim("sub-commands that take another option for an address", instead, [], ADDRESS)
        configured = [
            features_tool("--command-config", "{config}", word, *DRY.get(word, ()), *ALONE[word]).output
            for word in SUBCOMMANDS
        ]
        claim(
            "sub-commands that know no --command-config", [each for each in configured if UNKNOWN in each], [], ADDRESS
        )
        described = features_tool("describe")
        claim(
            "the status of describe, and the level in its line of metadata.version",
            *((described.status, described_level(described.output)), (0, "3.3-IV3"), "K778-CLI-describe"),
        )
        could = features_tool("upgrade", "--dry-run", "--metadata", "3.5")
        could_not = features_tool("upgrade", "--dry-run", *LOWER)
        recorded = level_changes(log_of("controller-3000"))
        claim(
            "the status of a dry run that could be made, of one that could not, and the levels recorded then",
            *((could.status, could_not.status, recorded), (0, 1, [7]), "K778-CLI-dry-run"),
        )
        failed = features_tool("upgrade", *LOWER)
        counted = "1 out of 1 operation(s) failed" in failed.output
        claim(
            "the status of an upgrade to a lower level, and whether the output counts the failure",
            *((failed.status, counted), (1, True), "K778-CLI-exit-status"),
        )
        verify()

    @pytest.mark.since("3.5.0")  # of the levels that it asks for
    @pytest.mark.requirement(
        "K778-CLI-upgrade-metadata",
        "K778-CLI-feature-kv",
        "K778-CLI-downgrade-safe",
        "K778-CLI-downgrade-unsafe",
        "K778-CLI-downgrade-wrong-direction",
        "K778-CLI-dry-run",
        "K778-CLI-disable",
    )
    def test_what_the_tool_does(self, status_and_level, claim, verify):
        """Levels are raised by name and by number, lowered where nothing is lost, and taken away."""
        raised = [status_and_level("upgrade", "--metadata", to) for to in ("3.4", "3.5-IV1", "9.9", "3.4")]
        claim(
            "the status and the level after an upgrade to 3.4, to 3.5-IV1, to an unknown release and to a lower one",
            *(raised, [(0, 8), (0, 10), (1, 10), (1, 10)], "K778-CLI-upgrade-metadata"),
        )
        by_name = status_and_level("upgrade", "--feature", "metadata.version=3.5-IV2")
        claim(
            "the status and the level after an upgrade to a feature's named level",
            *(by_name, (0, 11), "K778-CLI-feature-kv"),
        )
        lowered = [status_and_level("downgrade", "--metadata", to) for to in ("3.4-IV0", "3.3-IV3")]
        claim(
            "the status and the level after a downgrade to 3.4-IV0, and to 3.3-IV3, which loses metadata",
            *(lowered, [(0, 8), (1, 8)], "K778-CLI-downgrade-safe"),
        )
        unsafe = status_and_level("downgrade", "--unsafe", "--metadata", "3.3-IV3")
        claim("the status and the level after an unsafe downgrade", unsafe, (0, 7), "K778-CLI-downgrade-unsafe")
        wrong_ways = [
            status_and_level("downgrade", "--metadata", "3.6"),
            status_and_level("upgrade", "--metadata", "3.3-IV3"),
        ]
        claim(
            "the status and the level after a downgrade to a higher one, and an upgrade to a lower one",
            *(wrong_ways, [(1, 8), (1, 8)], "K778-CLI-downgrade-wrong-direction"),
        )
        tried = status_and_level("disable", "--feature", METADATA_VERSION, "--dry-run")
        claim("the level after the dry run of disabling it", tried[1], 8, "K778-CLI-dry-run")
        disabled = [status_and_level("disable", "--feature", METADATA_VERSION, *how) for how in ((), ("--unsafe",))]
        claim(
            "the status and the level after disabling it, safely and not",
            *(disabled, [(0, None)] * 2, "K778-CLI-disable"),
        )
        verify()

    @pytest.mark.since("4.0.0")  # of a feature that may be off
    @pytest.mark.requirement("K778-CLI-disable", "K778-CLI-dry-run", "K778-RPC-level-below-one")
    def test_a_feature_is_switched_on_and_off(self, features_tool, set_level, recorded_levels, claim, verify):
        """One that is no level of the metadata: disabled by the tool, and deleted by a request."""
        began = len(recorded_levels(OPTIONAL))
        statuses = [
            features_tool("upgrade", "--feature", f"{OPTIONAL}=1").status,
            features_tool("disable", "--feature", OPTIONAL, "--dry-run").status,
            features_tool("disable", "--feature", OPTIONAL).status,
        ]
        claim("the status of an upgrade, of the dry run of disabling it, and of disabling it", statuses, [0, 0, 0])
        claim("the levels recorded for it", recorded_levels(OPTIONAL)[began:], [1, 0])
        answers = [set_level({OPTIONAL: 1}).first_error, set_level({OPTIONAL: 0}, SAFE_DOWNGRADE).first_error]
        claim("the answers to level 1 and to level 0", answers, ["NONE", "NONE"])
        claim("the levels recorded for it then", recorded_levels(OPTIONAL)[began:], [1, 0, 1, 0])
        verify()

    @pytest.mark.requirement("K778-IBP-ignored")
    def test_a_file_may_name_any_protocol(self, cluster, started, claim, verify):
        """The property is of ZooKeeper mode: a broker starts whatever it says."""
        cluster.node("broker-1").stop()
        is_ready = started("broker-1", {"inter.broker.protocol.version": "2.8"}) == "ready"
        cluster.node("broker-1").start()
        claim("whether a broker starts whose file names protocol 2.8", is_ready, equals=True)
        verify()
