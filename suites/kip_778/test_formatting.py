"""KIP-778: disks are formatted by Kafka's own tool, each with a level of its own."""

import pytest

from pytest_kmigrate import Role
from pytest_kmigrate.documents.kip_778.levels import formatted_for, level_changes

CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")


@pytest.mark.scene
@pytest.mark.topology("kraft-broker1-controller3-down")
class TestFormatting:
    """Three controllers and a broker that are down; their disks are emptied first."""

    @pytest.mark.sample
    @pytest.mark.requirement(
        "K778-FMT-option", "K778-FMT-other-args", "K778-FMT-validation", "K778-FMT-persisted-in-metaprops"
    )
    def test_what_the_tool_takes(self, cluster, formatted, meta_properties, expect, verify):
        """A level by name, a cluster's id and a file are needed; an unknown level leaves the disk as it is."""
        cluster.node("controller-3000").wipe()
        expect(
            "the status with --metadata-version, and whether the disk is formatted",
            lambda: (formatted("--metadata-version", "3.6").status, meta_properties("controller-3000") != {}),
            equals=(0, True),
            within_s=0,
            requirements=["K778-FMT-option"],
        )
        expect(
            "the status of unknown and too old levels, and whether the disk is formatted",
            lambda: [
                (formatted("--release-version", level).status, meta_properties("controller-3000") != {})
                for level in ("9.9", "2.8")
            ],
            equals=[(1, False), (1, False)],
            within_s=0,
            requirements=["K778-FMT-validation"],
        )
        expect(
            "the status without a file, without an id, of the first time, of the second, and of one that is ignored",
            lambda: [
                formatted(config=None).status,
                formatted(cluster_id=None).status,
                formatted("--release-version", "3.6").status,
                formatted("--release-version", "3.6").status,
                formatted("--release-version", "3.7", "--ignore-formatted").status,
            ],
            equals=[1, 1, 0, 1, 0],
            within_s=0,
            requirements=["K778-FMT-other-args"],
        )
        expect(
            "whether meta.properties holds the level",
            lambda: any("metadata" in key for key in meta_properties("controller-3000")),
            equals=True,
            within_s=0,
            requirements=["K778-FMT-persisted-in-metaprops"],
        )
        verify()

    @pytest.mark.requirement("K778-INI-differing-values", "K778-FMT-default")
    def test_controllers_were_formatted_for_different_levels(self, cluster, formatted, log_of, expect, verify):
        """One for 3.4, one for 3.6, one for what its release takes by default: one of these is in force for all."""
        for name in CONTROLLERS:
            cluster.node(name).wipe()
        done = [
            formatted("--release-version", "3.4", at="controller-3000"),
            formatted("--release-version", "3.6", at="controller-3001"),
            formatted(at="controller-3002"),
        ]
        expect(
            "the release of the level that is taken by default",
            lambda: ".".join(formatted_for(done[2].output).split("-")[0].split(".")[:2]),
            equals=".".join(cluster.node("controller-3002").kafka.split(".")[:2]),
            within_s=0,
            requirements=["K778-FMT-default"],
        )
        cluster.start_together(cluster.nodes(Role.CONTROLLER))
        expect(
            "how many levels each log records, and how many different ones there are",
            lambda: (
                [len(level_changes(log_of(name))) for name in CONTROLLERS],
                len(set(map(level_of(log_of), CONTROLLERS))),
            ),
            equals=([1, 1, 1], 1),
            within_s=30,
            requirements=["K778-INI-differing-values"],
        )
        verify()


def level_of(log_of):
    """The last level in a controller's log."""
    return lambda name: level_changes(log_of(name))[-1]
