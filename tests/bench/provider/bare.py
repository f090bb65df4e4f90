"""The bare script which the process provider replaces: plain subprocesses, no proxies, no agents, no archive.

It runs the same jars with the same Kafka properties as the provider (both come from ``node_properties``), on
127.0.71.x, and trusts the sentences of the logs: what somebody would write who only wants a cluster.
"""

import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.documents.kip_866.procedure import brokers_join, controllers_join
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import NodeSpec, Role, Topology
from pytest_kmigrate.providers.owned.jvm import LOG4J
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.properties import node_properties, quorum_voters, zookeeper_connect
from pytest_kmigrate.providers.owned.protection.security import protect
from pytest_kmigrate.providers.owned.software import Software
from pytest_kmigrate.waiting import until
from tests.bench.timings import Timings

FLAGS = ("-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
STARTS = ("at-once", "by-kind")
"""Brokers started together with ZooKeeper, or when it is ready."""
_MAIN = {
    Role.ZOOKEEPER: "org.apache.zookeeper.server.quorum.QuorumPeerMain",
    Role.BROKER: "kafka.Kafka",
    Role.CONTROLLER: "kafka.Kafka",
}
_READY = {
    Role.ZOOKEEPER: "binding to port",
    Role.BROKER: "started (kafka.server.KafkaServer)",
    Role.CONTROLLER: "Kafka Server started (kafka.server.KafkaRaftServer)",
}
_DUAL_WRITE = re.compile(r"KRaftMigrationDriver.* transitioning from \w+ to DUAL_WRITE")
_WITHIN_S = 180
_STOPPED_WITHIN_S = 60
_TAIL_CHARACTERS = 1500


class DirectAddresses(Addresses):
    """Everybody finds everybody where it binds."""

    def real(self, node: str) -> str:
        """Where a node binds."""
        return f"127.0.71.{self.number(node)}"

    def seen_from(self, source: str, destination: str) -> str:  # the same from everywhere
        """Where a node is found."""
        return self.real(destination)


def in_dual_write(controller_logs: Iterable[Path]) -> bool:
    """Whether some controller's log says that its migration driver went over to dual write."""
    return any(log.is_file() and _DUAL_WRITE.search(_text(log)) for log in controller_logs)


def measure(topology: Topology, software: Software, starts: str, logs: Path) -> Timings:
    """One round: start, migrate to dual write, stop by SIGTERM; ``logs`` gets the nodes' logs, whatever happens."""
    began = time.perf_counter()
    with _bare_cluster(topology, software, logs) as cluster:
        cluster.start_initial(starts)
        ready = time.perf_counter()
        cluster.migrate()
        migrated = time.perf_counter()
        laps = dict(cluster.laps_s)
        killed = cluster.stop()
        stopped = time.perf_counter()
    notes: dict[str, object] = {"killed_after_SIGTERM": killed, "starts": starts, "laps_s": laps}
    return Timings(ready - began, migrated - ready, stopped - migrated, notes, is_teardown_cut_off=bool(killed))


class BareCluster:
    """The processes, by node; each start writes a log of its own."""

    def __init__(self, topology: Topology, software: Software, scratch: Path, logs: Path) -> None:
        self.laps_s: dict[str, float] = {}
        self._lap_began = time.perf_counter()
        self._kept = logs
        self._topology = topology
        self._software = software
        self._scratch = scratch
        self._addresses = DirectAddresses(topology, 0)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: dict[str, Path] = {}
        self._wiring = cast(
            "Cluster",
            SimpleNamespace(quorum_voters=quorum_voters(topology), zookeeper_connect=zookeeper_connect(topology)),
        )
        (scratch / "log4j.properties").write_text(LOG4J)

    def start_initial(self, starts: str) -> None:
        """Start ZooKeeper and the brokers; return when the logs of all say that they are up."""
        zookeepers, brokers = self._topology.of_role(Role.ZOOKEEPER), self._topology.of_role(Role.BROKER)
        self._start(zookeepers)
        if starts == "by-kind":
            self._await_ready(zookeepers)
        self._start(brokers)
        self._await_ready([*zookeepers, *brokers])

    def migrate(self) -> None:
        """Provision the controllers, roll every broker into migration mode, wait for dual write."""
        controllers = self._topology.of_role(Role.CONTROLLER)
        changes = controllers_join(self._wiring)
        self._lap_began = time.perf_counter()
        self._format(controllers, changes)
        self._lap("format")
        self._start(controllers, changes)
        self._await_ready(controllers)
        self._lap("controllers started")
        for broker in self._topology.of_role(Role.BROKER):
            self._processes[broker.name].send_signal(signal.SIGTERM)
            self._processes[broker.name].wait(_STOPPED_WITHIN_S)
            self._lap(f"{broker.name} stopped")
            self._start([broker], brokers_join(self._wiring))
            self._await_ready([broker])
            self._lap(f"{broker.name} started")
        logs = [self._logs[spec.name] for spec in controllers]
        self._await(lambda: in_dual_write(logs), "dual write in a controller's log", controllers)
        self._lap("dual write")

    def _lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps_s[name], self._lap_began = now - self._lap_began, now

    def stop(self) -> list[str]:
        """SIGTERM to all at once, and wait; returns those that did not go and had to be killed."""
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _STOPPED_WITHIN_S
        killed = []
        for name, process in self._processes.items():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed.append(name)
        return killed

    def kill(self) -> None:
        """End what still runs."""
        for process in self._processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()

    def _start(self, specs: Sequence[NodeSpec], changes: Mapping[str, str | None] | None = None) -> None:
        for spec in specs:
            properties = self._write_properties(spec, changes or {})
            starts = len(list(self._kept.glob(f"{spec.name}.*.log")))
            log = self._kept / f"{spec.name}.{starts}.log"
            with log.open("wb") as output:
                self._processes[spec.name] = subprocess.Popen(
                    bound_to_us(self._java(spec, _MAIN[spec.role], str(properties))), stdout=output, stderr=output
                )
            self._logs[spec.name] = log

    def _format(self, specs: Sequence[NodeSpec], changes: Mapping[str, str | None]) -> None:
        broker = self._topology.of_role(Role.BROKER)[0]
        meta = (self._home(broker) / "disk" / "meta.properties").read_text()
        cluster_id = next(line.partition("=")[2] for line in meta.splitlines() if line.startswith("cluster.id="))
        running = []
        for spec in specs:
            arguments = ("format", f"--cluster-id={cluster_id}", "--config", str(self._write_properties(spec, changes)))
            command = bound_to_us(self._java(spec, "kafka.tools.StorageTool", *arguments))
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        codes = [process.wait(_WITHIN_S) for process in running]
        if any(codes):
            raise ClusterError("bare: expected StorageTool to end with code 0; it did not, see its words above")

    def _write_properties(self, spec: NodeSpec, changes: Mapping[str, str | None]) -> Path:
        home = self._home(spec)
        (home / "disk").mkdir(parents=True, exist_ok=True)
        protection = protect(self._addresses, self._scratch / "security")
        properties = node_properties(self._addresses, protection, spec, spec.mode, home / "disk", changes)
        file = home / "server.properties"
        file.write_text("".join(f"{key}={self._numeric(value)}\n" for key, value in properties.items()))
        return file

    def _numeric(self, value: str) -> str:
        """Addresses in the place of names: a bare script has no name service."""
        names = "|".join(re.escape(spec.name) for spec in self._topology.nodes)
        return re.sub(rf"\b({names})\b", lambda match: self._addresses.real(match[0]), value)

    def _home(self, spec: NodeSpec) -> Path:
        """Its folder, called by its number because names in properties are replaced."""
        return self._scratch / str(self._addresses.number(spec.name))

    def _java(self, spec: NodeSpec, main: str, *arguments: str) -> list[str]:
        jars = ":".join(str(jar) for jar in self._software.distributions[spec.kafka].jars)
        logging = f"-Dlog4j.configuration=file:{self._scratch / 'log4j.properties'}"
        return [str(self._software.java), *FLAGS, logging, "-cp", jars, main, *arguments]

    def _await_ready(self, specs: Sequence[NodeSpec]) -> None:
        def reported() -> bool:
            return all(_READY[spec.role] in _text(self._logs[spec.name]) for spec in specs)

        self._await(reported, f"{', '.join(spec.name for spec in specs)} ready", specs)

    def _await(self, condition: Callable[[], bool], awaited: str, specs: Sequence[NodeSpec]) -> None:
        until(condition, awaited=f"bare: {awaited}", within_s=_WITHIN_S, abort=lambda: self._raise_if_died(specs))

    def _raise_if_died(self, specs: Sequence[NodeSpec]) -> None:
        for spec in specs:
            code = self._processes[spec.name].poll()
            if code is not None:
                tail = _text(self._logs[spec.name])[-_TAIL_CHARACTERS:]
                raise ClusterError(f"bare: expected {spec.name} to run; it ended with code {code}: {tail}")


@contextmanager
def _bare_cluster(topology: Topology, software: Software, logs: Path) -> Iterator[BareCluster]:
    """A cluster whose processes and files are gone when the block ends."""
    scratch = Path(tempfile.mkdtemp(prefix="kmigrate-bare-"))
    logs.mkdir(parents=True)
    cluster = BareCluster(topology, software, scratch, logs)
    try:
        yield cluster
    finally:
        cluster.kill()
        shutil.rmtree(scratch)


def _text(log: Path) -> str:
    return log.read_text(errors="replace")
