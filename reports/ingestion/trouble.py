"""Trouble with files: what a disk, HDFS or a bucket reports, as a one-line error of ours, early."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten
from typing import Any

from py4j.java_gateway import is_instance_of  # type: ignore[import-untyped]  # PySpark's bridge has no types
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from pytest_kmigrate.model.errors import EnvironmentLackError, KmigrateError, WrongUseError

_IMPATIENT = {
    # By default a wrong endpoint or unknown credentials would be tried again for minutes.
    "fs.s3a.attempts.maximum": "1",
    "fs.s3a.retry.limit": "1",
    "fs.s3a.connection.establish.timeout": "15s",
    "ipc.client.connect.max.retries": "2",
    "ipc.client.connect.max.retries.on.timeouts": "1",
    "dfs.client.failover.max.attempts": "4",
}
"""Hadoop's settings for the first contact; what comes after it has the patience that the user's settings ask for."""

_MOST_CHARACTERS = 240
"""A bucket's client says everything twice."""

_OF_THE_SDK = re.compile(r"(\(Service: \w+, Status Code: \d+),.*")
"""What a bucket said, and behind it numbers of requests and attempts, and the same again."""

_CURE = "check the address, the network, the credentials and that the jars for this scheme are there (docs/how-to)"


@contextmanager
def trouble_named() -> Iterator[None]:
    """Turn what a file system refuses during an analysis into the error that says so; other errors stay as they are."""
    try:
        yield
    except OSError as error:
        # Others, such as a closed pipe, are no trouble with a file.
        if error.filename is None and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise EnvironmentLackError(f"expected to read and write files, got: {error}") from error
    except (Py4JJavaError, CapturedException) as error:
        refused = next((each for each in _causes(error) if _is_a(each, "java.io.IOException")), None)
        if refused is None:
            raise
        raise EnvironmentLackError(f"expected to read and write files, got {_told(refused)}; {_CURE}") from error


def require_answer(spark: SparkSession, location: str) -> None:
    """Ask a file system that Hadoop reaches for one thing, impatiently; WrongUseError or EnvironmentLackError."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001  # PySpark has no public door to Hadoop's file systems
    try:
        hurried = jvm.org.apache.hadoop.conf.Configuration(spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001
        for name, value in _IMPATIENT.items():
            hurried.set(name, value)
        path = jvm.org.apache.hadoop.fs.Path(location)
        files = jvm.org.apache.hadoop.fs.FileSystem.newInstance(path.toUri(), hurried)
        try:
            files.exists(path)
        finally:
            files.close()
    except Py4JJavaError as error:
        raise _first_answer(location, list(_causes(error))) from error


def _first_answer(location: str, causes: list[Any]) -> KmigrateError:
    """What the first contact came to: a name that nothing has is wrong use, all else the environment's lack."""
    refused = next((each for each in causes if _is_a(each, "java.io.IOException")), causes[0])
    reported = f"{location}: expected a file system that answers, got {_told(refused)}"
    if refused.getClass().getSimpleName() == "UnknownStoreException":
        return WrongUseError(f"{reported}; give a bucket that exists")
    return EnvironmentLackError(f"{reported}; {_CURE}")


def _causes(error: Any) -> Iterator[Any]:
    """The exceptions of the JVM behind an error, the outermost first."""
    thrown = error.java_exception if isinstance(error, Py4JJavaError) else error._origin  # noqa: SLF001
    while thrown is not None:
        yield thrown
        thrown = thrown.getCause()


def _is_a(thrown: Any, name: str) -> bool:
    return bool(is_instance_of(SparkContext._gateway, thrown, name))  # noqa: SLF001


def _told(thrown: Any) -> str:
    """An exception of the JVM in one line, without the pages it refers to and the numbers that only Amazon can read."""
    first = str(thrown.getMessage() or "no reason").splitlines()[0].partition(";  For more details")[0]
    readable = _OF_THE_SDK.sub(r"\1)", first).rstrip(".")
    return f"{thrown.getClass().getSimpleName()}: {shorten(readable, _MOST_CHARACTERS, placeholder=' ...')}"
