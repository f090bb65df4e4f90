"""KIP-778: disks are formatted by Kafka's own tool, each with a level of its own."""

import pytest

from pytest_kmigrate import Role
from pytest_kmigrate.documents.kip_778 import java_api
from pytest_kmigrate.documents.kip_778.levels import formatted_for, level_changes

PROTOCOL = "inter.broker.protocol.version"
CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")


@pytest.mark.scene
@pytest.mark.topology("kraft-broker1-controller3-down", brokers=1, controllers=3)
class TestFormatting:
    """Three controllers and a broker that are down; their disks are emptied first."""

    @pytest.mark.sample
    @pytest.mark.since("3.7.0")  # of the levels
    @pytest.mark.requirement(
        "K778-FMT-option", "K778-FMT-other-args", "K778-FMT-validation", "K778-FMT-persisted-in-metaprops"
    )
    def test_what_the_tool_takes(self, cluster, formatted, meta_properties, java_class, claim, verify):
        """A level by name, a cluster's id and a file are needed; a wrong level leaves the disk as it is."""
        cluster.node("controller-3000").wipe()
        by_option = formatted("--metadata-version", "3.6").status, meta_properties("controller-3000") != {}
        claim(
            "the status with --metadata-version, and whether the disk is formatted",
            *(by_option, (0, True), "K778-FMT-option"),
        )
        unstable = java_api.levels_not_yet_stable(java_class(java_api.LEVELS))[0]
        wrong = [
            (formatted("--release-version", level).status, meta_properties("controller-3000") != {})
            for level in ("9.9", "2.8", unstable)
        ]
        claim(
            "the status of an unknown, a too old and a not yet stable level, and whether the disk is formatted",
            *(wrong, [(1, False)] * 3, "K778-FMT-validation"),
        )
        statuses = [
            formatted(config=None).status,
            formatted(cluster_id=None).status,
            formatted("--release-version", "3.6").status,
            formatted("--release-version", "3.6").status,
            formatted("--release-version", "3.7", "--ignore-formatted").status,
        ]
        claim(
            "the status without a file, without an id, of the first time, of the second, and of one that is ignored",
            *(statuses, [1, 1, 0, 1, 0], "K778-FMT-other-args"),
        )
        held = any("metadata" in key for key in meta_properties("controller-3000"))
        claim("whether meta.properties holds the level", *(held, True, "K778-FMT-persisted-in-metaprops"))
        verify()

    @pytest.mark.since("3.6.0")  # of the levels
    @pytest.mark.requirement("K778-INI-differing-values", "K778-FMT-default", "K778-IBP-ignored")
    def test_controllers_were_formatted_for_different_levels(
        self, cluster, formatted, log_of, release_of, expect, claim, verify
    ):
        """One for 3.4, one for 3.6, one for what its release takes by default: one of these is in force for all."""
        for name in CONTROLLERS:
            cluster.node(name).wipe()
        formatted("--release-version", "3.4", at="controller-3000")
        formatted("--release-version", "3.6", at="controller-3001")
        by_default = release_of(formatted_for(formatted(at="controller-3002").output))
        own = release_of(cluster.node("controller-3002").kafka)
        claim("the release of the level that is taken by default", by_default, own, "K778-FMT-default")
        cluster.node("broker-0").wipe()
        cluster.node("broker-0").reconfigure({PROTOCOL: "3.5"})
        with_protocol = release_of(formatted_for(formatted(at="broker-0").output))
        claim(
            "the release of the level by default, where the file names protocol 3.5",
            *(with_protocol, own, "K778-FMT-default", "K778-IBP-ignored"),
        )
        cluster.node("broker-0").reconfigure({PROTOCOL: None})
        cluster.start_together(cluster.nodes(Role.CONTROLLER))
        expect(
            "how many levels each log records, and how many different ones there are in all",
            lambda: (
                [len(level_changes(log_of(name))) for name in CONTROLLERS],
                len({level for name in CONTROLLERS for level in level_changes(log_of(name))}),
            ),
            equals=([1, 1, 1], 1),
            within_s=30,
            requirements=["K778-INI-differing-values"],
        )
        verify()
