"""What a process may use: what the machine has, or what control groups of either version leave."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_kmigrate.limits import available_memory, processors

GIB = 2**30
UNLIMITED = "9223372036854771712"


@pytest.fixture
def machine(tmp_path: Path) -> tuple[Path, Path]:
    """Its /proc and its control groups, both still empty."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    return tmp_path / "proc", tmp_path / "groups"


def _played(machine: tuple[Path, Path], own: str, files: Mapping[str, str]) -> None:
    (machine[0] / "self" / "cgroup").write_text(own)
    for name, text in files.items():
        file = machine[1] / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        (file.parent / "cgroup.procs").touch()


V2_LIMIT = {"a/b/memory.max": str(GIB), "a/b/memory.current": str(GIB // 2), "a/b/memory.stat": "inactive_file 4096\n"}
V1_LIMIT = {
    "memory/a/memory.limit_in_bytes": str(GIB),
    "memory/a/memory.usage_in_bytes": str(GIB // 2),
    "memory/a/memory.stat": "inactive_file 7\ntotal_inactive_file 4096\n",
}


@pytest.mark.parametrize(
    ("own", "files"),
    [
        ("0::/a/b\n", {"cgroup.procs": "", **V2_LIMIT}),
        ("0::/a/b/c\n", {"cgroup.procs": "", "a/b/c/memory.max": "max\n", "a/b/c/memory.current": "1", **V2_LIMIT}),
        ("3:memory:/a\n0::/\n", {"memory/cgroup.procs": "", "unified/cgroup.procs": "", **V1_LIMIT}),
        # As seen in a container that has the host's path and only its own group.
        ("3:memory:/docker/4711\n", {name.replace("/a/", "/"): text for name, text in V1_LIMIT.items()}),
    ],
    ids=["2", "2, of the group around", "1", "1, in a container"],
)
def test_memory_is_what_the_narrowest_group_leaves(
    machine: tuple[Path, Path], own: str, files: Mapping[str, str]
) -> None:
    """What the kernel would give back is not in use."""
    _played(machine, own, files)
    assert available_memory(*machine) == GIB // 2 + 4096


def test_memory_of_a_full_group(machine: tuple[Path, Path]) -> None:
    """There is none, and not less than none."""
    _played(machine, "0::/\n", {"memory.max": "100", "memory.current": "200"})
    assert available_memory(*machine) == 0


@pytest.mark.parametrize(
    ("own", "files"),
    [
        ("", {}),
        ("0::/\n", {"memory.max": "max", "memory.current": "5", "cpu.max": "max 100000"}),
        (
            "1:cpu,cpuacct:/\n2:memory:/\n",
            {
                "memory/memory.limit_in_bytes": UNLIMITED,
                "memory/memory.usage_in_bytes": "5",
                "cpu,cpuacct/cpu.cfs_quota_us": "-1",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
        ),
    ],
    ids=["no groups", "2", "1"],
)
def test_without_a_limit_it_is_what_the_machine_has(
    machine: tuple[Path, Path], own: str, files: Mapping[str, str]
) -> None:
    """Also where the kernel writes an absurdly high one."""
    _played(machine, own, files)
    assert 0 < available_memory(*machine) < 2**50
    assert processors(*machine) == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("own", "files"),
    [
        ("0::/a\n", {"cgroup.procs": "", "a/cpu.max": "50000 100000"}),
        (
            "1:cpu,cpuacct:/a\n",
            {
                "cpu,cpuacct/cgroup.procs": "",
                "cpu,cpuacct/a/cpu.cfs_quota_us": "50000",
                "cpu,cpuacct/a/cpu.cfs_period_us": "100000",
            },
        ),
    ],
    ids=["2", "1"],
)
def test_processors_of_a_quota(machine: tuple[Path, Path], own: str, files: Mapping[str, str]) -> None:
    """Half a processor is one."""
    _played(machine, own, files)
    assert processors(*machine) == 1


def test_a_real_limit_is_seen() -> None:
    """Of a group that this test makes, where it may."""
    group = Path("/sys/fs/cgroup/memory") / f"kmigrate-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no control group for memory may be made on this machine")
    try:
        (group / "memory.limit_in_bytes").write_text(str(GIB))
        code = (
            f"import os; open({str(group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))\n"
            "from pytest_kmigrate.limits import available_memory; print(available_memory())"
        )
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    finally:
        group.rmdir()
    assert GIB // 2 < int(said) <= GIB
