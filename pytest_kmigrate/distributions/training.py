"""Training: a short life of each kind of node, to learn which classes it loads.

The nodes get loopback addresses in 127.255.0.0/16, which no topology leases, chosen at random so that two trainings
do not meet. A record sent and acknowledged proves each node up, and loads the classes that serve clients; what a run
asks every node is asked here, too, and brokers have an authorizer, as the demo's have.
"""

import random
import re
import socket
import subprocess
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import confluent_kafka

from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java import Java, bound_to_us, java_environment
from pytest_kmigrate.model.errors import ClusterError, NodeDiedError
from pytest_kmigrate.past_proxies import opened
from pytest_kmigrate.waiting import until

ZOOKEEPER_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
KAFKA_MAIN = "kafka.Kafka"
STORAGE_MAIN = "kafka.tools.StorageTool"
# The archive is good for any heap size but only for this collector; heap sizes are those of a node of ours.
JVM_FLAGS = ("-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
READY_WITHIN_S = 90.0
AGENT_PORT = 8778
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
LOG4J = """log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d{ISO8601} %p %m (%c)%n
"""
LOG4J2 = """appender.console.type=Console
appender.console.name=stdout
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %m (%c)%n
rootLogger.level=info
rootLogger.appenderRef.stdout.ref=stdout
"""
ZOOKEEPER_PROPERTIES = """dataDir={data}
clientPort=2181
clientPortAddress={address}
admin.enableServer=false
"""
OF_ANY_BROKER = """log.dirs={data}
allow.everyone.if.no.acl.found=true
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
"""
BROKER_PROPERTIES = """broker.id=1
zookeeper.connect={zookeeper}:2181
listeners=PLAINTEXT://{address}:9092
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
"""
KRAFT_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{address}:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{address}:9092,CONTROLLER://{address}:9093
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
"""


@dataclass(frozen=True)
class Trained:
    """One JVM of the training."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def must_live(self) -> None:
        """Raise NodeDiedError when it has ended."""
        code = self.process.poll()
        if code is not None:
            raise NodeDiedError(f"the {self.name} of the training", code, self.log.read_text(errors="replace")[-2000:])


class Training:
    """One training in the folder ``work``; every process it starts is gone when the block is left."""

    def __init__(self, java: Java, distribution: Distribution, work: Path) -> None:
        self._java = java
        self._distribution = distribution
        self._work = work
        self._block = f"127.255.{random.randint(1, 254)}"
        self._started: list[Trained] = []

    def __enter__(self) -> Self:
        (self._work / "log4j.properties").write_text(LOG4J)
        (self._work / "log4j2.properties").write_text(LOG4J2)
        return self

    def __exit__(self, *_: object) -> None:
        for trained in self._started:
            trained.process.kill()
            trained.process.wait()

    def class_lists(self) -> list[Path]:
        """Let all kinds of nodes live; returns the lists of classes they loaded."""
        with_zookeeper = any(jar.name.startswith("zookeeper-") for jar in self._distribution.jars)
        zookeeper, broker, kraft = (f"{self._block}.{number}" for number in (1, 2, 3))
        properties = self._properties("kraft", KRAFT_PROPERTIES + OF_ANY_BROKER, address=kraft)
        storage = self._start("storage", STORAGE_MAIN, ["format", "-t", CLUSTER_ID, "-c", str(properties)])
        brokers = {}
        if with_zookeeper:
            text = self._properties("zookeeper", ZOOKEEPER_PROPERTIES, address=zookeeper)
            self._start("zookeeper", ZOOKEEPER_MAIN, [str(text)])
            text = self._properties("broker", BROKER_PROPERTIES + OF_ANY_BROKER, address=broker, zookeeper=zookeeper)
            brokers[broker] = self._start("broker", KAFKA_MAIN, [str(text)], agent_address=broker)
        if storage.process.wait(READY_WITHIN_S) != 0:
            raise NodeDiedError("the storage tool", storage.process.returncode, storage.log.read_text()[-2000:])
        brokers[kraft] = self._start("kraft", KAFKA_MAIN, [str(properties)], agent_address=kraft)
        for address, trained in brokers.items():
            _send_one_record(address, trained)
            if self._distribution.appended:
                _ask_agent(address)
        if with_zookeeper:
            _ask_zookeeper(zookeeper)
        self._end_politely()
        return [self._list_of(trained.name) for trained in self._started]

    def _properties(self, name: str, template: str, **values: str) -> Path:
        file = self._work / f"{name}.properties"
        file.write_text(template.format(data=self._work / f"{name}-data", **values))
        return file

    def _list_of(self, name: str) -> Path:
        return self._work / f"{name}.classes"

    def _start(self, name: str, main: str, arguments: Sequence[str], agent_address: str | None = None) -> Trained:
        agents = self._distribution.appended if agent_address else ()
        command = [
            str(self._java.path),
            *JVM_FLAGS,
            f"-XX:DumpLoadedClassList={self._list_of(name)}",
            f"-Djava.io.tmpdir={self._work}",
            f"-Dlog4j.configuration=file:{self._work / 'log4j.properties'}",
            f"-Dlog4j2.configurationFile={self._work / 'log4j2.properties'}",
            *(f"-javaagent:{jar}=host={agent_address},port={AGENT_PORT},discoveryEnabled=false" for jar in agents),
            *("-cp", self._distribution.classpath, main, *arguments),
        ]
        log = self._work / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                bound_to_us(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._work,
                env=java_environment(),
            )
        self._started.append(Trained(name, process, log))
        return self._started[-1]

    def _end_politely(self) -> None:
        """Ask all to end, the last started first: a controlled stop is part of a node's life."""
        for trained in reversed(self._started):
            trained.process.terminate()
            try:
                trained.process.wait(20)
            except subprocess.TimeoutExpired:
                trained.process.kill()


def classes_named(pattern: re.Pattern[str], jars: Iterable[Path]) -> list[str]:
    """The classes in ``jars`` whose path matches, as a class list names them: known without running anything."""
    found = []
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            found += [name.removesuffix(".class") for name in archive.namelist() if pattern.search(name)]
    return found


def _ask_agent(address: str) -> None:
    """Whether a broker runs: a run asks it, too, and the agent loads what it answers with."""
    url = f"http://{address}:{AGENT_PORT}/jolokia/read/kafka.server:type=KafkaServer,name=BrokerState/Value"
    with opened(url, READY_WITHIN_S) as answer:
        answer.read()


def _ask_zookeeper(address: str) -> None:
    """How it serves, for the same reason."""
    with socket.create_connection((address, 2181), timeout=READY_WITHIN_S) as connection:
        connection.sendall(b"srvr")
        connection.recv(4096)


def _send_one_record(address: str, trained: Trained) -> None:
    answers: list[confluent_kafka.KafkaError | None] = []
    settings = {"bootstrap.servers": f"{address}:9092", "reconnect.backoff.max.ms": 200, "acks": "all", "log_level": 0}
    producer = confluent_kafka.Producer({**settings, "message.timeout.ms": int(READY_WITHIN_S * 1000)})
    producer.produce("trained", b"record", on_delivery=lambda error, _record: answers.append(error))

    def answered() -> bool:
        producer.poll(0)
        return bool(answers)

    until(
        answered, awaited=f"the {trained.name} acknowledges a record", within_s=READY_WITHIN_S, abort=trained.must_live
    )
    if answers[0] is not None:
        raise ClusterError(f"the {trained.name} of the training: expected an acknowledged record, got {answers[0]}")
