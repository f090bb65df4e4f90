"""Java: where it is, whether it is new enough, and how its processes are started so that none outlives us."""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError

OLDEST_JAVA = 17
JAVA_TEMPORARY = Path("/tmp")  # noqa: S108 - Java takes it, whatever TMPDIR says
JAVA_CURE = "apt-get install -y openjdk-17-jre-headless || apt-get install -y openjdk-21-jre-headless"


@dataclass(frozen=True)
class Java:
    """One Java runtime; ``version`` is its feature number (17), ``build`` its full text, which archives depend on."""

    path: Path
    version: int
    build: str


def find_java() -> Java:
    """The Java to use: that of ``JAVA_HOME`` where it is set, else the first on ``PATH``; at least Java 17."""
    path = _java_path()
    java = _examined(path)
    if java.version < OLDEST_JAVA:
        raise EnvironmentLackError(
            f"expected Java {OLDEST_JAVA} or newer, got Java {java.version} at {path}; {_cure()}"
        )
    return java


def java_environment() -> dict[str, str]:
    """The environment of a JVM: by another locale it could not find files whose names are not of that locale."""
    return {**os.environ, "LC_ALL": "C.UTF-8"}


def allows_programs(folder: Path) -> bool:
    """Whether a JVM can unpack its libraries there and load them: a folder that may be written, without noexec."""
    return os.access(folder, os.W_OK | os.X_OK) and not os.statvfs(folder).f_flag & os.ST_NOEXEC


def unpacking_in(*folders: Path) -> list[str]:
    """The option of a JVM that unpacks snappy, zstd and others into the first of the folders that allows programs.

    None where Java's own temporary folder does. EnvironmentLackError if no folder does.
    """
    if allows_programs(JAVA_TEMPORARY):
        return []
    folder = next((each for each in folders if allows_programs(each)), None)
    if folder is None:
        raise EnvironmentLackError(
            f"expected a folder in which a JVM can load libraries, got {JAVA_TEMPORARY}, "
            f"{', '.join(map(str, folders))}, which are read-only or mounted with noexec; mount one without, or name "
            "one by KMIGRATE_CACHE"
        )
    return [f"-Djava.io.tmpdir={folder}"]


def bound_to_us(command: Sequence[str]) -> list[str]:
    """The command, made to die when the thread that starts it dies, however that ends (Linux's parent-death signal).

    Where ``setpriv`` is missing the command is returned as it is: then only our own clean-up ends it.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else list(command)


def _java_path() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        if not os.access(path, os.X_OK):
            raise EnvironmentLackError(
                f"JAVA_HOME is {home}: expected an executable {path}, got none; correct or unset JAVA_HOME"
            )
        return path
    found = shutil.which("java")
    if found is None:
        raise EnvironmentLackError(f"expected Java {OLDEST_JAVA} or newer on PATH, got no java at all; {_cure()}")
    return Path(found)


def _cure() -> str:
    return f"on Debian or Ubuntu: {JAVA_CURE}; elsewhere install any JRE {OLDEST_JAVA}+ and put it on PATH or JAVA_HOME"


@functools.cache
def _examined(path: Path) -> Java:
    try:
        answer = subprocess.run([str(path), "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLackError(f"{path} -version: expected its version, got {error}; {_cure()}") from error
    build = parsed_build(answer.stderr + answer.stdout)
    if build is None:
        raise EnvironmentLackError(
            f"{path} -version: expected a line with a version, got {answer.stderr[:200]!r}; {_cure()}"
        )
    version, text = build
    return Java(path.resolve(), version, text)


def parsed_build(answer: str) -> tuple[int, str] | None:
    """Feature number and build text from what ``java -version`` prints; None when it says nothing of the kind.

    Java 8 and older call themselves ``1.8.0_292``; the builds of one version differ in the line in brackets.
    """
    number = re.search(r'version "(?:1\.)?(\d+)[^"]*"', answer)
    if number is None:
        return None
    lines = [line.strip() for line in answer.splitlines() if "version" in line or "(build" in line]
    return int(number.group(1)), " | ".join(lines)
