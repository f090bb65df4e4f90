"""Members whose process is the JVM of one of Kafka's own tools: a fault hits the consumer itself."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_kmigrate.distributions.java import java_environment

SMALL = ("-Xms32m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
LOGGING = """\
log4j.rootLogger=INFO, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %p %m (%c)%n
"""


def become(kind: str, command_of: Callable[[Path, str, Path], list[str]], arguments: Sequence[str]) -> None:
    """Become the JVM that ``command_of`` (settings, topic, hosts) names; it ends by SIGTERM when it is to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", required=True, choices=(kind,))
    parser.add_argument("--settings", required=True, type=Path)
    parser.add_argument("--topics", required=True)
    parser.add_argument("--hosts", required=True, type=Path)
    chosen = parser.parse_args(arguments)
    command = command_of(chosen.settings, chosen.topics.partition("=")[0], chosen.hosts)
    sys.stdout.flush()
    if os.fork() == 0:
        os.close(sys.stdout.fileno())  # its end is the consumer's
        _stop_when_ordered(os.getppid())
    os.execve(command[0], command, java_environment())  # noqa: S606


def _stop_when_ordered(consumer: int) -> None:
    """In a process of its own: the tool reads no orders, and SIGTERM is its orderly end."""
    for line in sys.stdin:
        if json.loads(line).get("do") == "stop":
            break
    if os.getppid() == consumer:
        os.kill(consumer, signal.SIGTERM)
    os._exit(0)


def written(settings: Path, what: str, text: str) -> Path:
    """A file beside the settings."""
    file = settings.with_suffix(f".{what}")
    file.write_text(text, encoding="utf-8")
    return file


def progress(text: str) -> None:
    """What is downloaded, in the member's log."""
    sys.stderr.write(f"{text}\n")
