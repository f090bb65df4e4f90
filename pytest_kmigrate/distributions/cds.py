"""Class-data archives: the classes of one Kafka, parsed and verified beforehand, so that every node starts faster.

One archive serves ZooKeeper, brokers, controllers and the storage tool. It belongs to one class path, one Java build
and one garbage collector; with any other the JVM leaves it aside by itself (``-Xshare:auto``). A Java agent on the
command line does not disable it, as long as the agent does not transform classes.
"""

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress, entry
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java import Java, bound_to_us, find_java, java_environment
from pytest_kmigrate.distributions.manifest import sha256_of
from pytest_kmigrate.distributions.training import JVM_FLAGS, Training, classes_named
from pytest_kmigrate.model.errors import DistributionError, KmigrateError

ARCHIVE_FILE = "kafka.jsa"
SUM_FILE = "kafka.jsa.sha256"
DUMP_WITHIN_S = 180.0
# Java (17.0.15 does) puts an archive where chance will have it, for safety: at each start a JVM rewrites 45 MB of
# ours. In the place it was made for it is mapped as it is, and most of it shared by all nodes.
IN_PLACE = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
# A training does not migrate, which would take long; these classes are known by their names.
MIGRATION_CLASSES = re.compile(r"^(org/apache/kafka|kafka)/.*[mM]igration.*\.class$")


def archive_for(distribution: Distribution, progress: Progress) -> Path | None:
    """The archive for exactly this class path and the Java in use, made where there is none; None where that fails."""
    try:
        java = find_java()
        jars = (*distribution.jars, *distribution.appended)
        name = archive_name(distribution.version, distribution.digest, java, (*JVM_FLAGS, *IN_PLACE), jars)
        folder = entry(name, lambda folder: _build(java, distribution, folder, progress), progress)
        _must_be_whole(folder)
        return folder / ARCHIVE_FILE
    except (KmigrateError, OSError, subprocess.SubprocessError) as error:
        # Nodes run as well without, only slower: whatever goes wrong here must never stop a run.
        progress(f"kafka {distribution.version}: no class-data archive, nodes start slower: {error}")
        return None


def flags_to_use(archive: Path) -> list[str]:
    """What makes a JVM take its classes from the archive, as far as it can."""
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", *IN_PLACE]


def archive_name(version: str, digest: str, java: Java, flags: Iterable[str], jars: Iterable[Path]) -> str:
    """The name in the cache of the archive of some software: another for whatever the JVM would refuse this one.

    A jar's time belongs to it because the JVM refuses jars whose time has changed.
    """
    parts = [digest, java.build, str(java.path), *flags]
    parts += [f"{jar} {jar.stat().st_mtime_ns} {jar.stat().st_size}" for jar in jars]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return f"cds/{version}-{key}"


def _build(java: Java, distribution: Distribution, folder: Path, progress: Progress) -> None:
    progress(f"kafka {distribution.version}: making a class-data archive (once; nodes then start in half the time)")
    with tempfile.TemporaryDirectory(prefix="training-", dir=folder) as work:
        classes = Path(work) / "all.classes"
        with Training(java, distribution, Path(work)) as training:
            lists = training.class_lists()
        classes.write_text("".join(f"{line}\n" for line in _merged(lists, distribution)))
        archive = folder / ARCHIVE_FILE
        to = f"-XX:SharedArchiveFile={archive}"
        _run(java, distribution, "-Xshare:dump", f"-XX:SharedClassListFile={classes}", to)
    # With -Xshare:on the JVM refuses to start when it cannot use the archive.
    _run(java, distribution, *flags_to_use(archive), "-Xshare:on", "-version")
    (folder / SUM_FILE).write_text(sha256_of(archive))
    progress(f"kafka {distribution.version}: class-data archive of {archive.stat().st_size / 1e6:.0f} MB made")


def _must_be_whole(folder: Path) -> None:
    """A JVM believes an archive of the right name: with a damaged one every node would die of SIGSEGV.

    Those that earlier releases of ours made have no sum.
    """
    expected = folder / SUM_FILE
    if expected.is_file() and expected.read_text(errors="replace") != sha256_of(folder / ARCHIVE_FILE):
        raise DistributionError(
            f"it is damaged; remove it and repeat the command, which makes it again: rm -r {folder}"
        )


def _merged(lists: list[Path], distribution: Distribution) -> list[str]:
    lines = [line for file in lists for line in file.read_text().splitlines()]
    of_kafka = [jar for jar in distribution.jars if jar.name.startswith("kafka")]
    return list(dict.fromkeys([*lines, *classes_named(MIGRATION_CLASSES, of_kafka)]))


def _run(java: Java, distribution: Distribution, *arguments: str) -> None:
    command = [str(java.path), *JVM_FLAGS, "-cp", distribution.classpath, *arguments]
    answer = subprocess.run(
        bound_to_us(command),
        capture_output=True,
        text=True,
        timeout=DUMP_WITHIN_S,
        check=False,
        errors="replace",
        env=java_environment(),
    )
    if answer.returncode != 0:
        said = (answer.stdout + answer.stderr)[-600:]
        raise DistributionError(f"java {arguments[0]}: expected exit code 0, got {answer.returncode}: {said}")
