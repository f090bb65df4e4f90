"""The timeline page of one run."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.verdict import Kind, inconclusive
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.one_run.run_evidence import read_evidence
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from pytest_kmigrate.reports.one_run.timeline import drawn, timeline_page
from pytest_kmigrate.reports.one_run.timeline_lanes import STATE_COLOURS, fault_lane, step_lane, violation_lane
from pytest_kmigrate.reports.one_run.timeline_nodes import node_lanes
from pytest_kmigrate.reports.one_run.timeline_series import bucket_ms, metadata_lane, metric_lanes, traffic_lanes
from tests.unit.reports.recorded_runs import GREEN, RecordedRun, faulty_run, inline_json, lost, wrote


def _page(folder: RunFolder) -> str:
    return timeline_page(read_evidence(folder))


def test_a_violation_is_told_with_its_moment_and_leads_to_it(tmp_path: Path) -> None:
    """Expected, observed, when (relative to fault and phase) and evidence; the moment can be jumped to."""
    folder = faulty_run(tmp_path).end(3000, lost(1250, "event 5", "operations/x.parquet"))

    page = _page(folder)

    assert "✖ VIOLATES" in page
    assert "every acknowledged record is read" in page
    assert "orders-2 at 411 was &lt;never&gt; read" in page
    assert "1.25 s, in HYBRID, 0.25 s after kill(active-controller) began" in page
    assert 'data-jump="1250.0"' in page
    assert '<a href="#event-5">event 5</a>' in page
    assert '<tr id="event-5">' in page
    assert page.index("no_acked_record_lost") < page.index('id="picture"') < page.index('class="violation"')
    assert [(m.at_ms, m.link) for m in violation_lane(read_evidence(folder)).marks] == [(1250.0, "violation-0-0")]


def test_a_green_run_shows_no_violation(tmp_path: Path) -> None:
    """What marks a violation is absent when everything conforms."""
    page = _page(faulty_run(tmp_path).end(3000, GREEN))

    assert "✓ CONFORMS" in page
    assert "VIOLATES" not in page
    assert 'id="violation-' not in page


def test_what_is_violated_as_known_is_told_from_what_is_not(tmp_path: Path) -> None:
    """A run conforms beside violations that a known bug explains; what is violated otherwise, too, is not known."""
    known = replace(lost(1250), known_bugs=("KAFKA-17146",)).speaking_for("K1", "K2")
    partly = lost(1250).speaking_for("K2", "K4")
    partly = partly.about_each((partly.about[0], replace(partly.about[1], known_bugs=("KAFKA-17146",))))
    folder = faulty_run(tmp_path).end(3000, GREEN.speaking_for("K1", "K3"), known, partly)

    listed = re.findall(r"<dt>([^<]*)</dt><dd>(<abbr.*?)</dd>", _page(folder))

    said = {word: re.findall(r">(K\d)<", rows) for word, rows in listed}
    assert said == {"claimed": [], "✖ violates": ["K2"], "◇ violates as known": ["K1", "K4"], "✓ conforms": ["K3"]}


def test_what_is_known_is_no_red(tmp_path: Path) -> None:
    """No red cross, no red badge: what a known bug explains is folded and grey, with what it costs."""
    folder = faulty_run(tmp_path).end(3000, GREEN, lost(1250, "event 5"), bugs=["KAFKA-17146"])
    evidence = read_evidence(folder)

    page = _page(folder)

    assert [(mark.style, mark.glyph) for mark in violation_lane(evidence).marks] == [("plain", "◇")]
    assert "✖ VIOLATES" not in page
    assert "◇ violated as known: KAFKA-17146" in page[: page.index('id="picture"')]
    folded = page.index("<summary>◇ 1 check violated as known</summary>")
    assert folded < page.index("known as KAFKA-17146 (defect, fixed in no release): ")


def test_the_picture_stands_above_all_lists(tmp_path: Path) -> None:
    """Ids of requirements and what conforms are folded, below it."""
    folder = faulty_run(tmp_path).end(3000, GREEN.speaking_for("K1"))
    page = _page(folder)
    assert page.index('id="picture"') < page.index("<summary>✓ 1 check without a violation")
    assert page.index('id="picture"') < page.index("<summary>Requirements: 1 claimed, 1 ✓ conforms")
    assert "K1" not in page[: page.index('id="picture"')]


def test_a_violation_without_a_time_is_placed_by_its_events(tmp_path: Path) -> None:
    """The last event named as evidence gives the moment; without one there is nothing to jump to."""
    placed = faulty_run(tmp_path / "placed").end(3000, lost(None, "event 5", "event 9"))
    nowhere = faulty_run(tmp_path / "nowhere").end(3000, lost(None, "image end-log"))

    assert [mark.at_ms for mark in violation_lane(read_evidence(placed)).marks] == [1600.0]
    assert violation_lane(read_evidence(nowhere)).marks == []
    assert 'class="violation"' in _page(nowhere)


def test_a_fault_is_a_bar_from_applied_to_healed(tmp_path: Path) -> None:
    """With its name, its target and its witness; it shades every lane while in force."""
    lane = fault_lane(read_evidence(faulty_run(tmp_path).end(3000, GREEN)))

    (bar,) = lane.bands
    assert (bar.begin_ms, bar.end_ms, bar.style) == (1020.0, 1600.0, "fault")
    assert bar.text == "kill(active-controller) · controller-3000"
    assert "witnessed: its process is gone" in bar.tip
    assert lane.shades


def test_faults_nobody_saw_look_different(tmp_path: Path) -> None:
    """An unwitnessed fault is another style, one that never began a mark; overlapping ones get rows of their own."""
    run = faulty_run(tmp_path)
    run.at(2100, EventKind.FAULT_BEGAN, fault="cut", fault_id="fault-2", effect="cut", trigger="now")
    run.at(2150, EventKind.FAULT_BEGAN, fault="slow", fault_id="fault-3", effect="slow", trigger="now")
    run.at(2200, EventKind.FAULT_NOT_WITNESSED, fault_id="fault-2", fault="cut", witness="no connection broke")
    run.at(2300, EventKind.FAULT_NOT_WITNESSED, fault_id="fault-4", fault="pause", witness="its trigger never fired")
    lane = fault_lane(read_evidence(run.end(3000, GREEN)))

    assert [(bar.style, bar.row) for bar in lane.bands] == [("fault", 0), ("fault-unseen", 0), ("fault-unseen", 1)]
    assert lane.bands[1].end_ms == 3000.0
    assert "never healed" in lane.bands[1].tip
    assert [mark.tip for mark in lane.marks] == ["pause never began\nits trigger never fired"]


def test_a_node_is_up_down_and_up_again(tmp_path: Path) -> None:
    """A kill is marked and the node is down until it is started again."""
    (lane,) = node_lanes(read_evidence(faulty_run(tmp_path).end(3000, GREEN)))

    reported = [(band.begin_ms, band.text) for band in lane.bands]
    starting, up = "starting (KRaft controller)", "KRaft controller"
    assert reported == [(10.0, starting), (100.0, up), (1010.0, "down"), (1700.0, starting), (1900.0, up)]
    assert [(mark.at_ms, mark.glyph) for mark in lane.marks] == [(1010.0, "✖")]


def test_modes_pauses_and_deaths_show(tmp_path: Path) -> None:
    """A broker's lane shows its mode, that it was paused, and that it died unasked."""
    run = RecordedRun(tmp_path)
    run.at(0, EventKind.NODE_STARTED, "broker-0", role="broker", mode="zookeeper")
    run.at(1, EventKind.NODE_READY, "broker-0")
    run.at(2, EventKind.NODE_PAUSED, "broker-0")
    run.at(3, EventKind.NODE_RESUMED, "broker-0")
    run.at(4, EventKind.NODE_DIED, "broker-0", exit_code=1)
    run.at(5, EventKind.NODE_STARTED, "broker-0", role="broker", mode="kraft")
    run.at(6, EventKind.NODE_READY, "broker-0")
    (lane,) = node_lanes(read_evidence(run.end(9, GREEN)))

    styles = [band.style for band in lane.bands if "starting" not in band.style]
    assert styles == ["mode-zookeeper", "paused", "mode-zookeeper", "down", "mode-kraft"]
    assert [(mark.at_ms, mark.glyph) for mark in lane.marks] == [(4.0, "†")]


