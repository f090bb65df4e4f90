"""The end of a run's client traffic, with a clients' process that plays its part."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Self

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.running import traffic as traffic_module
from pytest_kmigrate.running.traffic import Traffic
from pytest_kmigrate.workloads.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.client_workload import ReadBack
from tests.unit.fakes import Stage


class PlayedClients:
    """Clients that had trouble."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def await_ready(self) -> None:
        """They are."""

    settings = ClientsSettings(ClientWorkload(), {}, "unused", 0)

    def stop_producing(self) -> None:
        """Nothing is sent anyway."""

    def final_read(self, _within_s: float) -> ReadBack:
        """All there is but one."""
        return ReadBack(7, ["orders-0 at 7 of 8"])

    def stop(self) -> Mapping[str, int]:
        """The counts."""
        return {"acked": 7}

    def troubles(self) -> Sequence[str]:
        """Two."""
        return ("one thing", "another")


def test_the_clients_troubles_are_in_the_history(stage: Stage) -> None:
    """A run whose clients did not do their work proves nothing by what they did."""
    traffic = Traffic(stage.cluster, stage.recorder)  # type: ignore[arg-type]  # stand-ins
    traffic._clients = PlayedClients()  # type: ignore[assignment]  # a stand-in
    traffic.finish()
    told = [event.data for event in stage.recorder.of(EventKind.HARNESS_TROUBLE)]
    assert told == [{"what": "clients", "error": "one thing"}, {"what": "clients", "error": "another"}]
    (ended,) = stage.recorder.of(EventKind.WORKLOAD_ENDED)
    assert (ended.data["final_read"], ended.data["withheld"]) == (7, ["orders-0 at 7 of 8"])


@pytest.mark.parametrize(("consumers", "group"), [(2, "kmigrate"), (0, "")])
def test_the_history_tells_who_is_to_read_what(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, consumers: int, group: str
) -> None:
    """A group that never reads anything leaves no other trace."""
    monkeypatch.setattr(traffic_module, "create_topics", lambda *_: None)
    monkeypatch.setattr(traffic_module, "RunningClients", lambda *_: PlayedClients())
    monkeypatch.setattr(stage.recorder, "folder", SimpleNamespace(operations="unused"), raising=False)
    monkeypatch.setattr(stage.recorder, "start_ns", 0, raising=False)
    monkeypatch.setattr(stage.cluster, "scratch", Path("unused"), raising=False)
    Traffic(stage.cluster, stage.recorder).start(ClientWorkload(consumers=consumers))  # type: ignore[arg-type]  # stand-ins
    (began,) = stage.recorder.of(EventKind.WORKLOAD_BEGAN)
    assert (began.data["topics"], began.data["group"]) == (["orders"], group)


def test_a_second_workload_is_refused(stage: Stage) -> None:
    """Whoever asks for transactions beside the usual clients would wait for records that nobody writes."""
    traffic = Traffic(stage.cluster, stage.recorder)  # type: ignore[arg-type]  # stand-ins
    traffic._clients = PlayedClients()  # type: ignore[assignment]  # a stand-in
    with pytest.raises(WrongUseError, match="workload or transactional_workload, not for both"):
        traffic.start(traffic.usual(transactors=2))


def test_without_a_workload_nothing_is_waited_for(stage: Stage) -> None:
    """The sentence says which fixture lacks, or that the traffic has ended already."""
    traffic = Traffic(stage.cluster, stage.recorder)  # type: ignore[arg-type]  # stand-ins
    for wait in (traffic.await_acked, traffic.await_consumed):
        with pytest.raises(WrongUseError, match="ask for workload, and wait for them before verify"):
            wait(1)
