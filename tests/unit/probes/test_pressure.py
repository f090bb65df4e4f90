"""Facts about the probe of the machine: who waits, who works, what is missing on other kernels, and standing still."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.pressure import PressureProbe
from tests.unit.fakes import MemoryRecorder

CONTAINED, SWAPPED_KB = 70, 400
PROCESSORS = os.cpu_count() or 1
S = 1_000_000_000


class Machine:
    """A ``/proc`` of the test's own, and a clock."""

    def __init__(self, proc: Path, *, has_psi: bool) -> None:
        self.proc = proc
        self.now_ns = 0
        self._has_psi = has_psi

    def counts(
        self, *, running: int = 1, busy: int = 0, ticks: int = 0, psi_s: float = 0, moved: int = 0, **own: int
    ) -> None:
        """What the kernel has counted by now; ``own`` are ticks of pytest (``mine``), of its child, of a container."""
        files = {
            "stat": f"cpu  {busy} 0 0 {ticks - busy} 0 0 0 0 0 0\ncpu0 1 1\nprocs_running {running}\n",
            "diskstats": f" 8 0 sda 1 0 {moved} 0 1 0 0 0 0 0 0\n 8 1 sda1 1 0 {moved} 0 1 0 0 0 0 0 0\n",
            f"{os.getpid()}/stat": _stat(1, own.get("mine", 0), own.get("ended", 0)),
            **{f"{each}/io": _io(0) for each in (60, CONTAINED)},
            f"{os.getpid()}/io": _io(own.get("written", 0), own.get("cancelled", 0)),
            "meminfo": f"MemTotal: 8000 kB\nMemAvailable: 400 kB\nSwapTotal: 900 kB\nSwapFree: {900 - SWAPPED_KB} kB\n",
            f"{os.getpid()}/status": f"Name:\ta kB\nRssAnon:\t{own.get('resident_kb', 0)} kB\nVmSwap:\t90 kB\n",
            "60/status": "RssAnon:\t 300 kB\nRssFile:\t 5000 kB\nRssShmem:\t 10 kB\n",
            "60/stat": _stat(os.getpid(), own.get("child", 0)),
            f"{CONTAINED}/stat": _stat(1, own.get("contained", 0)),
            "1/stat": _stat(0, 5000),
        }
        if self._has_psi:
            psi = f"some avg10=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={int(psi_s * 1e6)}\n"
            files |= {"pressure/memory": psi, "pressure/io": psi}
        for name, text in files.items():
            (self.proc / name).parent.mkdir(exist_ok=True)
            (self.proc / name).write_text(text)

    def passes(self, probe: PressureProbe, seconds: float = 2.0) -> None:
        """Time passes, in which the probe looks as often as it should in two seconds."""
        for _ in range(8):
            self.now_ns += int(seconds * S / 8)
            probe.look()


def _stat(parent: int, ticks: int, of_ended: int = 0) -> str:
    return f"1 (a (name) of 2) S {parent} 1 1 0 -1 4194560 1 0 0 0 {ticks} 0 {of_ended} 0 20 0 1 0 100 1 1\n"


def _io(written: int, cancelled: int = 0) -> str:
    return f"rchar: 9\nread_bytes: 0\nwrite_bytes: {written}\ncancelled_write_bytes: {cancelled}\n"