def test_a_step_that_never_ended_is_told_so(tmp_path: Path) -> None:
    """A finished step has its outcome; one without an end reaches to the end of the run."""
    run = faulty_run(tmp_path)
    run.at(2500, EventKind.STEP_BEGAN, step="finalize")
    done, unfinished = step_lane(read_evidence(run.end(3000, GREEN))).bands

    assert (done.style, done.begin_ms, done.end_ms) == ("step-done", 300.0, 2000.0)
    assert (unfinished.style, unfinished.end_ms) == ("step-unfinished", 3000.0)


def test_throughput_has_a_gap_where_nothing_was_acknowledged(tmp_path: Path) -> None:
    """Acknowledged writes per bucket as a rate; failed and indefinite ones are marks with the error's name."""
    run = faulty_run(tmp_path)
    timed_out = wrote(110, 150, OperationOutcome.INDEFINITE, "_MSG_TIMED_OUT")
    refused = wrote(120, 160, OperationOutcome.FAILED, "NOT_ENOUGH_REPLICAS")
    run.operations(wrote(0, 10), wrote(0, 20), timed_out, refused, wrote(200, 210))
    writes, _ = traffic_lanes(read_evidence(run.end(3000, GREEN)))

    assert writes.series[0].points == [(0.0, 20.0), (200.0, 10.0)]
    assert [mark.tip for mark in writes.marks] == [
        "1 failed within 100 ms: NOT_ENOUGH_REPLICAS",
        "1 indefinite within 100 ms: _MSG_TIMED_OUT",
    ]


