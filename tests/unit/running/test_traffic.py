"""The end of a run's client traffic, with a clients' process that plays its part."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Self

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, NodeDiedError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.running import traffic as traffic_module
from pytest_kmigrate.running.traffic import Traffic
from pytest_kmigrate.workloads.clients import client_workload
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.client_workload import ReadBack, create_topics
from pytest_kmigrate.workloads.clients.counting import Counts
from tests.unit.fakes import Stage


class PlayedClients:
    """Clients that had trouble; reading back may fail, and what they are awaited to do never comes."""

    def __init__(self, failure: ClusterError | None = None) -> None:
        self._failure = failure

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
        if self._failure is not None:
            raise self._failure
        return ReadBack(7, ["orders-0 at 7 of 8"])

    def await_more_acked(self, count: int, within_s: float) -> int:
        """None comes."""
        raise AwaitTimeoutError(f"{count} acknowledged sends", within_s, 0)

    await_more_consumed = await_more_committed = await_more_acked

    has_ended = False

    def stop(self, _within_s: float) -> Mapping[str, int]:
        """The counts."""
        return {**Counts(acked=7).plain(), "outstanding": 0}

    def troubles(self) -> Sequence[str]:
        """Two."""
        return ("one thing", "another")


def _begun(stage: Stage, failure: ClusterError | None = None) -> Traffic:
    """Traffic whose clients are played."""
    traffic = Traffic(stage.cluster, stage.recorder)  # type: ignore[arg-type]  # stand-ins
    traffic._clients = PlayedClients(failure)  # type: ignore[assignment]  # a stand-in
    return traffic


def test_the_clients_troubles_are_in_the_history(stage: Stage) -> None:
    """A run whose clients did not do their work proves nothing by what they did."""
    traffic = _begun(stage)
    traffic.finish()
    reported = [event.data for event in stage.recorder.of(EventKind.HARNESS_TROUBLE)]
    assert reported == [{"what": "clients", "error": "one thing"}, {"what": "clients", "error": "another"}]
    (ended,) = stage.recorder.of(EventKind.WORKLOAD_ENDED)
    assert (ended.data["final_read"], ended.data["withheld"]) == (7, ["orders-0 at 7 of 8"])


@pytest.mark.parametrize(
    "failure",
    [
        ClusterError("expected to read every partition to its end"),
        AwaitTimeoutError("the end of the final read", 9, ""),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_run_whose_records_cannot_be_read_back_is_judged_by_the_rest(stage: Stage, failure: ClusterError) -> None:
    """A cluster that serves no client gets verdicts, too; the trouble keeps them from being good ones."""
    traffic = _begun(stage, failure)
    traffic.finish()
    assert stage.recorder.of(EventKind.HARNESS_TROUBLE)[0].data == {"what": "reading back", "error": str(failure)}
    (ended,) = stage.recorder.of(EventKind.WORKLOAD_ENDED)
    assert (ended.data["final_read"], ended.data["acked"]) == (None, 7)


def test_clients_that_died_are_no_evidence(stage: Stage) -> None:
    """Of these nothing is left to be stopped, nor counts to be had: a part of the harness is lost."""
    traffic = _begun(stage, NodeDiedError("clients", 1, ""))
    traffic._clients.has_ended = True  # type: ignore[union-attr, misc]  # a stand-in
    traffic.finish()
    assert [each.data.get("lost") for each in stage.recorder.of(EventKind.HARNESS_TROUBLE)] == [None, "clients"]
    assert not stage.recorder.of(EventKind.WORKLOAD_ENDED)


@pytest.mark.parametrize("wait", ["await_acked", "await_consumed", "await_committed"])
def test_a_wait_in_vain_is_an_expectation_that_was_not_met(stage: Stage, wait: str) -> None:
    """The history has it, wherever the error is caught."""
    traffic = _begun(stage)
    with pytest.raises(AwaitTimeoutError, match="500 acknowledged sends"):
        getattr(traffic, wait)(500)
    [unmet] = stage.recorder.of(EventKind.EXPECTATION)
    assert (unmet.data["name"], unmet.data["met"], unmet.data["kind"]) == ("clients are served", False, "LIVENESS")


@pytest.mark.parametrize(("consumers", "group"), [(2, "kmigrate"), (0, "")])
def test_the_history_tells_who_is_to_read_what(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, consumers: int, group: str
) -> None:
    """A group that never reads anything leaves no other trace."""
    monkeypatch.setattr(traffic_module, "create_topics", lambda *_: None)
    monkeypatch.setattr(traffic_module, "RunningClients", lambda *_: PlayedClients())
    monkeypatch.setattr(stage.recorder, "folder", SimpleNamespace(operations="unused"), raising=False)
    monkeypatch.setattr(stage.recorder, "start_ns", 0, raising=False)
    Traffic(stage.cluster, stage.recorder).start(ClientWorkload(consumers=consumers))  # type: ignore[arg-type]  # stand-ins
    (began,) = stage.recorder.of(EventKind.WORKLOAD_BEGAN)
    assert (began.data["topics"], began.data["group"]) == (["orders"], group)


def test_a_second_workload_is_refused(stage: Stage) -> None:
    """A test that asks for transactions beside the usual clients would wait for records that are never written."""
    traffic = _begun(stage)
    with pytest.raises(WrongUseError, match="workload or transactional_workload, not for both"):
        traffic.start(traffic.usual(transactors=2))


def test_without_a_workload_nothing_is_waited_for(stage: Stage) -> None:
    """The sentence says which fixture lacks, or that the traffic has ended already."""
    traffic = Traffic(stage.cluster, stage.recorder)  # type: ignore[arg-type]  # stand-ins
    for wait in (traffic.await_acked, traffic.await_consumed, traffic.await_committed):
        with pytest.raises(WrongUseError, match="ask for workload, and wait for them before verify"):
            wait(1)


@pytest.mark.parametrize("count", [0, -1, "500", 1.5, True, None])
def test_a_wait_for_no_record_is_wrong_use(stage: Stage, count: object) -> None:
    """It would return at once, and the test would take its clients for served."""
    traffic = _begun(stage)
    for wait in (traffic.await_acked, traffic.await_consumed, traffic.await_committed):
        with pytest.raises(WrongUseError, match=rf"^{wait.__name__}: expected a number from 1 on, got "):
            wait(count)  # type: ignore[arg-type]


def test_a_further_run_on_a_cluster_writes_to_topics_of_its_own(stage: Stage) -> None:
    """What an earlier one wrote would pass for records that were never sent."""
    recorder = stage.recorder
    first, second = Traffic(stage.cluster, recorder), Traffic(stage.cluster, recorder, 2)  # type: ignore[arg-type]
    assert (first.topic, second.topic) == ("orders", "orders-run2")
    usual = [traffic.usual(transactors=1) for traffic in (first, second)]
    assert not set(usual[0].every_topic) & set(usual[1].every_topic)
    assert [workload.group for workload in usual] == ["kmigrate", "kmigrate-run2"]


def test_admin_clients_write_nothing_to_standard_error(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of librdkafka, such as "Purging 1 unserved events", would stand beside every failure."""
    settings: list[dict[str, object]] = []

    class Admin:
        def __init__(self, given: dict[str, object]) -> None:
            settings.append(given)

        def create_topics(self, *_: object, **__: object) -> dict[str, object]:
            return {}

        def create_partitions(self, _: object) -> dict[str, object]:
            done = Future[None]()
            done.set_result(None)
            return {"orders": done}

    monkeypatch.setattr(traffic_module, "AdminClient", Admin)
    monkeypatch.setattr(client_workload, "AdminClient", Admin)
    create_topics(ClientWorkload(), {})
    Traffic(stage.cluster, stage.recorder).add_partitions("orders", 9)  # type: ignore[arg-type]  # stand-ins
    assert [each["log_level"] for each in settings] == [2, 2]
    (grown,) = stage.recorder.of(EventKind.METADATA_CHANGE)  # so that checks look for the partitions
    assert [grown.data[key] for key in ("subject", "wanted", "outcome")] == ["orders", {"partitions": 9}, "ok"]
