"""Clients that keep the brokers they know: an older ``confluent-kafka``, where the installed one forgets brokers.

A broker in ZooKeeper mode that has just started reports no broker. From librdkafka 2.10 on, a client that hears this
forgets all brokers, and may find none again (its issue 5301): a healthy cluster would be blamed. So processes whose
clients live long load the last version without that fault, from the cache; whatever else a user's environment holds
stays as it is. Clients of the pytest process itself are made anew for each request instead.
"""

import functools
import importlib.util
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from packaging.version import Version

from pytest_kmigrate.distributions.cache import Progress, entry
from pytest_kmigrate.model.errors import DistributionError, EnvironmentLackError

PACKAGE = "confluent-kafka"
STEADY = "2.9.0"
FORGETS_SINCE = Version("2.10")
NEWEST_PYTHON = (3, 13)
"""The newest Python that the steady version has a wheel for."""
LOCK = Path(__file__).parent / "locks" / f"{PACKAGE}.txt"
_CURE = f"pip install '{PACKAGE}<{FORGETS_SINCE}'"
_WITHIN_S = 300


@functools.cache
def forgets_brokers() -> bool:
    """Whether the installed clients are of the versions that forget all brokers when one reports none."""
    return Version(metadata.version(PACKAGE)) >= FORGETS_SINCE


def have_steady_clients(progress: Progress) -> Path | None:
    """The folder to import the steady clients from, fetched if need be; None where the installed ones are steady."""
    return _folder(progress) if forgets_brokers() else None


def prefer_steady_clients() -> None:
    """Have this process import clients that keep their brokers; to be called before anything imports any."""
    folder = have_steady_clients(lambda line: print(line, file=sys.stderr))  # noqa: T201 - a program of ours begins
    if folder is not None:
        sys.path.insert(0, str(folder))


def _folder(progress: Progress) -> Path:
    if sys.version_info[:2] > NEWEST_PYTHON:
        wanted, here = ".".join(map(str, NEWEST_PYTHON)), platform.python_version()
        raise EnvironmentLackError(
            f"clusters need Python 3.11 to {wanted}, got {here}, for which {PACKAGE} {STEADY} has no wheel, and later "
            f"versions lose the brokers they know; judge, analyze, certify and verify work on {here}, too"
        )
    name = f"clients/{PACKAGE}-{STEADY}-{sys.implementation.cache_tag}-{platform.machine()}"
    return entry(name, lambda folder: _fetch(folder, progress), progress)


def _fetch(folder: Path, progress: Progress) -> None:
    progress(f"{PACKAGE} {metadata.version(PACKAGE)} loses the brokers it knows; fetching {STEADY} for our own clients")
    command = [*_installer(), "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCK)]
    try:
        answer = subprocess.run(
            [*command, "--target", str(folder)],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DistributionError(
            f"{PACKAGE} {STEADY} for our own clients: expected to have it within {_WITHIN_S} s, got no end; check the "
            f"network, or install it beside pytest-kmigrate: {_CURE}"
        ) from error
    if answer.returncode != 0:
        raise DistributionError(
            f"{PACKAGE} {STEADY} for our own clients: expected a download, got: {_reason(answer.stderr)}; check the "
            f"network and the settings of pip, or install it beside pytest-kmigrate: {_CURE}"
        )


def _installer() -> Sequence[str]:
    """The pip of this Python, else uv for it."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    if uv is None:
        raise EnvironmentLackError(
            f"{PACKAGE} {STEADY} for our own clients: expected pip or uv to fetch it, got neither; install it: {_CURE}"
        )
    return [uv, "pip", "install", "--quiet", "--python", sys.executable]


def _reason(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "nothing at all")
