"""Builds the programs of this folder and runs them: each a class of one source file, with the jars that it needs."""

import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress, entry
from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.java import bound_to_us, find_java, java_environment
from pytest_kmigrate.distributions.manifest import Jar, Manifest
from pytest_kmigrate.model.errors import DistributionError, EnvironmentLackError

JDK_CURE = "apt-get install -y openjdk-17-jdk-headless"
JACOCO_CORE = Manifest(
    "jacoco-core",
    "0.8.14",
    (
        Jar(
            "asm-9.9.jar",
            126122,
            "03d99a74ad1ee5c71334ef67437f4ef4fe3488caa7c96d8645abc73c8e2017d4",
            "org.ow2.asm:asm:9.9",
        ),
        Jar(
            "asm-commons-9.9.jar",
            74348,
            "db2f6f26150bbe7c126606b4a1151836bcc22a1e05a423b3585698bece995ff8",
            "org.ow2.asm:asm-commons:9.9",
        ),
        Jar(
            "asm-tree-9.9.jar",
            51947,
            "42178f3775c9c63f9e5e1446747d29b4eca4d91bd6e75e5c43cfa372a47d38c6",
            "org.ow2.asm:asm-tree:9.9",
        ),
        Jar(
            "org.jacoco.core-0.8.14.jar",
            230316,
            "28abbf0eea5a08e4f24097f2fbac663ca17c341c25c3a04d90d6cd325943c995",
            "org.jacoco:org.jacoco.core:0.8.14",
        ),
    ),
)
PITEST = Manifest(
    "pitest",
    "1.17.4",
    (
        Jar(
            "pitest-1.17.4.jar",
            619977,
            "97082da0ae5283f564b3f51652c39f4f1d235eb3b019384d11eb5d4fc0e4219e",
            "org.pitest:pitest:1.17.4",
        ),
        Jar(
            "pitest-entry-1.17.4.jar",
            783857,
            "809c1cf0b83c14e5c5cdb8d70c2c231db24499243263e18474436e30c23657eb",
            "org.pitest:pitest-entry:1.17.4",
        ),
    ),
)
_SOURCES = Path(__file__).parent
_OUR_JAVA, _OLDEST_OF_NODES = "17", "11"
"""The releases of Java that class files are made for: a container's node may run an older Java than this machine."""
_MOST_SHOWN = 800


def run(program: str, uses: Manifest, arguments: Sequence[str], asked: Iterable[str], progress: Progress) -> str:
    """What a program writes, given lines on its standard input; DistributionError if it fails."""
    libs = [cached_jars(uses, progress) / jar.name for jar in uses.jars]
    classes = _built(program, libs, _OUR_JAVA, progress)
    command = [str(find_java().path), "-cp", os.pathsep.join(map(str, [classes, *libs])), program, *arguments]
    answer = subprocess.run(
        bound_to_us(command),
        input="".join(f"{line}\n" for line in asked),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=java_environment(),
    )
    _require_success(program, answer)
    return answer.stdout


def agent_jar(program: str, progress: Progress) -> Path:
    """A program as a Java agent, for ``-javaagent:``."""
    classes = _built(program, (), _OLDEST_OF_NODES, progress)
    jar = f"{program}.jar"

    def packed(folder: Path) -> None:
        with zipfile.ZipFile(folder / jar, "w") as archive:
            archive.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nPremain-Class: {program}\n")
            for file in sorted(classes.glob("*.class")):
                archive.write(file, file.name)

    return entry(f"java-tools/{classes.name}-jar", packed, progress) / jar


def source_digest(program: str) -> str:
    """What its results depend on besides what it is asked."""
    return hashlib.sha256((_SOURCES / f"{program}.java").read_bytes()).hexdigest()[:12]


def _built(program: str, libs: Sequence[Path], release: str, progress: Progress) -> Path:
    """The folder with its class files."""
    name = f"java-tools/{program}-{source_digest(program)}"
    return entry(name, lambda folder: _compile(program, libs, release, folder, progress), progress)


def _compile(program: str, libs: Sequence[Path], release: str, folder: Path, progress: Progress) -> None:
    progress(f"{program}: building it (once, a few seconds)")
    places = ["-cp", os.pathsep.join(map(str, libs))] if libs else []
    source = str(_SOURCES / f"{program}.java")
    command = [_javac(), *places, "--release", release, "-proc:none", "-d", str(folder), source]
    answer = subprocess.run(bound_to_us(command), capture_output=True, text=True, check=False, env=java_environment())
    _require_success(f"javac {program}", answer)


def _javac() -> str:
    """The compiler beside Java, otherwise that on PATH."""
    places = (shutil.which("javac", path=str(find_java().path.parent)), shutil.which("javac"))
    found = next((each for each in places if each), None)
    if found is None:
        raise EnvironmentLackError(
            "expected a JDK, whose javac builds the tools for executed code and mutants, got a Java without javac; on "
            f"Debian or Ubuntu: {JDK_CURE}; elsewhere put a JDK 17+ on PATH or JAVA_HOME"
        )
    return found


def _require_success(what: str, answer: subprocess.CompletedProcess[str]) -> None:
    if answer.returncode != 0:
        said = answer.stderr.strip()[-_MOST_SHOWN:]
        raise DistributionError(f"{what}: expected exit code 0, got {answer.returncode}: {said}")
