"""Faults of what a process is granted, on real nodes: each is seen to bite, and clients lose nothing by it."""

from pathlib import Path

import pytest

from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.name_service import Misname
from pytest_kmigrate.faults.resources import Clock, FewFiles, FillDisk, SlowFsync, Starve, TornTail
from pytest_kmigrate.faults.targets import node, quorum_leader
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.providers.owned import clocks
from pytest_kmigrate.running.run import Run
from tests.real.protected import ran

FAULTS = {
    "time": (Clock(node("broker-0")), Clock(quorum_leader(), forward=True), Starve(quorum_leader())),
    "disks": (SlowFsync(quorum_leader()), FewFiles(node("broker-1")), FillDisk(node("broker-2"))),
    "power": (TornTail(node("broker-0")),),
    "names": (Misname(node("broker-0")), Misname(quorum_leader())),
}


@pytest.mark.nightly
@pytest.mark.parametrize("about", FAULTS)
def test_each_bites_and_is_healed(about: str, tmp_path: Path) -> None:
    """One after the other, while clients write; a broker may end by a full disk, which is no death of Kafka's."""
    if about == "time" and clocks.library() is None:
        pytest.skip(f"this machine has no {clocks.PACKAGE}")

    def act(run: Run) -> None:
        run.traffic.await_acked(300)
        run.metadata.change(2)
        for fault in FAULTS[about]:
            with inject(run.scene, fault) as injection:
                injection.await_bitten()
            run.cluster.await_serving()
            run.traffic.await_acked(run.traffic.acked() + 200)
        assert len([each for each in run.recorder.events if each.kind is EventKind.FAULT_WITNESSED]) == len(
            FAULTS[about]
        )

    ran("kraft-broker3-controller3-quick", tmp_path, act, [checks.no_unexpected_death()], clocks=about == "time")