def test_p99_is_the_slowest_of_the_fastest_99_percent(tmp_path: Path) -> None:
    """Of a hundred writes the slowest does not count; of fifty it does."""
    run = faulty_run(tmp_path)
    run.operations(*(wrote(99 - took, 99) for took in range(100)), *(wrote(199 - took, 199) for took in range(50)))
    _, latency = traffic_lanes(read_evidence(run.end(3000, GREEN)))

    assert latency.series[0].points == [(0.0, 98.0), (100.0, 49.0)]


def test_buckets_widen_so_that_a_long_run_stays_a_small_page(tmp_path: Path) -> None:
    """A short run has 100 ms buckets, one of an hour no more than 800 of them."""
    short = read_evidence(faulty_run(tmp_path / "short").end(3000, GREEN))
    hour = read_evidence(faulty_run(tmp_path / "hour").end(3_600_000, GREEN))

    assert bucket_ms(short) == 100
    assert bucket_ms(hour) == 5_000


def test_a_metric_changes_ends_and_keeps_its_peak(tmp_path: Path) -> None:
    """Equal values are one step, an unknown value ends the line, and a short peak is not lost."""
    run = faulty_run(tmp_path)
    for at_ms, value in ((100, 0.0), (200, 0.0), (500, 9.0), (550, 7.0), (900, 0.0), (1000, None)):
        run.sample(at_ms, "controller-3000", ZkWriteBehindLag=value)
    (lane,) = metric_lanes(read_evidence(run.end(3000, GREEN)))

    assert lane.label == "ZkWriteBehindLag"
    assert lane.series[0].points == [(100.0, 0.0), (500.0, 9.0), (900.0, 0.0), (1000.0, None)]


