"""The class-data archive of Spark's JVM: the 20,000 classes of a small analysis, parsed and linked beforehand.

The first analysis makes it of its own JVM when all else is done, so that nothing has to be run only for it. With any
other class path, Java build or way of checking bytecode the JVM leaves it aside by itself.
"""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # PySpark's bridge has no types
from pyspark import SparkContext

from pytest_kmigrate.distributions.cache import Progress, cache_dir, entry
from pytest_kmigrate.distributions.cds import archive_name
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.model.errors import DistributionError, KmigrateError

ARCHIVE_FILE = "spark.jsa"
_ROOM_BYTES = 300_000_000
"""So much must be free, twice what an archive takes: on a full disk the JVM ends itself without a word."""

_OPTIONS = "spark.driver.extraJavaOptions"
PLACE = "kmigrate.class-data"
"""The JVM's own property that names the archive to be made of it; a JVM that cannot make one has none."""


def with_archive(chosen: dict[str, str]) -> dict[str, str]:
    """The settings, with what lets the JVM use the archive or, where there is none yet, make it in the end."""
    flags = chosen[_OPTIONS]
    try:
        name = _name(flags)
    except (KmigrateError, OSError):
        # No Java, for example: Spark will report it.
        return chosen
    archive = cache_dir() / name / ARCHIVE_FILE
    if archive.is_file():
        return chosen | {_OPTIONS: f'{flags} "-XX:SharedArchiveFile={archive}"'}
    return chosen | {_OPTIONS: f"{flags} -XX:+RecordDynamicDumpInfo -D{PLACE}={name}"}


def keep_archive(progress: Progress) -> None:
    """Make the archive of the JVM, if that was started to make one; a failure is only reported.

    Nothing may be left for the JVM to do: when it cannot write the archive it ends itself.
    """
    try:
        # PySpark has no public word for the JVM that stays when a session has ended.
        name = SparkContext._jvm.System.getProperty(PLACE)  # type: ignore[union-attr]  # noqa: SLF001
        if name:
            entry(name, lambda folder: _dump(folder / ARCHIVE_FILE, progress), progress)
    except (KmigrateError, OSError, Py4JError) as error:
        progress(f"no class-data archive of Spark, analyses start slower: {str(error).splitlines()[0]}")


def _name(flags: str) -> str:
    """Spark is that of ``SPARK_HOME``, where it is set, else the one that came with PySpark."""
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    version = pyspark.__version__
    return archive_name(f"spark-{version}", version, find_java(), [flags], sorted(home.glob("jars/*.jar")))


def _dump(file: Path, progress: Progress) -> None:
    if shutil.disk_usage(file.parent).free < _ROOM_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
    progress("making a class-data archive of Spark (once; later analyses take three quarters of the time)")
    jvm: Any = SparkContext._jvm  # noqa: SLF001
    array: Any = SparkContext._gateway.new_array  # type: ignore[union-attr]  # noqa: SLF001
    arguments = array(jvm.Object, 4)
    arguments[0] = jvm.javax.management.ObjectName("com.sun.management:type=DiagnosticCommand")
    arguments[1], arguments[2], arguments[3] = "vmCds", array(jvm.Object, 1), array(jvm.String, 1)
    words = array(jvm.String, 2)
    # The JVM makes one line of the words and takes it apart again.
    words[0], words[1] = "dynamic_dump", f'"{file}"'
    arguments[2][0], arguments[3][0] = words, "[Ljava.lang.String;"
    # By Java's own reflection, since the server's class is hidden in a module, and only its interface may be called.
    server = jvm.Class.forName("javax.management.MBeanServer")
    (invoke,) = [method for method in server.getMethods() if method.getName() == "invoke"]
    answer = invoke.invoke(jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer(), arguments)
    if not file.is_file():
        raise DistributionError(f"expected the JVM to write {file.name}, got: {answer}")
