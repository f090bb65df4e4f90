"""The Spark session of a report: as small as the work, quiet on the terminal, everything it says in one log file."""

import logging
import os
import pwd
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # PySpark's bridge has no types
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from pytest_kmigrate.distributions.cache import cache_dir
from pytest_kmigrate.distributions.java import java_environment, unpacking_in
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.reports.ingestion.bridge import remember
from pytest_kmigrate.reports.ingestion.class_data import with_archive

LOCAL = "local[*]"
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""In the environment of what spark-submit runs, whose master and settings are then in force."""

_ALWAYS = {
    "spark.app.name": "kmigrate analyze",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # It notes the Python line of every column: half of all calls to the JVM, and only programmers need it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Only ASCII letters are lowered here; at the first one ICU would look at every character there is, for a second.
    "spark.sql.icu.caseMappings.enabled": "false",
    # Set for some kinds of functions of Python only, and workers of one kind are not those of the other.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    # A busy machine may take longer than the usual five minutes to send a small table round; that is no failure.
    "spark.sql.broadcastTimeout": "3600",
    # The ledger says what is complete.
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # Any Parquet reader understands it; Spark's default, INT96, is read as a local time by some.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
_LOCAL_ONLY = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "3g",
    # All workers come from a process that has imported what they need: each by itself took a second for that.
    "spark.python.daemon.module": "pytest_kmigrate.reports.ingestion.workers",
}
_WRITES_HERE = {
    # Hadoop starts a process (chmod) for every file that it makes on this machine; so no second one with checksums.
    # Not for a report elsewhere: s3a buffers on the disk what it uploads, and asks for the usual class by its name.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}
_SMALL = {
    # A few hundred runs are megabytes: planning, compiling and shuffling would cost more than counting does.
    "spark.sql.shuffle.partitions": "1",
    # One partition needs no copy of a small table on every machine: half the jobs were to make these.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Of each query Spark keeps a description for its own page, which is off.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.debug.maxToStringFields": "1",
    # Looking at a few thousand files is quicker than starting a job that does.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
}
_SMALL_FROM_THE_START = {
    # Every sort and every aggregate takes a page first: of 64 MiB by the default of a machine with few cores.
    "spark.buffer.pageSize": "4m",
}
_MUCH_ON_THIS_MACHINE = {
    # Run folders are many small files: by the default, 4 MiB each, a task would get no more than thirty of them.
    "spark.sql.files.openCostInBytes": str(128 * 1024),
    # By default one task per path, up to 10,000 of them, just to list.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "16",
    "spark.sql.shuffle.partitions": "32",
    "spark.driver.memory": "4g",
}
_SMALL_JVM = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
    # With one compiler Java keeps 48 MiB for its code, which Spark fills in a minute (s3a, many tables); then it ends.
    "-XX:ReservedCodeCacheSize=200m "
    # Loading Spark's 20,000 classes is most of its start; checking their bytecode again is a fifth of that.
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
# Planning leaves much garbage: from its default, a sixty-fourth of all memory, a heap grows by being collected whole.
_SMALL_HEAP = " -Xms1g -Xmn512m -XX:MetaspaceSize=300m"


def chosen_master(given: str | None) -> str | None:
    """The master as given, else that of spark-submit (None) where it runs us, else this machine."""
    return given or (None if _SUBMITTED in os.environ else LOCAL)


@contextmanager
def spark_session(
    master: str | None, *, is_small: bool, log: Path, has_archive: bool = False, writes_here: bool = True
) -> Iterator[SparkSession]:
    """The session that is already there (left running), or a new one for the time of the block.

    What the JVM prints and what PySpark logs goes to ``log``; ``writes_here`` says that the tables go to a disk of this
    machine. With ``has_archive`` a small session on this machine uses the class-data archive, or is able to make it.
    Ctrl-C is a KeyboardInterrupt in the block, as without Spark. Raises EnvironmentLackError when Spark cannot start.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    chosen = settings(chosen_master(master), is_small=is_small, writes_here=writes_here)
    if has_archive and is_small and chosen.get("spark.master", "").startswith("local"):
        chosen = with_archive(chosen)
    log.write_bytes(b"")
    with _logged(log):
        session = _started(chosen, log)
        try:
            yield session
        finally:
            # Of a JVM that is gone there is nothing to stop.
            with suppress(Py4JError, OSError):
                session.stop()


@contextmanager
def end_told(session: SparkSession, log: Path) -> Iterator[None]:
    """Whatever fails in the block because Spark or its JVM ended by itself becomes an EnvironmentLackError.

    After Ctrl-C py4j may fail at what is tidied up; that is a KeyboardInterrupt still.
    """
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from error
        if not _has_ended(session):
            raise
        raise EnvironmentLackError(
            f"Spark: expected it to run until all is written, got its end; the last lines of {log} show why; cure "
            "that (often it is memory) and run the same again: what was there before is untouched"
        ) from error


