"""Stretches: the spans of a run in which clients worked; time between them is no wait."""

from dataclasses import dataclass

from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History


@dataclass(frozen=True)
class Stretch:
    """One span in which at least one workload of clients ran without a pause."""

    began_ns: int
    ended_ns: int | None
    """None: no event reports its end."""
    began: tuple[Event, ...]
    """The events of the workloads that began in it."""

    @property
    def groups(self) -> frozenset[str]:
        """The consumer groups that events of its workloads name; older runs do not record them."""
        return frozenset(str(event.data["group"]) for event in self.began if event.data.get("group"))


def stretches(history: History) -> list[Stretch]:
    """Those of a run, in the order of time; none if it has no workload."""
    found: list[Stretch] = []
    began: list[Event] = []
    running = 0
    for event in _of_clients(history):
        if event.kind is EventKind.WORKLOAD_BEGAN:
            began.append(event)
            running += 1
            continue
        running = max(0, running - 1)
        if began and not running:
            found.append(Stretch(began[0].at_ns, event.at_ns, tuple(began)))
            began = []
    return [*found, Stretch(began[0].at_ns, None, tuple(began))] if began else found


def running_workloads(history: History) -> str:
    """The names of the workloads without an event of their end; "" if there are none."""
    ended = [event.data.get("workload") for event in history.of(EventKind.WORKLOAD_ENDED)]
    began = [event.data.get("workload") for event in history.of(EventKind.WORKLOAD_BEGAN)]
    return ", ".join(sorted({str(each) for each in began if began.count(each) > ended.count(each)}))


def topics_of(event: Event) -> set[str]:
    """The topics that a workload writes and reads, as its event records them."""
    reported = event.data.get("topics")
    return {str(each) for each in reported} if isinstance(reported, list | tuple) else set()


def _of_clients(history: History) -> list[Event]:
    events = history.of(EventKind.WORKLOAD_BEGAN, EventKind.WORKLOAD_ENDED)
    # Streams of metadata changes are workloads, too, and have a scope.
    others = {event.data.get("workload") for event in events if "scope" in event.data}
    return [event for event in events if event.data.get("workload") not in others]
