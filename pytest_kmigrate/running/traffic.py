"""The client traffic of one run: starts the clients' process, knows how far it is, ends it with a final read."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from subprocess import Popen
from typing import Self

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from pytest_kmigrate.checkers.evidence.expectations import CLIENTS_SERVED
from pytest_kmigrate.model.capabilities import require
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, HarnessLostError, WrongUseError
from pytest_kmigrate.model.events.evidence import READING_BACK, HarnessTrouble
from pytest_kmigrate.model.events.workloads import ClientsBegan, ClientsEnded
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.procedures.joining import joined
from pytest_kmigrate.procedures.waits import waited_in_vain
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.waiting import PATIENCE_S, answered
from pytest_kmigrate.workloads.clients.client_properties import QUICK_FAILOVER
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.client_workload import ReadBack, RunningClients, create_topics
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion, recorded

_FINAL_READ_WITHIN_S = 60
_ANSWERED_WITHIN_S = 10
_PER_S = 500
_LEAST_IN_SYNC = "min.insync.replicas"


class Traffic:
    """Producers and consumers that run until ``finish``; leaving the block ends them whatever happened."""

    def __init__(self, cluster: Cluster, recorder: RunRecorder, place: int = 1, seed: int = 0) -> None:
        """``place``: which of the runs on this cluster it is of; each has topics and a group of its own.

        ``seed``: that of the run, which draws the order of keys.
        """
        self._seed = seed
        self._partitions: dict[str, list[int]] = {}
        self._suffix = "" if place == 1 else f"-run{place}"
        self._cluster = cluster
        self._recorder = recorder
        self._clients: RunningClients | None = None
        self.parts: Mapping[str, int] = {}
        """The process of the clients that were started last, by what it is."""
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    def start(self, workload: ClientWorkload | None = None) -> None:
        """Create the workload's topics and start its clients; returns when they are ready.

        WrongUseError when clients run already: others would be asked for and never be there. NotApplicableError where
        the provider's clusters serve no clients.
        """
        if self._clients is not None:
            raise WrongUseError(
                "expected one workload in a test: ask for workload or transactional_workload, not for both"
            )
        workload = replace(workload or self.usual(), seed=self._seed)
        require(self._cluster.capabilities, workload.needs, f"workload {workload.name}", self._recorder)
        self._cluster.makes(workload.every_topic, workload.group)
        connection = self._cluster.client_connection()
        create_topics(workload, connection)
        self._partitions = {topic: [workload.partitions] for topic in workload.every_topic}
        settings = ClientsSettings(workload, connection, str(self._recorder.folder.operations), self._recorder.start_ns)
        file = self._cluster.scratch / "clients.json"
        self._clients = self._ending.enter_context(RunningClients(settings, file, self._spawn))
        self._clients.await_ready()
        # A group that never reads anything leaves no other trace.
        group = workload.group if workload.consumers else ""
        topics, least = list(workload.every_topic), _least_in_sync(self._cluster.topology)
        self._recorder.record(ClientsBegan(workload.name, topics, workload.per_s, group, least, self._seed))

    def usual(self, transactors: int = 0) -> ClientWorkload:
        """A rate that two cores carry beside seven JVMs, and as many copies as there are brokers for.

        On a cluster of somebody else, under names of ours and no faster than its file says.
        """
        replication = min(3, len(joined(self._cluster, Role.BROKER)))
        named, own = ClientWorkload(), self._cluster.own
        return ClientWorkload(
            topics=tuple(f"{own.topics}{topic}{self._suffix}" for topic in named.topics),
            transactions_topic=f"{own.topics}{named.transactions_topic}{self._suffix}",
            group=f"{own.groups}{named.group}{self._suffix}",
            per_s=min(_PER_S, own.records_per_s or _PER_S),
            replication=replication,
            transactors=transactors,
        )

    @property
    def topic(self) -> str:
        """The topic that the usual workload writes to."""
        return self.usual().topics[0]

    def acked(self) -> int:
        """Writes acknowledged so far."""
        return self._clients.acked() if self._clients else 0

    def await_acked(self, count: int, within_s: float = PATIENCE_S) -> None:
        """Return when so many more writes than now are acknowledged: clients are served."""
        _check_count("await_acked", count)
        with self._recorded():
            self._started().await_more_acked(count, within_s)

    def await_consumed(self, count: int, within_s: float = PATIENCE_S) -> None:
        """Return when consumers have read so many more records than now."""
        _check_count("await_consumed", count)
        with self._recorded():
            self._started().await_more_consumed(count, within_s)

    def await_committed(self, count: int, within_s: float = PATIENCE_S) -> None:
        """Return when the group has committed so many more offsets than now, each of one partition.

        With as many as there are partitions, its members have joined: one that a fault finds joining may have to wait
        until it is healed, and would read nothing meanwhile.
        """
        _check_count("await_committed", count)
        with self._recorded():
            self._started().await_more_committed(count, within_s)

    def stop_sending(self) -> None:
        """Send nothing new from now on; consumers go on."""
        self._started().stop_producing()

    def add_partitions(self, topic: str, total: int) -> None:
        """Let one of the workload's topics have so many partitions; its clients use them as they learn of them.

        It is recorded, as every change of metadata that was acknowledged: checks look for it.
        """
        admin = AdminClient({**QUICK_FAILOVER, **self._cluster.client_connection()})
        began_ns = self._recorder.now_ns()
        (future,) = admin.create_partitions([NewPartitions(topic, total)]).values()
        answered(future, awaited=f"{total} partitions of {topic}", within_s=PATIENCE_S)
        change = MetadataChange("add-partitions", topic, {"partitions": total})
        recorded(self._recorder, change, Completion(OperationOutcome.OK), began_ns)
        self._partitions.setdefault(topic, []).append(total)

    def finish(self, *, reads_back: bool = True) -> None:
        """Stop sending, read everything back with a fresh client, stop the clients; nothing when none was started.

        What cannot be read back is trouble in the history, and the run is judged by the rest: a cluster that serves
        no client would have no verdict at all.
        """
        if self._clients is None:
            return
        clients, self._clients = self._clients, None
        if not clients.has_ended:
            clients.stop_producing()
        read = self._read_back(clients) if reads_back else None
        records, withheld = (read.records, list(read.withheld)) if read else (None, [])
        if clients.has_ended:
            lost = "\n".join(clients.troubles()) or "see their log"
            self._recorder.record(HarnessTrouble("the clients are gone", lost, lost="clients"))
            return
        counts = clients.stop(_ANSWERED_WITHIN_S if reads_back else 0)
        for trouble in clients.troubles():
            self._recorder.record(HarnessTrouble("clients", trouble))
        name = clients.settings.workload.name
        self._recorder.record(ClientsEnded(name, records, withheld, **counts, partitions=self._partitions))

    def _read_back(self, clients: RunningClients) -> ReadBack | None:
        try:
            return clients.final_read(clients.settings.workload.message_timeout_s + _FINAL_READ_WITHIN_S)
        except (ClusterError, HarnessLostError) as error:
            self._recorder.record(HarnessTrouble(READING_BACK, str(error)))
            return None
        except KeyboardInterrupt:
            self._recorder.record(HarnessTrouble(READING_BACK, "interrupted"))
            raise

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record a wait that timed out as an expectation that was not met."""
        try:
            yield
        except AwaitTimeoutError as error:
            waited_in_vain(self._recorder, CLIENTS_SERVED, error)
            raise

    def _started(self) -> RunningClients:
        if self._clients is None:
            raise WrongUseError("expected clients to run: ask for workload, and wait for them before verify")
        return self._clients

    def _spawn(self, argv: Sequence[str]) -> Popen[bytes]:
        process = self._cluster.spawn(argv, self._recorder.folder.log_folder("clients") / "stderr.log")
        self.parts = {"the clients": process.pid}
        return process


def _least_in_sync(topology: Topology) -> int:
    """How many replicas a write has to reach; a broker with another default may lead any partition."""
    brokers = [*topology.of_role(Role.BROKER), *topology.of_role(Role.COMBINED)]
    return max(int(each.properties.get(_LEAST_IN_SYNC, "1")) for each in brokers)


def _check_count(call: str, count: object) -> None:
    """Nothing is proved by a wait for no record."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise WrongUseError(f"{call}: expected a number from 1 on, got {count!r}")
