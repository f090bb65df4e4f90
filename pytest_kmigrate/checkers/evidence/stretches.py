"""Stretches: the spans of a run in which clients worked; time between them is no wait."""

from dataclasses import dataclass

from pytest_kmigrate.model.event import Recorded, is_a
from pytest_kmigrate.model.events.workloads import (
    ClientsBegan,
    ClientsEnded,
    MetadataWorkloadBegan,
    MetadataWorkloadEnded,
)
from pytest_kmigrate.model.history import History


@dataclass(frozen=True)
class Stretch:
    """One span in which at least one workload of clients ran without a pause."""

    began_ns: int
    ended_ns: int | None
    """None: no event reports its end."""
    began: tuple[Recorded[ClientsBegan], ...]
    """The events of the workloads that began in it."""

    @property
    def groups(self) -> frozenset[str]:
        """The consumer groups that events of its workloads name; older runs do not record them."""
        return frozenset(event.what.group for event in self.began if event.what.group)


def stretches(history: History) -> list[Stretch]:
    """Those of a run, in the order of time; none if it has no workload."""
    found: list[Stretch] = []
    began: list[Recorded[ClientsBegan]] = []
    running = 0
    for event in history.of(ClientsBegan, ClientsEnded):
        if is_a(event, ClientsBegan):
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
    ended = [event.what.workload for event in history.of(ClientsEnded, MetadataWorkloadEnded)]
    began = [event.what.workload for event in history.of(ClientsBegan, MetadataWorkloadBegan)]
    return ", ".join(sorted({each for each in began if began.count(each) > ended.count(each)}))


def topics_of(event: Recorded[ClientsBegan]) -> set[str]:
    """The topics that a workload writes and reads, as its event records them."""
    return set(event.what.topics)
