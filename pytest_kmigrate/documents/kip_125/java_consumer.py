"""Kafka's own VerifiableConsumer as a plain KafkaConsumer: its lines are the contract's, as they are."""

import os
import sys
from pathlib import Path

from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.documents.kip_125.jvm import LOGGING, SMALL, become, progress, written
from pytest_kmigrate.documents.kip_125.kinds import JAVA
from pytest_kmigrate.documents.kip_125.reference.settings import properties

_KAFKA = "3.9.1"
_OF_THE_COMMAND = ("bootstrap.servers", "group.id", "session.timeout.ms", "auto.commit.interval.ms")


def command_of(settings: Path, topic: str, hosts: Path) -> list[str]:
    """The command of the JVM; it commits after every poll."""
    given = properties(settings.read_text(encoding="utf-8"))
    own = {key: value for key, value in given.items() if key not in _OF_THE_COMMAND}
    config = written(settings, "consumer", "".join(f"{key}={value}\n" for key, value in own.items()))
    options = [f"-Djdk.net.hosts.file={hosts}", f"-Dlog4j.configuration=file:{written(settings, 'log4j', LOGGING)}"]
    jars = os.pathsep.join(str(each) for each in resolve(_KAFKA, progress=progress, archive=False).jars)
    tool = ["org.apache.kafka.tools.VerifiableConsumer", "--bootstrap-server", given["bootstrap.servers"]]
    tool += ["--topic", topic, "--group-id", given["group.id"], "--session-timeout", given["session.timeout.ms"]]
    tool += ["--reset-policy", "earliest", "--verbose", "--consumer.config", str(config)]
    return [str(find_java().path), *SMALL, *options, "-cp", jars, *tool]


if __name__ == "__main__":
    become(JAVA, command_of, sys.argv[1:])
