"""The command: becomes the JVM of a console consumer of Kafka 1.1.1, until it is ordered to stop."""

import argparse
import json
import os
import signal
import socket
import sys
from contextlib import closing
from pathlib import Path

from pytest_kmigrate.distributions.agents import byteman_jar
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.old_clients import LAST_OF_ZOOKEEPER, old_client_jars
from pytest_kmigrate.documents.kip_125.reference.settings import properties
from pytest_kmigrate.probes.zookeeper import ZookeeperClient

_LOGGING = """\
log4j.rootLogger=INFO, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %p %m (%c)%n
"""
_RULES = Path(__file__).parent / "lines.btm"
_SMALL = ("-Xms32m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


def main(arguments: list[str]) -> None:
    """Become the consumer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", required=True, choices=("OZKCC",))
    parser.add_argument("--settings", required=True, type=Path)
    parser.add_argument("--topics", required=True)
    parser.add_argument("--hosts", required=True, type=Path)
    chosen = parser.parse_args(arguments)
    command = command_of(chosen.settings, chosen.topics.partition("=")[0], chosen.hosts)
    sys.stdout.flush()
    if os.fork() == 0:
        os.close(sys.stdout.fileno())  # its end is the consumer's
        _stop_when_ordered(os.getppid())
    # The member's process is the JVM: a fault hits the consumer itself.
    os.execv(command[0], command)  # noqa: S606


def command_of(settings: Path, topic: str, hosts: Path) -> list[str]:
    """The command of the JVM; the files that it reads are written beside the settings."""
    given = properties(settings.read_text(encoding="utf-8"))
    given["auto.offset.reset"] = _reset(given)
    config = _written(settings, "consumer", "".join(f"{key}={value}\n" for key, value in given.items()))
    # It looks up its own host name; and a look-up that a rebalance interrupts would be remembered as failed for 10 s.
    names = _written(settings, "hosts", f"{hosts.read_text(encoding='utf-8')}127.0.0.1 {socket.gethostname()}\n")
    security = _written(settings, "security", "networkaddress.cache.negative.ttl=0\n")
    options = [
        f"-Djdk.net.hosts.file={names}",
        f"-Djava.security.properties={security}",
        f"-Dlog4j.configuration=file:{_written(settings, 'log4j', _LOGGING)}",
        f"-javaagent:{byteman_jar(_progress)}=script:{_RULES}",
    ]
    jars = os.pathsep.join(str(each) for each in old_client_jars(LAST_OF_ZOOKEEPER, _progress))
    tool = ["kafka.tools.ConsoleConsumer", "--zookeeper", given["zookeeper.connect"], "--topic", topic]
    tool += ["--consumer.config", str(config), "--formatter", "kafka.tools.NoOpMessageFormatter"]
    return [str(find_java().path), *_SMALL, *options, "-cp", jars, *tool]


def _reset(given: dict[str, str]) -> str:
    """The tool refuses ``smallest`` once the group has offsets; then each partition has one, and none is reset."""
    with closing(ZookeeperClient(given["zookeeper.connect"])) as client:
        is_known = client.get(f"/consumers/{given['group.id']}/offsets") is not None
    return "largest" if is_known else given.get("auto.offset.reset", "largest")


def _written(settings: Path, what: str, text: str) -> Path:
    file = settings.with_suffix(f".{what}")
    file.write_text(text, encoding="utf-8")
    return file


def _progress(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _stop_when_ordered(consumer: int) -> None:
    """In a process of its own: the tool reads no orders, and SIGTERM is its orderly end."""
    for line in sys.stdin:
        if json.loads(line).get("do") == "stop":
            break
    if os.getppid() == consumer:
        os.kill(consumer, signal.SIGTERM)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
