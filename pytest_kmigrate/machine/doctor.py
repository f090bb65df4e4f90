"""The doctor: does this machine have what a run needs, and which command cures each lack."""

import os
import re
import resource
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from pytest_kmigrate.distributions.cache import CACHE_VARIABLE, cache_dir
from pytest_kmigrate.distributions.java import (
    JAVA_CURE,
    JAVA_TEMPORARY,
    OLDEST_JAVA,
    allows_programs,
    find_java,
    unpacking_in,
)
from pytest_kmigrate.distributions.java_tools.building import JDK_CURE
from pytest_kmigrate.distributions.toxiproxy import SERVER, TOXIPROXY_CURE
from pytest_kmigrate.limits import available_memory
from pytest_kmigrate.machine import packages
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.providers.owned.state import state_dir
from pytest_kmigrate.providers.process import lease

LEAST_MEMORY_GIB = 4.0
LEAST_OPEN_FILES = 4096
LOOPBACK_SAMPLES = ("127.0.0.1", "127.200.1.1", "127.254.250.250")
_OTHER_CACHE = f"export {CACHE_VARIABLE}=/a/folder/that/can/be/written"
_REQUIREMENT = re.compile(r"[^\w.-]")
"""What ends the name in a requirement of a package."""
# What cures each lack: of one tuple all, of "a|b" the first that this release of the system offers.
APT_PACKAGES = {
    "java": ("openjdk-17-jre-headless|openjdk-21-jre-headless",),
    "toxiproxy": ("golang-go", "ca-certificates"),
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at; ``cure`` is empty where nothing is wrong."""

    name: str
    ok: bool
    found: str
    cure: str = ""


def examine() -> list[Finding]:
    """Look at everything a run needs; each lack comes with the command that cures it."""
    looks: tuple[Callable[[], Finding], ...] = (
        _java,
        _cache,
        _libraries,
        _memory,
        _open_files,
        _loopback,
        _ports,
        _toxiproxy,
        _python,
        _docker,
        _jdk,
    )
    return [look() for look in looks]


def cure(progress: Callable[[str], None]) -> list[Finding]:
    """Install what is missing, where that is for us to do: Java and Go, on Debian or Ubuntu, as root.

    Returns the findings afterwards; where nothing is missing nothing is run.
    """
    missing = [finding for finding in examine() if not finding.ok and finding.name in APT_PACKAGES]
    if missing:
        if shutil.which("apt-get") is None or os.geteuid() != 0:
            cures = "\n".join(f"  {finding.name}: {finding.cure}" for finding in missing)
            raise EnvironmentLackError(
                f"expected {' and '.join(finding.name for finding in missing)}, got none, and they can be installed "
                f"from here only by root on Debian or Ubuntu; do it by hand:\n{cures}"
            )
        packages.install([package for finding in missing for package in APT_PACKAGES[finding.name]], progress)
    return examine()


def _java() -> Finding:
    try:
        java = find_java()
    except EnvironmentLackError as error:
        return Finding("java", ok=False, found=str(error), cure=JAVA_CURE)
    return Finding("java", ok=True, found=f"Java {java.version} at {java.path} (at least {OLDEST_JAVA})")


def _cache() -> Finding:
    """Where Kafka, its agents and Toxiproxy lie: a folder that can be written, and whose programs can be run."""
    try:
        folder = cache_dir()
    except EnvironmentLackError as error:
        return Finding("cache", ok=False, found=str(error), cure=_OTHER_CACHE)
    place = _there(folder)
    if allows_programs(place):
        return Finding("cache", ok=True, found=f"{folder}, {shutil.disk_usage(place).free / 2**30:.1f} GiB free")
    return Finding("cache", ok=False, found=f"{folder} is read-only or mounted with noexec", cure=_OTHER_CACHE)


def _there(folder: Path) -> Path:
    """What exists of a folder that may be made later."""
    return next(each for each in (folder, *folder.parents) if each.is_dir())


def _libraries() -> Finding:
    """Asked in the order in which a cluster looks for a folder."""
    folders = [state_dir(), *([cache_dir()] if _cache().ok else [])]
    try:
        unpacking = unpacking_in(*map(_there, folders))
    except EnvironmentLackError as error:
        return Finding("libraries", ok=False, found=str(error), cure=_OTHER_CACHE)
    where = unpacking[0].partition("=")[2] if unpacking else JAVA_TEMPORARY
    return Finding("libraries", ok=True, found=f"a JVM can load libraries from {where}")


def _memory() -> Finding:
    available_gib = available_memory() / 2**30
    found = f"{available_gib:.1f} GiB available (at least {LEAST_MEMORY_GIB:g})"
    ok = available_gib >= LEAST_MEMORY_GIB
    return Finding("memory", ok, found, "" if ok else "ps aux --sort=-rss | head  # then end what is not needed")


def _open_files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    ok = soft == resource.RLIM_INFINITY or soft >= LEAST_OPEN_FILES
    shown = "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
    found = f"{shown} open files allowed (at least {LEAST_OPEN_FILES})"
    if ok:
        return Finding("open files", ok, found)
    enough = hard == resource.RLIM_INFINITY or hard >= LEAST_OPEN_FILES
    by_root = f'echo "$(id -un) hard nofile {LEAST_OPEN_FILES}" | sudo tee -a /etc/security/limits.conf  # log in anew'
    return Finding("open files", ok, found, f"ulimit -n {LEAST_OPEN_FILES}" if enough else by_root)


def _loopback() -> Finding:
    refused = [address for address in LOOPBACK_SAMPLES if not _can_bind(address)]
    if refused:
        cure = "ip link set lo up && ip address replace 127.0.0.1/8 dev lo  # as root; the process provider needs Linux"
        return Finding("loopback", ok=False, found=f"cannot listen on {', '.join(refused)}", cure=cure)
    return Finding("loopback", ok=True, found="all of 127.0.0.0/8 can be listened on")


def _can_bind(address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _ports() -> Finding:
    """Asked at the last block, which a cluster of ours is the last to take."""
    busy = lease.busy_ports(lease.BLOCKS[-1])
    if busy:
        cure = f"ss -ltnp 'sport = :{busy[0]}'  # then end it, or let it listen at 127.0.0.1 only"
        return Finding("ports", ok=False, found=lease.held(busy), cure=cure)
    return Finding("ports", ok=True, found="no process listens at every address on a port that nodes need")


def _toxiproxy() -> Finding:
    for program in (SERVER, "go"):
        path = shutil.which(program)
        if path is not None:
            use = "is used" if program == SERVER else f"builds a {SERVER}"
            return Finding("toxiproxy", ok=True, found=f"{path} {use}")
    return Finding("toxiproxy", ok=False, found=f"neither {SERVER} nor go on PATH", cure=TOXIPROXY_CURE)


def _python() -> Finding:
    needed = [text for text in metadata.requires("pytest-kmigrate") or () if "extra ==" not in text]
    missing = [name for name in (_REQUIREMENT.split(text)[0] for text in needed) if not _is_installed(name)]
    if missing:
        cure = "pip install --force-reinstall pytest-kmigrate"
        return Finding("python", ok=False, found=f"not installed: {', '.join(missing)}", cure=cure)
    return Finding("python", ok=True, found="all Python packages are there")


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _docker() -> Finding:
    """Told, and never a lack: the one provider there is runs processes."""
    program, daemon = shutil.which("docker"), Path("/var/run/docker.sock")
    found = f"{program}, {'a' if daemon.exists() else 'no'} daemon at {daemon}" if program else "no docker command"
    return Finding("docker", ok=True, found=f"{found} (not needed)")


def _jdk() -> Finding:
    """Never a lack: nodes run without; only the lines of executed code and generated mutants need one."""
    program = shutil.which("javac")
    lacking = f"no javac (only executed code and generated mutants need it: {JDK_CURE})"
    return Finding("jdk", ok=True, found=f"{program} builds tools for executed code" if program else lacking)
