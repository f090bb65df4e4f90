"""What the harness itself takes, besides the JVMs: memory and processor time of one pytest run, seen from outside."""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import psutil

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.clients.client_workload import MODULE as CLIENTS_MODULE
from tests.bench.provider import steady_traffic

_STEADY_WITHIN_S = 600
_SAMPLED_EVERY_S = 1.0
_MIB = 1024 * 1024
_OUTPUT_SHOWN = 2000
Measured = dict[str, object]
ByPart = dict[str, float]


class _Memory:
    """The largest memory seen so far, as a sum over all parts at one moment."""

    def __init__(self) -> None:
        self.rss_mib: ByPart = {}
        self.pss_mib: ByPart = {}

    def sample(self, processes: list[tuple[str, psutil.Process]]) -> None:
        """Look once; a process that ends meanwhile counts nothing."""
        rss: ByPart = defaultdict(float)
        pss: ByPart = defaultdict(float)
        for part, process in processes:
            try:
                memory = process.memory_full_info()
            except psutil.Error:
                continue
            rss[part] += memory.rss / _MIB
            pss[part] += memory.pss / _MIB
        self.rss_mib = max(self.rss_mib, dict(rss), key=_total)
        self.pss_mib = max(self.pss_mib, dict(pss), key=_total)

    def plain(self) -> Measured:
        """For the results."""
        return {
            "rss_mib": _total(self.rss_mib),
            "pss_mib": _total(self.pss_mib),
            "rss_mib_by_part": self.rss_mib,
            "pss_mib_by_part": self.pss_mib,
        }


def measure(folder: Path, runs: Path, toxiproxy: Path, per_s: float, window_s: float) -> Measured:
    """Run pytest with traffic of ``per_s`` sends a second in dual write, and watch its processes less the JVMs."""
    folder.mkdir(parents=True)
    environment = {**os.environ, steady_traffic.FOLDER: str(folder), steady_traffic.PER_S: str(per_s)}
    command = [sys.executable, "-m", "pytest", "-q", steady_traffic.__file__, f"--kmigrate-runs={runs}"]
    output = folder / "pytest.log"
    with output.open("wb") as log:
        pytest = subprocess.Popen(bound_to_us(command), env=environment, stdout=log, stderr=log)
    try:
        return _watched(pytest, folder, toxiproxy, window_s)
    except ClusterError as error:
        error.add_note(output.read_text(errors="replace")[-_OUTPUT_SHOWN:])
        raise
    finally:
        pytest.kill()  # its supervisor ends the cluster
        pytest.wait()


def _watched(pytest: "subprocess.Popen[bytes]", folder: Path, toxiproxy: Path, window_s: float) -> Measured:
    root, in_window, in_all = psutil.Process(pytest.pid), _Memory(), _Memory()

    def sampling(condition: Callable[[], bool], *memories: _Memory) -> Callable[[], bool]:
        def sampled() -> bool:
            processes = _parts(root, toxiproxy)
            for memory in memories:
                memory.sample(processes)
            return condition()

        return sampled

    def must_run() -> None:
        if pytest.poll() is not None:
            raise ClusterError(f"expected the watched pytest to run on; it ended with code {pytest.returncode}")

    steady = sampling((folder / steady_traffic.STEADY).exists, in_all)
    until(steady, awaited="steady traffic", within_s=_STEADY_WITHIN_S, every_s=_SAMPLED_EVERY_S, abort=must_run)
    began, before = time.monotonic(), _cpu_s(root, toxiproxy)
    window_over = sampling(lambda: time.monotonic() - began >= window_s, in_window, in_all)
    until(window_over, awaited="the window", within_s=window_s * 2, every_s=_SAMPLED_EVERY_S, abort=must_run)
    lasted_s, after = time.monotonic() - began, _cpu_s(root, toxiproxy)
    (folder / steady_traffic.OVER).touch()
    ended = sampling(lambda: pytest.poll() is not None, in_all)
    until(ended, awaited="the end of pytest", within_s=_STEADY_WITHIN_S, every_s=_SAMPLED_EVERY_S)
    counted = json.loads((folder / steady_traffic.COUNTED).read_text())
    return {
        **counted,
        "window_s": lasted_s,
        "cpu_percent_by_part": _percent(before, after, lasted_s),
        "memory_in_window": in_window.plain(),
        "memory_peak_of_whole_run": in_all.plain(),
        "pytest_exit_code": pytest.returncode,
    }


def _percent(before: dict[tuple[str, int], float], after: dict[tuple[str, int], float], lasted_s: float) -> ByPart:
    """Of one core, by part; a process born inside the window counts from its birth."""
    percent: ByPart = defaultdict(float)
    for (part, pid), spent_s in after.items():
        percent[part] += 100 * (spent_s - before.get((part, pid), 0.0)) / lasted_s
    return dict(percent)


def _cpu_s(root: psutil.Process, toxiproxy: Path) -> dict[tuple[str, int], float]:
    """Processor seconds so far, by part and process."""
    spent = {}
    for part, process in _parts(root, toxiproxy):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        spent[part, process.pid] = times.user + times.system
    return spent


def _parts(root: psutil.Process, toxiproxy: Path) -> list[tuple[str, psutil.Process]]:
    """The processes of the tree that are no JVM, each with the part of the harness it is."""
    found = []
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
    for process in processes:
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if words and Path(words[0]).name != "java":
            found.append((_part(words, toxiproxy), process))
    return found


def _part(words: list[str], toxiproxy: Path) -> str:
    if words[0] == str(toxiproxy):
        return "toxiproxy"
    if CLIENTS_MODULE in words:
        return "clients"
    if any(word.endswith("supervisor.py") for word in words):
        return "supervisor"
    return "pytest"


def _total(parts: ByPart) -> float:
    return sum(parts.values())
