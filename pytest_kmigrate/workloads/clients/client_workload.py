"""The parent's side of the clients' process: start it, send it orders, know how far it is."""

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from pytest_kmigrate.model.errors import ClusterError, NodeDiedError, WrongUseError
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, answered, until
from pytest_kmigrate.workloads.clients.client_properties import QUICK_FAILOVER
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.counting import Counts
from pytest_kmigrate.workloads.clients.outcomes import error_name

MODULE = "pytest_kmigrate.workloads.clients.clients_process"

Progress = Mapping[str, int]


@dataclass(frozen=True)
class ReadBack:
    """What a final read came to."""

    records: int
    withheld: Sequence[str]
    """Partitions whose leader reports records it does not serve: first missing offset and reported end offset."""


class ClientsProcess(Protocol):
    """What ``spawn`` returns: a process with both pipes open."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Takes commands."""
        ...

    @property
    def stdout(self) -> IO[bytes] | None:
        """Gives events."""
        ...

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        ...


Spawn = Callable[[Sequence[str]], ClientsProcess]


def create_topics(workload: ClientWorkload, connection: Mapping[str, str], within_s: float = 30) -> None:
    """Create the topics of a workload that do not exist yet."""
    wanted = [
        NewTopic(topic, num_partitions=workload.partitions, replication_factor=workload.replication)
        for topic in workload.every_topic
    ]
    admin = AdminClient({**QUICK_FAILOVER, **connection})  # kept in a name: without one its requests would die with it
    futures = admin.create_topics(wanted, operation_timeout=within_s, request_timeout=within_s)
    for topic, future in futures.items():
        try:
            answered(future, awaited=f"topic {topic} of the clients", within_s=within_s)
        except KafkaException as refused:
            name = error_name(refused.args[0])
            if name != "TOPIC_ALREADY_EXISTS":
                raise ClusterError(f"expected to create topic {topic} for the clients; got {name}") from refused


class RunningClients:
    """A clients' process; leaving the block stops it. Its latest news are kept by a thread that reads them."""

    def __init__(self, settings: ClientsSettings, settings_file: Path, spawn: Spawn) -> None:
        settings_file.parent.mkdir(parents=True, exist_ok=True)
        settings_file.write_text(settings.to_json(), encoding="utf-8")
        self.settings = settings
        self._process = spawn([sys.executable, "-m", MODULE, str(settings_file)])
        if self._process.stdin is None or self._process.stdout is None:
            raise WrongUseError("clients: expected a process with pipes at stdin and stdout; got one without")
        self._orders, self._news = self._process.stdin, self._process.stdout
        self._progress: Progress = Counts().plain()
        self._is_ready = False
        self._stopped: Progress | None = None
        self._final_reads: list[Mapping[str, Any]] = []
        self._troubles: list[str] = []
        self._reading = threading.Thread(target=self._listen, name="clients-news", daemon=True)
        self._reading.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stopped is None and self._process.poll() is None:
            self.stop()
        self._close()

    def await_ready(self, within_s: float = PATIENCE_S) -> None:
        """Return when the process takes commands."""
        until(lambda: self._is_ready, awaited="clients ready", within_s=within_s, abort=self._must_be_alive)

    def progress(self) -> Progress:
        """The latest counts: acked, failed, indefinite, skipped, consumed, committed, outstanding."""
        return self._progress

    def acked(self) -> int:
        """Sends acknowledged so far."""
        return self._progress["acked"]

    def await_acked(self, at_least: int, within_s: float) -> int:
        """Return the number of acknowledged sends as soon as it is ``at_least`` that."""
        return self._await("acked", at_least, "acknowledged sends", within_s)

    def await_more_acked(self, more: int, within_s: float) -> int:
        """Return when ``more`` sends than now are acknowledged: the cluster serves clients again."""
        return self.await_acked(self.acked() + more, within_s)

    def await_more_consumed(self, more: int, within_s: float) -> int:
        """Return when consumers have read ``more`` records than now."""
        return self._await("consumed", self._progress["consumed"] + more, "records read by consumers", within_s)

    def await_more_committed(self, more: int, within_s: float) -> int:
        """Return when groups have committed ``more`` offsets than now, each of one partition."""
        return self._await("committed", self._progress["committed"] + more, "offsets committed by consumers", within_s)

    def _await(self, count: str, at_least: int, counted: str, within_s: float) -> int:
        def enough() -> int | NotYet:
            progress = self._progress
            return progress[count] if progress[count] >= at_least else NotYet(dict(progress))

        return until(enough, awaited=f"{at_least} {counted}", within_s=within_s, abort=self._must_be_alive)

    def stop_producing(self) -> None:
        """Send nothing new; consumers go on."""
        self._order({"do": "stop-producing"})

    def final_read(self, within_s: float = 60) -> ReadBack:
        """Read everything with a fresh client; ClusterError when the end was not reached.

        It begins when every send has been answered or given up, so the producers must have been stopped.
        """
        done = len(self._final_reads)
        self._order({"do": "final-read", "within_s": within_s})
        result = until(
            lambda: self._final_reads[done:],
            awaited="the end of the final read",
            within_s=within_s + PATIENCE_S,
            abort=self._must_be_alive,
        )[0]
        if result["event"] != "final-read-done":
            raise ClusterError(f"expected to read every partition to its end within {within_s:g} s; got {result}")
        return ReadBack(result["records"], result["withheld"])

    def stop(self, within_s: float = 10) -> Progress:
        """Stop: what is unanswered after ``within_s`` becomes indefinite. The final counts."""
        self._order({"do": "stop", "within_s": within_s})
        stopping_s = within_s + PATIENCE_S
        until(self._has_said_all, awaited="clients stopped", within_s=stopping_s, ends_anyway=True)
        until(lambda: self.has_ended, awaited="clients gone", within_s=PATIENCE_S, ends_anyway=True)
        self._close()
        return self._stopped or self._progress

    def _close(self) -> None:
        """Also of a process that died: an open pipe is a warning of Python that fails the test of somebody else."""
        with suppress(BrokenPipeError):
            self._orders.close()
        self._reading.join()
        self._news.close()

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def troubles(self) -> Sequence[str]:
        """What the process itself complained about."""
        return tuple(self._troubles)

    def _has_said_all(self) -> bool:
        return self._stopped is not None or not self._reading.is_alive()

    def _order(self, order: Mapping[str, object]) -> None:
        try:
            self._orders.write(json.dumps(order).encode() + b"\n")
            self._orders.flush()
        except (OSError, ValueError) as error:
            self._must_be_alive()
            raise ClusterError(f"expected to send the clients {order}; got {error}; see their log") from error

    def _must_be_alive(self) -> None:
        code = self._process.poll()
        if code is not None:
            raise NodeDiedError("clients", code, "\n".join(self._troubles) or "(see the clients' log)")

    def _listen(self) -> None:
        for line in self._news:
            try:
                news = json.loads(line)
            except json.JSONDecodeError:
                self._troubles.append(f"not a line of JSON: {line!r}")
                continue
            self._take(news)

    def _take(self, news: Mapping[str, Any]) -> None:
        kind = news.get("event")
        counts = {key: value for key, value in news.items() if isinstance(value, int)}
        if kind == "ready":
            self._is_ready = True
        elif kind == "progress":
            self._progress = {**self._progress, **counts}
        elif kind == "stopped":
            self._progress = self._stopped = {**self._progress, **counts, "outstanding": 0}
        elif kind in ("final-read-done", "final-read-failed"):
            self._final_reads.append(news)
        else:
            self._troubles.append(str(news.get("what", news)))
