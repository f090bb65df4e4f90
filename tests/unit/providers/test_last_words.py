"""What a dead node's log ends with."""

import tracemalloc
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import EnvironmentLackError, NodeDiedError
from pytest_kmigrate.providers.last_words import (
    dead_threads,
    death,
    first_error,
    has_dumped,
    last_words,
    machine_trouble,
    size_of,
)


def test_the_last_error_is_told_with_its_exception(tmp_path: Path) -> None:
    """Not the first error, not the stack trace, and not what is logged after it."""
    log = tmp_path / "server.log"
    log.write_text(
        "1 ERROR early\n2 INFO x\n3 ERROR fatal fault\njava.lang.IllegalStateException: no\n\tat x\n4 INFO y\n"
    )
    assert last_words(log) == "3 ERROR fatal fault / java.lang.IllegalStateException: no"


def test_what_ended_a_process_is_its_fatal_fault_of_this_life(tmp_path: Path) -> None:
    """A controller that is asked to stop logs more errors after it, as of a quorum that does not answer."""
    log = tmp_path / "server.log"
    earlier = "1 ERROR Encountered fatal fault: earlier\n"
    fault = "2 ERROR Encountered fatal fault: Aborting the ZK migration\njava.lang.RuntimeException: no\n"
    log.write_text(f"{earlier}{fault}3 ERROR Graceful shutdown of RaftClient failed\n")
    assert last_words(log, len(earlier)) == fault.strip().replace("\n", " / ")
    log.write_text(f"{earlier}3 ERROR Graceful shutdown of RaftClient failed\n")
    assert last_words(log, len(earlier)) == "3 ERROR Graceful shutdown of RaftClient failed"


def test_a_log_without_an_error_is_told_by_its_last_line(tmp_path: Path) -> None:
    """What a JVM says that never came to logging, or one that was killed from outside."""
    log = tmp_path / "server.log"
    log.write_text("Unrecognized VM option 'x'\nCould not create the Java Virtual Machine.\n")
    assert last_words(log) == "Could not create the Java Virtual Machine."
    assert last_words(tmp_path / "none.log") == ""


def test_threads_that_an_error_ended_are_told(tmp_path: Path) -> None:
    """By the words of Kafka's ShutdownableThread: its name, and the exception; other errors end no thread."""
    log = tmp_path / "server.log"
    log.write_text(
        "1 ERROR [to-controller]: Error due to (kafka.server.X)\njava.lang.IllegalArgumentException: no\n\tat x\n"
        "2 ERROR [fetcher] Error due to (kafka.server.Y)\njava.io.IOException: y\n3 ERROR [a]: Error\n"
    )
    assert dead_threads(log) == [
        ("to-controller", "java.lang.IllegalArgumentException: no"),
        ("fetcher", "java.io.IOException: y"),
    ]
    assert dead_threads(tmp_path / "none.log") == []


def test_neither_tells_a_secret(tmp_path: Path) -> None:
    """Both end in artefacts."""
    log = tmp_path / "server.log"
    log.write_text('1 ERROR bad ScramLoginModule required username="u" password="secret-word";\n')
    assert "secret-word" not in last_words(log) + first_error(log)


def test_a_thread_dump_counts_when_it_is_whole(tmp_path: Path) -> None:
    """An earlier one, one that is still being written, and a log that is not there yet are none."""
    log = tmp_path / "server.log"
    assert (size_of(log), has_dumped(log, 0)) == (0, False)
    log.write_text("Full thread dump\nJNI global refs: 15, weak refs: 0\n")
    assert has_dumped(log, 0)
    before = size_of(log)
    with log.open("a") as more:
        more.write("Full thread dump\n")
    assert not has_dumped(log, before)


DIED = """2026-11-27 00:50:05,001 INFO starting (kafka.Kafka)
2026-11-27 00:50:06,030 ERROR Encountered fatal fault: activation (org.apache.kafka.server.fault.Handler)
java.lang.RuntimeException: Should not have ZK migrations enabled on a cluster that was created in KRaft mode.
\tat org.apache.kafka.controller.Generator.generate(Generator.java:168)
Caused by: java.io.IOException: no
\t... 12 more
2026-11-27 00:50:06,031 ERROR and another (kafka.Kafka)
"""


