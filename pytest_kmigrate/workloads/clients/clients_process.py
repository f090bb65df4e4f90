"""The clients' process: all producers and consumers of one workload, apart from pytest so that neither slows the other.

Run as ``python -m pytest_kmigrate.workloads.clients.clients_process SETTINGS.json`` (a ClientsSettings). Commands
come as JSON lines on standard input, events go as JSON lines to standard output:

                                            {"event": "ready"}
    {"do": "stop-producing"}                {"event": "progress", "acked": ...}  4 times a second, with all counts
    {"do": "final-read", "within_s": 60}    {"event": "final-read-done", "records": ..., "ends": ..., "withheld": ...}
                                            {"event": "final-read-failed", "why": ...}
    {"do": "stop", "within_s": 10}          {"event": "stopped", "acked": ...}  with all counts
                                            {"event": "trouble", "what": ...}

When standard input ends, or SIGTERM comes, the rows are written and the process exits at once: nothing survives the
parent. SIGINT is ignored, since a Ctrl-C is for the parent to decide about.

This is a program, so it also puts its own parts together: the one place of the workloads that knows of the recording.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path

from pytest_kmigrate.distributions.steady_clients import prefer_steady_clients

if __name__ == "__main__":  # before any of the modules below loads the clients
    prefer_steady_clients()

from pytest_kmigrate.recording.operation_parts import PartWriter
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings
from pytest_kmigrate.workloads.clients.consuming import GroupMember
from pytest_kmigrate.workloads.clients.counting import Counts, RunClock
from pytest_kmigrate.workloads.clients.final_read import FinalRead
from pytest_kmigrate.workloads.clients.producing import NumberSource, Senders
from pytest_kmigrate.workloads.clients.transacting import Transactors

TICK_S = 0.02
PROGRESS_EVERY_S = 0.25
LEAVE_GROUP_S = 2.0
DEFAULT_STOP_S = 10.0
DEFAULT_FINAL_READ_S = 60.0

Line = dict[str, object]
GONE: Line = {"do": "gone"}
"""Stands for the end of standard input."""


class Clients:
    """The process's whole state; only the main thread touches it, others leave lines in ``orders`` and ``news``."""

    def __init__(self, settings: ClientsSettings) -> None:
        self.settings = settings
        self.orders: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self.news: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self._folder = Path(settings.operations_folder)
        self._clock = RunClock(settings.run_start_monotonic_ns)
        self._counts = Counts()
        self._rows = PartWriter(self._folder, settings.workload.name)
        self._numbers = NumberSource()
        self._senders = Senders(settings, self._rows, self._counts, self._clock)
        self._transaction_rows = PartWriter(self._folder, f"{settings.workload.name}-transactions")
        self._transactors = Transactors(settings, self._transaction_rows, self._counts, self._clock)
        self._members: list[GroupMember] = []
        self._next_progress = time.monotonic()
        self._final_read_until: float | None = None

    def tell_of_dead_thread(self, died: threading.ExceptHookArgs) -> None:
        """For ``threading.excepthook``: nothing else would inform the parent that some of the work has stopped."""
        threading.__excepthook__(died)
        name = died.thread.name if died.thread else "of no thread"
        self.news.put({"event": "trouble", "what": f"thread {name} ended by {died.exc_value!r}"})

    def run(self) -> None:
        """Work until asked to stop; returns when everything is written."""
        workload = self.settings.workload
        self._senders.begin([self._numbers() for _ in range(workload.producers)])
        self._members = [self._member(self._numbers()) for _ in range(workload.consumers)]
        self._transactors.begin([self._numbers() for _ in range(workload.transactors)])
        self._tell({"event": "ready"})
        while (end := self._obeyed()) is None:
            self._tick()
        if end is GONE:
            self._give_up()
        else:
            self._stop(_seconds(end, "within_s", DEFAULT_STOP_S))

    def _obeyed(self) -> Line | None:
        """Carry out the commands that have come; return the one that ends the process."""
        while not self.orders.empty():
            order = self.orders.get()
            match order.get("do"):
                case "stop-producing":
                    self._stop_producing()
                case "final-read":
                    self._final_read_until = time.monotonic() + _seconds(order, "within_s", DEFAULT_FINAL_READ_S)
                case "stop" | "gone":
                    return order
                case _:
                    self._tell({"event": "trouble", "what": f"expected a command; got {order}"})
        return None

    def _tick(self) -> None:
        self._senders.tick(TICK_S)
        # Without a producer somebody else has to do the waiting.
        wait_s = 0.0 if self.settings.workload.producers else TICK_S / max(1, len(self._members))
        for member in self._members:
            member.tick(wait_s)
        self._transactors.tick()
        for rows in (self._rows, self._transaction_rows):
            rows.close_part_if_due()
        if self._final_read_until is not None:
            self._begin_final_read_if_due(self._final_read_until)
        while not self.news.empty():
            self._tell(self.news.get())
        if time.monotonic() >= self._next_progress:
            self._next_progress = time.monotonic() + PROGRESS_EVERY_S
            self._senders.replace_broken(self._numbers)
            self._replace_broken_members()
            self._tell({"event": "progress", **self._counts.plain(), "outstanding": len(self._senders)})

    def _member(self, number: int) -> GroupMember:
        return GroupMember(number, self.settings, self._rows, self._counts, self._clock)

    def _replace_broken_members(self) -> None:
        """Start a consumer that has given up again, as its operator would: by its instance id it has its place at once.

        A coordinator that was killed may remember a static member by an id that it gave it before.
        """
        for place, member in enumerate(self._members):
            if member.is_broken:
                member.give_up()
                member.close()
                self._members[place] = self._member(member.number)

    def _begin_final_read_if_due(self, until: float) -> None:
        """Only when nothing is outstanding: a send acknowledged after the ends were asked for would look lost.

        So would a transaction behind one that is still open: readers are kept from it.
        """
        left_s = until - time.monotonic()
        outstanding, still_open = len(self._senders), self._transactors.open()
        if (outstanding or still_open) and left_s > 0:
            return
        self._final_read_until = None
        if left_s > 0:
            self._begin_final_read(left_s)
        else:
            why = f"{outstanding} sends without an answer, transactions of {still_open or 'no producer'} open"
            self._tell({"event": "final-read-failed", "why": why})

    def _begin_final_read(self, within_s: float) -> None:
        number = self._numbers()
        rows = PartWriter(self._folder, f"{self.settings.workload.name}-reader-{number}", whole=True)
        FinalRead(number, self.settings, rows, self._clock, self._counts.ends).start(within_s, self.news.put)

    def _stop(self, within_s: float) -> None:
        """Let what is under way end, as long as there is time; the rest becomes indefinite."""
        self._stop_producing()
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline and (len(self._senders) or self._transactors.open()):
            self._tick()
        for member in self._members:
            member.commit()
        while time.monotonic() < deadline and any(member.is_committing for member in self._members):
            self._tick()
        self._give_up()
        counts = self._counts.plain()  # as many as there are rows: leaving commits once more, and has none
        self._leave_group()
        self._tell({"event": "stopped", **counts})

    def _stop_producing(self) -> None:
        self._senders.stop_producing()
        self._transactors.stop()

    def _give_up(self) -> None:
        self._senders.give_up()
        self._transactors.give_up()
        for member in self._members:
            member.give_up()
        self._rows.close()
        self._transaction_rows.close()

    def _leave_group(self) -> None:
        """Leave the group, which blocks while the cluster is away: so in threads that the exit does not wait for."""
        leaving = [threading.Thread(target=member.close, daemon=True) for member in self._members]
        for thread in leaving:
            thread.start()
        deadline = time.monotonic() + LEAVE_GROUP_S
        for thread in leaving:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _tell(self, line: Line) -> None:
        try:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
        except OSError:
            # Nobody listens any more: the parent is gone, whether or not standard input shows it yet.
            self.orders.put(GONE)


def _seconds(order: Line, key: str, default: float) -> float:
    value = order.get(key, default)
    return float(value) if isinstance(value, (int, float)) else default


def _listen(orders: "queue.SimpleQueue[Line]", news: "queue.SimpleQueue[Line]") -> None:
    for line in sys.stdin:
        try:
            order = json.loads(line)
        except json.JSONDecodeError:
            news.put({"event": "trouble", "what": f"expected a line of JSON; got {line!r}"})
            continue
        orders.put(order)
    orders.put(GONE)


def main(arguments: list[str]) -> None:
    """Run the clients that the settings file describes, and exit without waiting for any library's threads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    clients = Clients(ClientsSettings.from_json(Path(arguments[0]).read_text(encoding="utf-8")))
    threading.excepthook = clients.tell_of_dead_thread
    signal.signal(signal.SIGTERM, lambda *_: clients.orders.put(GONE))
    threading.Thread(target=_listen, args=(clients.orders, clients.news), name="orders", daemon=True).start()
    clients.run()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