@pytest.fixture(params=[True, False], ids=["with PSI", "without PSI"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    """An idle one."""
    made = Machine(tmp_path, has_psi=request.param)
    made.counts()
    return made


def _probe(machine: Machine) -> tuple[PressureProbe, MemoryRecorder]:
    recorder = MemoryRecorder()
    recorder.record(NodeStarted(Role.BROKER, None, CONTAINED, "3.9.1", 1), "broker-0")
    return PressureProbe(recorder, machine.proc, lambda: machine.now_ns), recorder


def _data(recorder: MemoryRecorder) -> Mapping[str, object]:
    (event,) = recorder.of(EventKind.MACHINE_PRESSURE)
    return event.data


def test_an_idle_machine_leaves_no_line(machine: Machine) -> None:
    """A run's folder stays small."""
    probe, recorder = _probe(machine)
    machine.counts(running=1 + PROCESSORS, busy=100, ticks=400)
    machine.passes(probe)
    assert not recorder.of(EventKind.MACHINE_PRESSURE)


def test_others_that_work_are_told_apart_from_the_run(machine: Machine) -> None:
    """Of 400 ticks the run's own processes, one of them in a container, had 100; all 400 were used."""
    probe, recorder = _probe(machine)
    machine.counts(running=1 + PROCESSORS + 20 * PROCESSORS, busy=400, ticks=400, mine=20, child=30, contained=50)
    machine.passes(probe)
    assert (_data(recorder)["waiting"], _data(recorder)["foreign"]) == (20.0, 0.75)
    assert _data(recorder)["late_ms"] == 0


def test_a_tool_that_has_ended_was_of_the_run(machine: Machine) -> None:
    """Its parent has what it worked, as of a JVM that ran for a second."""
    probe, recorder = _probe(machine)
    machine.counts(running=1 + PROCESSORS + 20 * PROCESSORS, busy=400, ticks=400, mine=20, ended=380)
    machine.passes(probe)
    assert _data(recorder)["foreign"] == 0.0


def test_standing_still_is_seen_by_the_clock(machine: Machine) -> None:
    """Two seconds took 27."""
    probe, recorder = _probe(machine)
    machine.passes(probe, 27)
    assert _data(recorder)["late_ms"] == 25_000


def test_memory_and_disks_are_seen_by_psi_alone(tmp_path: Path) -> None:
    """1.5 of 2 seconds nothing could run; of 1000 sectors the run wrote a tenth."""
    machine = Machine(tmp_path, has_psi=True)
    machine.counts()
    probe, recorder = _probe(machine)
    machine.counts(psi_s=1.5, moved=1000, written=51_200)
    machine.passes(probe)
    assert [_data(recorder)[key] for key in ("memory", "io", "foreign_io")] == [0.75, 0.75, 0.9]


def test_what_the_run_wrote_is_its_own_also_when_the_disk_takes_it_later(tmp_path: Path) -> None:
    """The kernel writes back what was dirty: 100 sectors that the run wrote before, and then 900 of others."""
    machine = Machine(tmp_path, has_psi=True)
    machine.counts()
    probe, recorder = _probe(machine)
    machine.counts(written=102_400, cancelled=51_200)
    machine.passes(probe)
    machine.counts(psi_s=1.5, moved=100, written=102_400, cancelled=51_200)
    machine.passes(probe)
    assert _data(recorder)["foreign_io"] == 0.0
    machine.counts(psi_s=3, moved=1000, written=102_400, cancelled=51_200)
    machine.passes(probe)
    assert [each.data["foreign_io"] for each in recorder.of(EventKind.MACHINE_PRESSURE)] == [0.0, 1.0]


@pytest.mark.parametrize(("resident_kb", "foreign"), [(0, 0.95), (3600, 0.5), (7600, 0.0)])
def test_whose_memory_it_is(tmp_path: Path, resident_kb: int, foreign: float) -> None:
    """8000 kB are in use, swapped or not; of them the run's processes have 400 besides those of pytest."""
    machine = Machine(tmp_path, has_psi=True)
    machine.counts()
    probe, recorder = _probe(machine)
    machine.counts(psi_s=1.5, resident_kb=resident_kb)
    machine.passes(probe)
    assert _data(recorder)["foreign_memory"] == foreign


def test_bytes_that_cannot_be_read_are_nobodys(tmp_path: Path) -> None:
    """A node in a container may be of another user: it may have written all that a disk did."""
    machine = Machine(tmp_path, has_psi=True)
    machine.counts()
    probe, recorder = _probe(machine)
    machine.counts(psi_s=1.5, moved=1000)
    (tmp_path / str(CONTAINED) / "io").unlink()
    machine.passes(probe)
    assert "foreign_io" not in _data(recorder)


def test_a_machine_without_psi_has_no_such_keys(tmp_path: Path) -> None:
    """They are missing, and nothing follows from them."""
    machine = Machine(tmp_path, has_psi=False)
    machine.counts()
    probe, recorder = _probe(machine)
    machine.counts(running=1 + 9 * PROCESSORS)
    machine.passes(probe)
    assert not _data(recorder).keys() & {"memory", "io"}


def test_this_machine_can_be_read() -> None:
    """Whatever kernel it has."""
    probe = PressureProbe(MemoryRecorder())
    probe.start()
    probe.look()
    probe.stop()
    reading = probe._read()
    assert reading.ticks > reading.busy > 0
    assert os.getpid() in reading.own
    assert reading.memory_bytes is not None
    assert reading.memory_bytes > reading.own_memory_bytes > 0
