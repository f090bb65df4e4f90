"""Lanes of a group under test: its mode, its members, and who owned what when."""

from pathlib import Path

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.reports.one_run.run_evidence import RunEvidence, read_evidence
from pytest_kmigrate.reports.one_run.timeline import shown_lanes
from pytest_kmigrate.reports.one_run.timeline_group import group_lanes
from pytest_kmigrate.reports.one_run.timeline_lanes import Lane
from tests.unit.reports.recorded_groups import GroupRun
from tests.unit.reports.recorded_runs import GREEN, faulty_run


def lane_of(evidence: RunEvidence, label: str) -> Lane:
    """The lane of this name."""
    (found,) = [each for each in shown_lanes(evidence) if each.label == label]
    return found


def test_the_mode_is_what_all_members_follow_or_how_many_follow_each(tmp_path: Path) -> None:
    """Members that are gone follow nothing; what the operator wrote is marked, a deletion too."""
    run = GroupRun(tmp_path)
    for client in (1, 2):
        run.joins(0, client)
        run.follows(10, client, "zookeeper")
    run.writes(100, "kafka")
    run.follows(110, 1, "kafka")
    run.follows(150, 2, "kafka")
    run.ends(200, 1)
    run.writes(300, None)
    run.follows(310, 2, "zookeeper")
    lane = lane_of(read_evidence(run.end(400, GREEN)), "Mode of the group")

    assert [(band.begin_ms, band.end_ms, band.text) for band in lane.bands] == [
        (10.0, 110.0, "zookeeper"),
        (110.0, 150.0, "1 kafka, 1 zookeeper"),
        (150.0, 310.0, "kafka"),
        (310.0, 400.0, "zookeeper"),
    ]
    assert [band.style for band in lane.bands] == ["mode-zookeeper", "paused", "mode-kafka", "mode-zookeeper"]
    assert [(mark.at_ms, mark.tip.partition(": ")[2]) for mark in lane.marks] == [
        (100.0, "'kafka' written to /consumers/migrating/migration/mode"),
        (300.0, "/consumers/migrating/migration/mode deleted"),
    ]


def test_a_member_is_there_stands_still_and_is_gone(tmp_path: Path) -> None:
    """Its lane shows it again when it is started again, and marks how it ended."""
    run = GroupRun(tmp_path)
    run.joins(0, 1)
    run.at(10, EventKind.MEMBER_PAUSED, member="MEZKCC-1")
    run.at(20, EventKind.MEMBER_RESUMED, member="MEZKCC-1")
    run.ends(30, 1, how="killed")
    run.joins(40, 7, member="MEZKCC-1")
    run.warns(45, 7, member="MEZKCC-1")
    run.ends(50, 7, member="MEZKCC-1")
    lane = lane_of(read_evidence(run.end(60, GREEN)), "MEZKCC-1")

    shown = [(band.begin_ms, band.end_ms, band.style) for band in lane.bands]
    assert shown == [(0.0, 10.0, "m0"), (10.0, 20.0, "paused"), (20.0, 30.0, "m0"), (40.0, 50.0, "m0")]
    assert [(mark.at_ms, mark.style, mark.glyph) for mark in lane.marks] == [
        (30.0, "bad", "✖"),
        (45.0, "unsure", "!"),
        (50.0, "plain", "◂"),
    ]


def test_members_stand_in_the_order_of_their_numbers_each_in_its_colour(tmp_path: Path) -> None:
    """Though they are started in another one, and 10 is more than 9."""
    run = GroupRun(tmp_path)
    for client in (10, 9, 1):
        run.joins(0, client)
    lanes = group_lanes(read_evidence(run.end(60, GREEN)))

    members = [(lane.label, lane.swatch) for lane in lanes if lane.swatch]
    assert members == [("MEZKCC-1", "m0"), ("MEZKCC-9", "m1"), ("MEZKCC-10", "m2")]


def test_a_partition_is_a_row_in_the_colour_of_its_owner(tmp_path: Path) -> None:
    """From when it was claimed to when it was released, by the member's own clock; a crash ends it, as does the run."""
    run = GroupRun(tmp_path)
    for client in (1, 2):
        run.joins(0, client)
    run.owns(10, 1, 0, 2)
    run.owns(10, 2, 1)
    run.releases(20, 1, 0)
    run.owns(25, 2, 0, source="kafka")
    run.ends(30, 1, how="killed")
    lane = lane_of(read_evidence(run.end(40, GREEN)), "Owners of orders")

    shown = sorted((band.row, band.begin_ms, band.end_ms, band.style) for band in lane.bands)
    assert shown == [
        (0, 10.0, 20.0, "m0"),
        (0, 25.0, 40.0, "m1"),
        (1, 10.0, 40.0, "m1"),
        (2, 10.0, 30.0, "m0"),
    ]
    assert (lane.rows, lane.row_px) == (3, 20)
    assert "orders-0: MEZKCC-2 for 0.01 s, as kafka assigns" in [band.tip for band in lane.bands]


def test_two_owners_at_once_are_outlined(tmp_path: Path) -> None:
    """For as long as both report to own it, also behind a third span that is over already."""
    run = GroupRun(tmp_path)
    for client in (1, 2, 3):
        run.joins(0, client)
    run.owns(10, 1, 0)
    run.owns(20, 2, 0)
    run.releases(30, 2, 0)
    run.owns(40, 3, 0)
    run.releases(60, 1, 0)
    lane = lane_of(read_evidence(run.end(90, GREEN)), "Owners of orders")

    shared = [(band.begin_ms, band.end_ms) for band in lane.bands if band.style == "shared"]
    assert shared == [(20.0, 30.0), (40.0, 60.0)]


def test_many_partitions_have_thin_rows(tmp_path: Path) -> None:
    """Sixty of them are no taller than a screen."""
    run = GroupRun(tmp_path)
    run.joins(0, 1)
    run.owns(10, 1, *range(60))
    lane = lane_of(read_evidence(run.end(40, GREEN)), "Owners of orders")
    assert (lane.rows, lane.row_px) == (60, 8)


def test_a_run_without_members_has_no_such_lane(tmp_path: Path) -> None:
    """As every run of other documents."""
    assert group_lanes(read_evidence(faulty_run(tmp_path).end(3000, GREEN))) == []