def test_a_death_is_reported_by_the_first_error_of_the_life_that_ended(tmp_path: Path) -> None:
    """With the exceptions, without time and stack traces; errors of earlier lives and later errors are left out."""
    log = tmp_path / "server.log"
    log.write_text("2026-11-27 00:40:00,000 ERROR of an earlier life\n")
    since = size_of(log)
    with log.open("a") as more:
        more.write(DIED)
    error = death("controller-3000", 1, log, since)
    assert isinstance(error, NodeDiedError)
    assert not error.is_recorded, "the test may have asked for it"
    assert str(error) == (
        "controller-3000 died with exit code 1: "
        "ERROR Encountered fatal fault: activation (org.apache.kafka.server.fault.Handler) / "
        "java.lang.RuntimeException: Should not have ZK migrations enabled on a cluster that was created in KRaft mode."
        " / Caused by: java.io.IOException: no"
    )


def test_a_jvm_that_never_logged_is_reported_by_all_it_wrote(tmp_path: Path) -> None:
    """Its options are wrong: the first of its lines names which."""
    log = tmp_path / "server.log"
    log.write_text("Unrecognized VM option 'x'\nError: Could not create the Java Virtual Machine.\n")
    assert first_error(log) == "Unrecognized VM option 'x' / Error: Could not create the Java Virtual Machine."
    assert first_error(tmp_path / "none.log") == "(no log)"


def test_the_first_error_of_4_0_is_read_alike(tmp_path: Path) -> None:
    """Log4j 2 writes a T before the time of day."""
    logs = tmp_path / "of-3.log", tmp_path / "of-4.log"
    for log, text in zip(logs, (DIED, DIED.replace("27 00", "27T00")), strict=True):
        log.write_text(text)
    assert first_error(logs[1]) == first_error(logs[0])
    assert first_error(logs[1]).startswith("ERROR Encountered fatal fault")


@pytest.mark.parametrize(
    "said",
    [
        "java.io.IOException: No space left on device",
        "java.net.BindException: Address already in use",
        "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory",
        "OpenJDK warning: committing memory failed; error='Cannot allocate memory' (errno=12)",
    ],
)
def test_what_the_machine_lacks_is_no_death_of_kafkas(tmp_path: Path, said: str) -> None:
    """The reason is in the message; what an earlier life lacked counts no more."""
    log = tmp_path / "server.log"
    log.write_text(f"2026-11-27 00:40:00,000 ERROR Shutdown broker because all log dirs have failed\n{said}\n")
    error = death("broker-1", 1, log, 0)
    assert isinstance(error, EnvironmentLackError)
    assert machine_trouble(log) in said
    assert machine_trouble(log) in str(error)
    assert machine_trouble(log, size_of(log)) == ""


def test_a_kill_from_elsewhere_is_of_the_machine(tmp_path: Path) -> None:
    """Only the kernel, or somebody at this machine, sends signal 9; a JVM never does."""
    assert "killed by signal 9 from elsewhere" in machine_trouble(tmp_path / "none.log", 0, -9)
    assert isinstance(death("broker-1", -9, tmp_path / "none.log", 0, is_recorded=True), EnvironmentLackError)
    by_a_fault = death("broker-1", -9, tmp_path / "none.log", 0)
    assert isinstance(by_a_fault, NodeDiedError), "the machine is not to blame for what a fault killed"
    assert machine_trouble(tmp_path / "none.log", 0, 1) == ""


@pytest.mark.slow
def test_a_large_log_is_read_piece_by_piece(tmp_path: Path) -> None:
    """What is one line after another stays so where a piece ends; never is all of it in memory."""
    log = tmp_path / "server.log"
    with log.open("w") as file:
        for number in range(300):
            file.write(f"1 ERROR [thread-{number}]: Error due to (kafka.X)\njava.io.IOException: {number}\n")
            file.write(f"\tat {'x' * 1000}\n" * 30)
        file.write("2 WARN No space left on device\n")
    tracemalloc.start()
    try:
        ended, trouble = dead_threads(log), machine_trouble(log)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert ended == [(f"thread-{number}", f"java.io.IOException: {number}") for number in range(300)]
    assert trouble == "No space left on device"
    assert most < log.stat().st_size
