"""One headless browser for all tests of this folder, and the pages it opens: a site and a timeline of a run."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.phases import Phase, ZkMigrationState
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from pytest_kmigrate.reports.pages.publication import files
from pytest_kmigrate.reports.summary.summary import Summary, summary_of
from tests.browser.chromium import Chromium, chromium, installed
from tests.browser.tab import Tab
from tests.unit.reports.fabricated_marts import Tables
from tests.unit.reports.fabricated_tables import ABOUT, season
from tests.unit.reports.recorded_groups import GroupRun
from tests.unit.reports.recorded_runs import GREEN, faulty_run, lost, wrote

LONG = re.compile(
    r"topics_stay_the_same|zk3-broker5-controller3|controller_moves|CTRL-epoch-monotonic|step migrate|night-7"
)
"""A test, a topology, a check, a requirement, a measure, a folder."""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """The browser; without one on this machine nothing here can be seen."""
    program = installed()
    if program is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with chromium(program, tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture
def tab(browser: Chromium) -> Iterator[Tab]:
    """A fresh tab on a large window, in light colours."""
    opened = Tab(browser)
    opened.be_desktop()
    opened.prefer("light")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def summary() -> Summary:
    """A season in which everything happened, with two versions compared, and with names as long as real ones get."""
    tables: Tables = _lengthened(season())
    return summary_of(tables, ABOUT, ("3.6.0", "3.10.0"))


def _lengthened(value: Any) -> Any:
    """Tables with some of the names that are in them drawn out, wherever they stand."""
    if isinstance(value, dict):
        return {key: _lengthened(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_lengthened(each) for each in value]
    if isinstance(value, str):
        return LONG.sub(lambda name: f"{name[0]}_".replace(" ", "_") * 6, value)
    return value


@pytest.fixture(scope="session")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The timeline page of a run in which a record was lost under a fault, and in which all that is drawn happened."""
    run = faulty_run(tmp_path_factory.mktemp("recorded"))
    run.log("controller-3000", "".join(f"[2026-03-01 10:00:00,{n:03d}] INFO line {n} of this log\n" for n in range(60)))
    run.operations(*[wrote(ms, ms + 3) for ms in range(0, 9_000, 10) if not 1_020 < ms < 1_600])
    run.operations(wrote(1_200, 1_500, OperationOutcome.FAILED, "REQUEST_TIMED_OUT"))
    for ms in range(0, 9_000, 100):
        run.sample(ms, "controller-3000", GlobalPartitionCount=ms / 100)
    for node, (role, mode) in enumerate((("broker", "zookeeper"), ("broker", "kraft"), ("zookeeper", None))):
        run.at(2_050, EventKind.NODE_STARTED, f"{role}-{node}", role=role, mode=mode)
        run.at(2_060, EventKind.NODE_READY, f"{role}-{node}")
    for phase, state in zip_longest(Phase, ZkMigrationState, fillvalue=ZkMigrationState.ZK):
        began_ms = run.recorder.now_ms + 1_000
        run.at(began_ms, EventKind.STATE, of="phase", state=phase.name)
        run.at(began_ms, EventKind.STATE, "controller-3000", of="migration_state", state=state.name)
        run.at(began_ms, EventKind.ACTIVE_CONTROLLER, controller="controller-3000")
    run.at(8_100, EventKind.NODE_PAUSED, "broker-0")
    run.at(8_200, EventKind.STEP_BEGAN, step="finalize")
    run.at(8_300, EventKind.FAULT_BEGAN, fault="cut", fault_id="fault-2", effect="cut", trigger="now")
    run.at(8_400, EventKind.FAULT_NOT_WITNESSED, fault_id="fault-2", fault="cut", witness="no connection broke")
    known = replace(lost(1_350, "event 5"), check="a_known_one", known_bugs=("KAFKA-17146",))
    folder = run.end(9_000, lost(1_250, "event 5"), GREEN, known)
    write_run_reports(folder)
    return folder.timeline


@pytest.fixture(scope="session")
def group_timeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The timeline page of a run with 12 members of a group and 60 partitions, toggled four times under a fault."""
    run = GroupRun(tmp_path_factory.mktemp("group"))
    for client in range(12):
        run.joins(100 + client, client)
        run.follows(200 + client, client, "zookeeper")
        run.owns(300 + client, client, *range(5 * client, 5 * client + 5), source="zookeeper")
    for turn, mode in enumerate(("kafka", "zookeeper") * 2, start=1):
        run.writes(1_000 * turn, mode)
        for client in range(12):
            run.releases(1_000 * turn + 10 + client, client, *_given(client, turn - 1))
        for client in range(12):
            run.follows(1_000 * turn + 30 + client, client, mode)
            run.owns(1_000 * turn + 50 + client, client, *_given(client, turn), source=mode)
    run.at(4_500, EventKind.FAULT_BEGAN, fault="kill(member)", fault_id="fault-1", effect="kill", trigger="now")
    run.at(4_510, EventKind.FAULT_APPLIED, fault_id="fault-1", targets=["MEZKCC-7"])
    run.ends(4_511, 7, how="killed")
    run.at(4_512, EventKind.FAULT_WITNESSED, fault_id="fault-1", witness="its process is gone")
    run.owns(5_500, 6, *_given(7, 4))
    folder = run.end(9_000, GREEN)
    write_run_reports(folder)
    return folder.timeline


def _given(client: int, turn: int) -> list[int]:
    """Five partitions in a row by ZooKeeper, every twelfth by Kafka."""
    return [5 * client + each if turn % 2 == 0 else client + 12 * each for each in range(5)]


@pytest.fixture(scope="session")
def site(summary: Summary, timeline: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as an analysis leaves it, with the run folders it links to beside it."""
    out = tmp_path_factory.mktemp("nights") / "out"
    out.mkdir()
    for name, content in files(summary).items():
        (out / name).write_text(content, encoding="utf-8")
    for attempt in summary["attempts"]:
        if attempt["timeline"]:
            page = out / str(attempt["timeline"])
            page.parent.mkdir(parents=True)
            page.hardlink_to(timeline)
    return out / "index.html"
