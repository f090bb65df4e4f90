"""What a dead node's log ends with."""

from pathlib import Path

from pytest_kmigrate.providers.process.last_words import dead_threads, has_dumped, last_words, log_tail, size_of


def test_the_last_error_is_told_with_its_exception(tmp_path: Path) -> None:
    """Not the first error, not the stack trace, and not what is logged after it."""
    log = tmp_path / "server.log"
    log.write_text(
        "1 ERROR early\n2 INFO x\n3 ERROR fatal fault\njava.lang.IllegalStateException: no\n\tat x\n4 INFO y\n"
    )
    assert last_words(log) == "3 ERROR fatal fault / java.lang.IllegalStateException: no"


def test_a_log_without_an_error_is_told_by_its_last_line(tmp_path: Path) -> None:
    """What a JVM says that never came to logging, or one that was killed from outside."""
    log = tmp_path / "server.log"
    log.write_text("Unrecognized VM option 'x'\nCould not create the Java Virtual Machine.\n")
    assert last_words(log) == "Could not create the Java Virtual Machine."
    assert last_words(tmp_path / "none.log") == ""
    assert log_tail(tmp_path / "none.log") == "(no log)"


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
    assert "secret-word" not in last_words(log) + log_tail(log)


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
