"""The end of a run's client traffic, with a clients' process that plays its part."""

from collections.abc import Mapping, Sequence

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.running.traffic import Traffic
from pytest_kmigrate.workloads.client_settings import ClientsSettings, ClientWorkload
from tests.unit.fakes import Stage


class PlayedClients:
    """Clients that had trouble."""

    settings = ClientsSettings(ClientWorkload(), {}, "unused", 0)

    def stop_producing(self) -> None:
        """Nothing is sent anyway."""

    def final_read(self, _within_s: float) -> int:
        """All there is."""
        return 7

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
    assert ended.data["final_read"] == 7


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
