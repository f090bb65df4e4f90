"""The real ZookeeperConsumerConnector of Kafka 1.1.1 as a member of a group: its console consumer, unmodified.

Byteman prints the lines of the adapter contract at the places where things happen (``old-consumer.btm``). Run it as
``python -m pytest_kmigrate.documents.kip_125.old_consumer``, with the words that any member gets. The process becomes
the JVM of the consumer, until it is ordered to stop.
"""

import os
import socket
import sys
from contextlib import closing
from pathlib import Path

from pytest_kmigrate.distributions.agents import byteman_jar
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.old_clients import LAST_OF_ZOOKEEPER, old_client_jars
from pytest_kmigrate.documents.kip_125.jvm import LOGGING, SMALL, become, progress, written
from pytest_kmigrate.documents.kip_125.kinds import OLD
from pytest_kmigrate.documents.kip_125.reference.settings import properties
from pytest_kmigrate.probes.zookeeper import ZookeeperClient

_RULES = Path(__file__).parent / "old-consumer.btm"


def command_of(settings: Path, topic: str, hosts: Path) -> list[str]:
    """The command of the JVM; the files that it reads are written beside the settings."""
    given = properties(settings.read_text(encoding="utf-8"))
    given["auto.offset.reset"] = _reset(given)
    config = written(settings, "consumer", "".join(f"{key}={value}\n" for key, value in given.items()))
    # It looks up its own host name; and a look-up that a rebalance interrupts would be remembered as failed for 10 s.
    names = written(settings, "names", f"{hosts.read_text(encoding='utf-8')}127.0.0.1 {socket.gethostname()}\n")
    security = written(settings, "security", "networkaddress.cache.negative.ttl=0\n")
    options = [
        f"-Djdk.net.hosts.file={names}",
        f"-Djava.security.properties={security}",
        f"-Dlog4j.configuration=file:{written(settings, 'log4j', LOGGING)}",
        f"-javaagent:{byteman_jar(progress)}=script:{_RULES}",
    ]
    jars = os.pathsep.join(str(each) for each in old_client_jars(LAST_OF_ZOOKEEPER, progress))
    tool = ["kafka.tools.ConsoleConsumer", "--zookeeper", given["zookeeper.connect"], "--topic", topic]
    tool += ["--consumer.config", str(config), "--formatter", "kafka.tools.NoOpMessageFormatter"]
    return [str(find_java().path), *SMALL, *options, "-cp", jars, *tool]


def _reset(given: dict[str, str]) -> str:
    """The tool refuses ``smallest`` once the group has offsets; then each partition has one, and none is reset."""
    with closing(ZookeeperClient(given["zookeeper.connect"])) as client:
        is_known = client.get(f"/consumers/{given['group.id']}/offsets") is not None
    return "largest" if is_known else given.get("auto.offset.reset", "largest")


if __name__ == "__main__":
    become(OLD, command_of, sys.argv[1:])