def settings(master: str | None, *, is_small: bool, writes_here: bool = True) -> dict[str, str]:
    """Spark's settings; those of a cluster (``master`` not local) are the cluster's own, save the ones we rely on.

    Without a master they are those of spark-submit.
    """
    chosen = _ALWAYS if master is None else {"spark.master": master, **_ALWAYS}
    is_here = master is not None and master.startswith("local")
    if is_here:
        chosen = chosen | (_LOCAL_ONLY if is_small else {**_LOCAL_ONLY, **_MUCH_ON_THIS_MACHINE})
        chosen = chosen | (_WRITES_HERE if writes_here else {})
    if is_small:
        chosen = chosen | {**_SMALL, **_SMALL_FROM_THE_START}
        chosen = chosen | {"spark.driver.extraJavaOptions": _SMALL_JVM + _SMALL_HEAP * is_here}
    if is_here:
        unpacking = "".join(f' "{option}"' for option in unpacking_in(cache_dir()))
        chosen = chosen | {"spark.driver.extraJavaOptions": chosen.get("spark.driver.extraJavaOptions", "") + unpacking}
    return {name: value for name, value in chosen.items() if value}


def hurry(spark: SparkSession) -> None:
    """Set a session up for little data while it runs: how much there is elsewhere, only Spark knows."""
    for name, value in _SMALL.items():
        spark.conf.set(name, value)


def _has_ended(session: SparkSession) -> bool:
    try:
        return bool(session.sparkContext._jsc.sc().isStopped())  # noqa: SLF001  # PySpark has no public word for it
    except (Py4JError, OSError):
        return True


def _was_interrupted(error: BaseException) -> bool:
    earlier = error.__context__
    return earlier is not None and (isinstance(earlier, KeyboardInterrupt) or _was_interrupted(earlier))


def _started(chosen: dict[str, str], log: Path) -> SparkSession:
    conf = SparkConf().setAll(list(chosen.items()))
    master = chosen.get("spark.master", "of spark-submit")
    if master.startswith("local"):
        # Workers need the packages that are here; by default they would be whatever python3 is first on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        with log.open("a", encoding="utf-8") as stream, _ctrl_c_later(), _any_file_name():
            # PySpark has no public word for a JVM that is there already (from an earlier report); it is used again.
            launched = SparkContext._gateway or launch_gateway(  # type: ignore[no-untyped-call]  # noqa: SLF001
                conf, {"stdout": stream, "stderr": stream}
            )
        session = SparkSession(SparkContext(conf=conf, gateway=launched))
    except (PySparkRuntimeError, Py4JError) as error:
        if not _has_a_name():
            raise EnvironmentLackError(
                f"Spark: expected a user with a name, as Hadoop asks for it; user {os.getuid()} has no entry in "
                "/etc/passwd: add one, or run this as a user that has one"
            ) from error
        first, last = str(error).splitlines()[0], " / ".join(log.read_text(encoding="utf-8").strip().splitlines()[-2:])
        raise EnvironmentLackError(
            f"Spark: expected it to start with master {master}, got {first} ({last}); "
            f"it needs Java 17 or newer and a master that answers: kmigrate doctor checks, and {log} has everything"
        ) from error
    if _is_main_thread():
        # PySpark's own handler asks the JVM to cancel what runs, on the connection that the broken-off call reads from.
        signal.signal(signal.SIGINT, on_ctrl_c)
    server = session.sparkContext._accumulatorServer  # noqa: SLF001  # it prints the stack of each connection that breaks
    server.handle_error = _log_broken  # type: ignore[assignment, method-assign]
    remember(launched.jvm)
    return session


@contextmanager
def _any_file_name() -> Iterator[None]:
    """The JVM is started in a locale in which it can name every file."""
    before = dict(os.environ)
    os.environ.update(java_environment())
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _has_a_name() -> bool:
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True


def _log_broken(*_: object) -> None:
    logging.getLogger(__name__).error("a connection to the JVM broke")


@contextmanager
def _logged(log: Path) -> Iterator[None]:
    """What is logged without a handler (py4j logs every broken call, with its stack) is added to the log file."""
    handler = logging.FileHandler(log, encoding="utf-8")
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Ctrl-C in the block is felt at its end.

    A JVM whose start is no longer awaited fails to say where it listens, and then runs for ever.
    """
    if not _is_main_thread():
        yield
        return
    came: list[int] = []
    on_ctrl_c = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, on_ctrl_c)
    if came and callable(on_ctrl_c):  # what runs in the background ignores it
        on_ctrl_c(signal.SIGINT, None)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
