"""The command line of a node's JVM, and how tools of Kafka are run."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.distributions.cds import flags_to_use
from pytest_kmigrate.distributions.class_names import class_digest
from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.provider import Mutant
from pytest_kmigrate.model.topology import NodeSpec, Role
from pytest_kmigrate.providers.owned import clocks
from pytest_kmigrate.providers.owned.agents.attaching import listening_at
from pytest_kmigrate.providers.owned.commands import Command, Run, Tool, in_image, run_here
from pytest_kmigrate.providers.owned.network.addresses import JOLOKIA_PORT
from pytest_kmigrate.providers.owned.protection.zookeeper import ZookeeperLogin

_MAIN = {
    Role.ZOOKEEPER: "org.apache.zookeeper.server.quorum.QuorumPeerMain",
    Role.BROKER: "kafka.Kafka",
    Role.COMBINED: "kafka.Kafka",
    Role.CONTROLLER: "kafka.Kafka",
}
RULES = "rules.btm"
_MUTANT = "mutant.class"
# Of the migration no TRACE: Kafka 3.4 and 3.5 write every record there that they copy, SCRAM credentials whole.
LOG4J = """\
log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d{ISO8601} %p %m (%c)%n
log4j.logger.org.apache.kafka.metadata.migration=DEBUG
log4j.logger.kafka.zk=INFO
"""
LOG4J2 = """\
status=warn
appender.console.type=Console
appender.console.name=stdout
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %m (%c)%n
rootLogger.level=info
rootLogger.appenderRef.stdout.ref=stdout
"""
OF_TOOLS = "tools-"
"""Tools speak on stdout; only warnings are logged, as Kafka's own scripts have it."""
TOOLS_LOG4J = """\
log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.appender.stderr.Target=System.err
"""
TOOLS_LOG4J2 = """\
status=warn
appender.console.type=Console
appender.console.name=stderr
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=warn
rootLogger.appenderRef.stderr.ref=stderr
"""