def test_metadata_changes_within_a_bucket_share_a_mark_by_outcome(tmp_path: Path) -> None:
    """A failed change is never hidden among acknowledged ones."""
    run = faulty_run(tmp_path)
    run.at(2100, EventKind.METADATA_CHANGE, change="create-topic", subject="a", outcome="ok", error="")
    run.at(2110, EventKind.METADATA_CHANGE, change="create-topic", subject="b", outcome="failed", error="REFUSED")
    run.at(2120, EventKind.METADATA_CHANGE, change="create-topic", subject="c", outcome="ok", error="")
    good, bad = metadata_lane(read_evidence(run.end(3000, GREEN))).marks

    assert good.tip == "create-topic a: ok\ncreate-topic c: ok"
    assert (bad.style, bad.tip) == ("bad", "create-topic b: failed REFUSED")


def test_an_interrupted_run_is_reported_as_far_as_it_went(tmp_path: Path) -> None:
    """Without verdicts, without an end, with half a line: the page shows what there is and says what is missing."""
    folder = faulty_run(tmp_path).cut_off()

    write_run_reports(folder)

    page = folder.timeline.read_text()
    assert "No verdicts: the run was interrupted" in page
    assert "The history has no end" in page
    assert "? INCONCLUSIVE" in page
    assert "kill(active-controller) · controller-3000" in page


def test_a_damaged_run_is_still_reported(tmp_path: Path) -> None:
    """A damaged part leaves the header and the reason; a damaged verdict file is reported and judged again by hand."""
    folder = faulty_run(tmp_path).end(3000, GREEN)
    (folder.operations / "clients-000001.parquet").write_bytes(b"PAR1 no more")
    folder.verdicts.write_text("{}\n")

    write_run_reports(folder)

    page = folder.timeline.read_text()
    assert "clients-000001.parquet" in page
    assert "verdicts.jsonl is damaged" in page
    assert re.findall(r"[A-Z]\w+(?:Error|Exception)\b|magic bytes", page) == []
    assert "test_takes_over" in page


def test_a_run_that_ended_before_anything_happened_is_reported(tmp_path: Path) -> None:
    """A header alone is enough for a page."""
    folder = faulty_run(tmp_path).end(3000, GREEN)
    for file in (folder.history, folder.metrics, folder.znodes, folder.verdicts):
        file.unlink()

    write_run_reports(folder)

    assert "No verdicts" in folder.timeline.read_text()


def test_the_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    """No address is loaded, and text of a run can neither end its script element nor become an element."""
    run = faulty_run(tmp_path)
    evil = "</script><img src=x onerror=alert(1)>"
    run.at(2100, EventKind.EXPECTATION, name=evil, met=False)
    page = _page(run.end(3000, lost(2100), inconclusive(Kind.VACUOUS, evil).by("y")))

    assert not re.findall(r"""(?:src|href)=["'](?!#)|url\((?!#)|@import|<img|<link""", page)
    assert page.count("</script>") == 2
    assert evil in str(inline_json(page))
    assert len(page) < 100_000


def test_every_style_that_is_drawn_is_defined(tmp_path: Path) -> None:
    """The classes that lanes use are in the style sheet, so that nothing is drawn black by oversight."""
    page = _page(faulty_run(tmp_path).end(3000, GREEN))
    sheet = page.partition("<style>")[2].partition("</style>")[0]
    lanes = drawn(read_evidence(RunFolder(tmp_path / "run")))["lanes"]

    assert isinstance(lanes, list)
    styles = {band["style"] for lane in lanes for band in lane.get("bands", [])}
    assert {"state state-0", "step-done", "fault", "down", "mode-controller"} <= styles
    assert [number for number in range(STATE_COLOURS) if f"rect.state-{number} " not in sheet] == []
    assert [part for style in styles for part in style.split() if f".{part}" not in sheet] == []


@pytest.mark.slow
def test_no_spark_is_loaded_for_one_run() -> None:
    """A run that ends must not wait for Spark: its reports import none of it."""
    code = "import sys, pytest_kmigrate.reports.one_run.run_reports; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