@dataclass(frozen=True)
class Jvm:
    """What every JVM of a cluster shares: Java, the agents, the logging files, an optional Byteman rule file."""

    java: Path
    jolokia: Path
    byteman: Path
    rules: Path | None
    etc: Path
    zookeeper: ZookeeperLogin | None = None
    """The logins at ZooKeeper, if there are any."""
    run: Run = run_here
    """How tools of Kafka are run."""
    unpacking: Sequence[str] = ()
    """The option for libraries that are unpacked, where the temporary folder allows no programs."""
    jacoco: Path | None = None
    """Records which code is executed; None: nothing does."""
    watched: Sequence[str] = ()
    """The classes of which it does, by patterns."""
    planter: Path | None = None
    """Loads the mutant; None: there is none."""
    mutant: Mutant | None = None
    clocks: bool = False
    """Each node has a clock of its own."""

    def write_files(self) -> None:
        """Write what the command lines name: logging (log4j until 3.9, log4j2 from 4.0), and the Byteman rules."""
        self.etc.mkdir(parents=True, exist_ok=True)
        (self.etc / "log4j.properties").write_text(LOG4J)
        (self.etc / "log4j2.properties").write_text(LOG4J2)
        (self.etc / f"{OF_TOOLS}log4j.properties").write_text(TOOLS_LOG4J)
        (self.etc / f"{OF_TOOLS}log4j2.properties").write_text(TOOLS_LOG4J2)
        if self.rules is not None:  # a node runs elsewhere, where a relative path leads nowhere, and starts again later
            shutil.copyfile(self.rules, self.etc / RULES)
        if self.mutant is not None:
            shutil.copyfile(self.mutant.file, self.etc / _MUTANT)

    def node_command(self, spec: NodeSpec, distribution: Distribution, hosts: Path, properties: Path) -> Command:
        """The command that runs a node; ``properties`` is its properties file, ``hosts`` its only name service."""
        options = [
            *self._options(spec.heap_mb),
            f"-Djdk.net.hosts.file={hosts}",
            "-Dsun.net.inetaddr.ttl=0",  # a name is looked up for each connection: it may lead elsewhere, or nowhere
            *self._agents(spec, distribution, hosts),
            *self._logins(spec.role),
            *spec.jvm,
        ]
        more = [jar.path for jar in spec.jars]
        if distribution.image is not None:
            words = distribution.image.zookeeper if spec.role is Role.ZOOKEEPER else distribution.image.kafka
            return in_image(distribution.image, words, {"properties": str(properties)}, options, more)
        classpath = os.pathsep.join([distribution.classpath, *more])
        before = clocks.command(hosts.with_name(clocks.FILE)) if self.clocks else ()
        words = (*before, *self._java(distribution), *options, "-cp", classpath, _MAIN[spec.role], str(properties))
        return Command(words)

    def has_byteman(self, spec: NodeSpec) -> bool:
        """Whether a node has Byteman from its start: one of Kafka's, where there are rules."""
        return self.rules is not None and spec.role is not Role.ZOOKEEPER

    def mutant_of(self, spec: NodeSpec, distribution: Distribution) -> Mutant | None:
        """What is planted in a node of this distribution: nothing if its class is another one than was changed."""
        if spec.role is Role.ZOOKEEPER or self.mutant is None:
            return None
        own = class_digest(distribution.jars, self.mutant.class_name) if self.mutant.original else None
        return self.mutant if own is None or own == self.mutant.original else None

    def is_watched(self, spec: NodeSpec) -> bool:
        """Whether it is recorded what a node executes."""
        return self.jacoco is not None and spec.role is not Role.ZOOKEEPER

    def tool_command(
        self,
        distribution: Distribution,
        tool: Tool,
        arguments: Sequence[str],
        hosts: Path | None = None,
        more: Sequence[str] = (),
    ) -> Command:
        """The command that runs one of Kafka's own tools; ``hosts``: its only name service, ``more``: JVM options."""
        names = [f"-Djdk.net.hosts.file={hosts}"] if hosts else []
        options = [*self._options(128, OF_TOOLS), *names, *self._logins(Role.BROKER), *more]
        if distribution.image is not None:
            return in_image(distribution.image, distribution.image.tool, {"tool": tool.name}, options, (), arguments)
        words = ["-cp", distribution.classpath, tool.main_class, *arguments]
        return Command((*self._java(distribution), *options, *words))

    def _logins(self, role: Role) -> tuple[str, ...]:
        return self.zookeeper.jvm_options(role) if self.zookeeper else ()

    def _java(self, distribution: Distribution) -> list[str]:
        archive = distribution.cds_archive
        flags = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
        return [str(self.java), *flags, *(flags_to_use(archive) if archive else [])]

    def _options(self, heap_mb: int, logging: str = "") -> list[str]:
        """What every JVM gets, also that of an image, which has its own garbage collector."""
        return [
            "-Xms64m",
            f"-Xmx{heap_mb}m",
            f"-Dlog4j.configuration=file:{self.etc / f'{logging}log4j.properties'}",
            f"-Dlog4j2.configurationFile={self.etc / f'{logging}log4j2.properties'}",
            *self.unpacking,
        ]

    def _agents(self, spec: NodeSpec, distribution: Distribution, hosts: Path) -> list[str]:
        if spec.role is Role.ZOOKEEPER:
            return []
        own = hosts.read_text().splitlines()
        address = next(line.split()[0] for line in own if line.endswith(f" {spec.name}"))
        agents = []
        if self.jacoco is not None:  # before all others: it knows a class file by its sum, as it is in the jar
            agents.append(f"-javaagent:{self.jacoco}=output=none,jmx=true,includes={':'.join(self.watched)}")
        if self.planter is not None and (mutant := self.mutant_of(spec, distribution)):
            agents.append(f"-javaagent:{self.planter}={mutant.class_name},{self.etc / _MUTANT}")
        agents.append(f"-javaagent:{self.jolokia}=host={address},port={JOLOKIA_PORT},discoveryEnabled=false")
        if self.has_byteman(spec):  # with a listener: it cannot be loaded again for a crash point
            agents.append(f"-javaagent:{self.byteman}=script:{self.etc / RULES},{listening_at(address)}")
        return agents
