"""Facts about schedules that are carried out: what begins when, how long the walk stays, what is judged."""

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kmigrate.faults.injection import Injection, Injector
from pytest_kmigrate.faults.processes import Kill, Pause
from pytest_kmigrate.faults.schedules.header import IMAGES
from pytest_kmigrate.faults.schedules.schedule import Begin, Happening, Release, Schedule
from pytest_kmigrate.faults.targets import active_controller, node
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.running import carrying_out
from pytest_kmigrate.running.carrying_out import carry_out
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.clients.client_settings import ClientWorkload
from tests.unit.fakes import Stage

AT_ONCE = Release(operations=0, at_most_s=60)


@pytest.fixture
def run(stage: Stage) -> Any:
    """A run whose walk, traffic and metadata are noted in ``done``."""
    done: list[str] = []
    done_by_clients: list[tuple[int, int, int]] = []

    def note(what: str) -> Any:
        return lambda *given, **_: done.append(f"{what}{list(given)}")

    def advance_to(state: str) -> None:
        done.append(f"walk to {state}, {', '.join(_in_force(stage)) or 'nothing'} in force")

    def served(commits: int) -> None:
        done_by_clients.append((commits, len(stage.of(EventKind.FAULT_BEGAN)), len(stage.of(EventKind.FAULT_HEALED))))

    return SimpleNamespace(
        done=done,
        served=done_by_clients,
        inject=Injector(stage.scene),
        without=frozenset(),
        driver=SimpleNamespace(advance_to=advance_to),
        traffic=SimpleNamespace(start=note("traffic"), usual=ClientWorkload, await_committed=served),
        metadata=SimpleNamespace(change=note("change"), stop=note("stop"), settle=note("settle"), visible=list),
    )


def _in_force(stage: Stage) -> list[str]:
    began = [str(event.data["fault"]) for event in stage.of(EventKind.FAULT_BEGAN)]
    healed = [str(event.data["fault"]) for event in stage.of(EventKind.FAULT_HEALED)]
    return [each for each in began if each not in healed]


def _schedule(*happenings: Happening, walk: tuple[str, ...] = ("ALL_KRAFT",), changes_per_s: float = 0) -> Schedule:
    return Schedule("kip-866", "zk1-broker3-controller3", happenings, walk, "HYBRID", changes_per_s)


def test_a_happening_is_over_before_the_walk_goes_on(stage: Stage, run: Any) -> None:
    """It begins when the walk has come to its state, and what begins in the next state does not yet."""
    pause, kill = Pause(node("broker-1")), Kill(node("broker-2"))
    carry_out(
        _schedule(Happening(1, pause, Begin("HYBRID"), AT_ONCE), Happening(2, kill, Begin("ALL_KRAFT"), AT_ONCE)),
        run,
    )
    assert run.done[1] == "walk to ALL_KRAFT, nothing in force"
    assert [str(event.data["fault"]) for event in stage.of(EventKind.FAULT_BEGAN)] == [str(pause), str(kill)]
    assert len(stage.of(EventKind.FAULT_HEALED)) == len(stage.of(EventKind.FAULT_WITNESSED)) == 2


@pytest.mark.parametrize(("usual", "written"), [(500, 100), (20, 20)])
def test_a_night_writes_less_than_a_test_and_never_more_than_a_cluster_allows(
    run: Any, usual: float, written: float
) -> None:
    """A cluster of somebody else may allow less than a schedule would write."""
    run.traffic.usual = lambda: ClientWorkload(per_s=usual)
    given: list[ClientWorkload] = []
    run.traffic.start = given.append
    carry_out(_schedule(Happening(1, Pause(node("broker-1")), Begin("HYBRID"), AT_ONCE)), run)
    assert [each.per_s for each in given] == [written]


def test_clients_are_served_before_anything_happens_and_when_it_is_over(stage: Stage, run: Any) -> None:
    """Each of three partitions has an offset first, and some a second and a third one in the end."""
    carry_out(_schedule(Happening(1, Pause(node("broker-1")), Begin("HYBRID"), AT_ONCE)), run)
    assert run.served == [(3, 0, 0), (6, 1, 1)]


def test_a_happening_ends_when_it_was_seen_to_bite(stage: Stage, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However soon its writes are made; without a witness it ends in its own time."""
    asked: list[int] = []

    def is_witnessed(_: Injection) -> bool:
        asked.append(len(stage.of(EventKind.FAULT_HEALED)))
        return len(asked) > 3

    monkeypatch.setattr(Injection, "is_witnessed", property(is_witnessed))
    carry_out(_schedule(Happening(1, Pause(node("broker-1")), Begin("HYBRID"), AT_ONCE)), run)
    assert asked == [0, 0, 0, 0]
    monkeypatch.setattr(Injection, "is_witnessed", property(lambda _: False))
    carry_out(_schedule(Happening(1, Pause(node("broker-1")), Begin("HYBRID"), Release(0, 0.1))), run)
    assert len(stage.of(EventKind.FAULT_HEALED)) == 2


def test_what_is_across_stays_in_force_while_the_walk_goes_on(stage: Stage, run: Any) -> None:
    """A step is taken under it, and then it ends."""
    pause = Pause(node("broker-1"))
    carry_out(_schedule(Happening(1, pause, Begin("HYBRID"), Release(0, 60, across=True))), run)
    assert run.done[1] == f"walk to ALL_KRAFT, {pause} in force"
    assert _in_force(stage) == []


def test_a_happening_at_a_crash_point_begins_on_the_way(stage: Stage, run: Any) -> None:
    """The walk goes on when the rule is in the nodes, and what is held there is hit; then the schedule is over."""
    pause = Pause(node("broker-1"))
    done = run.driver.advance_to

    def advance_to(state: str) -> None:
        assert stage.cluster.armed == {"late-config"}
        done(state)
        stage.cluster.held["late-config"] = "controller-3000"
        until(lambda: stage.of(EventKind.FAULT_BEGAN), awaited="the fault in force", within_s=10)

    run.driver.advance_to = advance_to
    carry_out(_schedule(Happening(1, pause, Begin("HYBRID", at="late-config"), Release(0, 60))), run)
    assert run.done[1] == "walk to ALL_KRAFT, nothing in force"
    assert stage.of(EventKind.FAULT_WITNESSED)
    assert _in_force(stage) == []


def test_a_crash_point_that_no_node_comes_to_costs_no_wait(stage: Stage, run: Any) -> None:
    """When the walk has come to the next state it is left out, without a witness."""
    carry_out(_schedule(Happening(1, Pause(node("broker-1")), Begin("HYBRID", at="late-config"))), run)
    assert not stage.of(EventKind.FAULT_BEGAN)
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


def test_a_happening_waits_for_another(stage: Stage, run: Any) -> None:
    """Until that one was witnessed, or is healed."""
    first = Happening(1, Pause(node("broker-1")), Begin("HYBRID"), AT_ONCE)
    second = Happening(2, Kill(node("broker-2")), Begin("HYBRID", of=1, when="healed"), AT_ONCE)
    carry_out(_schedule(second, first), run)
    kinds = [event.kind for event in stage.recorder.events if event.kind.value.startswith("fault")]
    assert kinds[:4] == [
        EventKind.FAULT_BEGAN,
        EventKind.FAULT_APPLIED,
        EventKind.FAULT_WITNESSED,
        EventKind.FAULT_HEALED,
    ]


def test_what_cannot_begin_costs_its_own_time_only(stage: Stage, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left out without a witness, and the walk goes on."""
    monkeypatch.setattr(carrying_out, "_BEGUN_WITHIN_S", 0)
    stage.view.controller = None
    carry_out(_schedule(Happening(1, Kill(active_controller()), Begin("HYBRID"), Release(0, 0.1))), run)
    assert run.done[1].startswith("walk to ALL_KRAFT")
    assert stage.of(EventKind.FAULT_NOT_WITNESSED)


def test_what_was_left_out_is_waited_for_once(stage: Stage, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the walk it is over, as what was healed is."""
    waited: list[float] = []
    monkeypatch.setattr(carrying_out, "_BEGUN_WITHIN_S", 0)
    begun = Injection.await_begun
    monkeypatch.setattr(
        Injection, "await_begun", lambda each, within_s: (waited.append(within_s), begun(each, within_s))
    )
    stage.view.controller = None
    carry_out(_schedule(Happening(1, Kill(active_controller()), Begin("HYBRID"), Release(0, 0.1))), run)
    assert waited == [0.1]


def test_a_node_is_started_when_nothing_keeps_it_from_starting(stage: Stage, run: Any) -> None:
    """A kill under a pause ends after the pause, whatever its own release is: its node may need what stands still."""
    pause = Happening(1, Pause(node("zookeeper-1")), Begin("HYBRID"), Release(100_000, 0.5))
    kill = Happening(2, Kill(node("broker-2")), Begin("HYBRID", of=1, when="begun"), AT_ONCE)
    carry_out(_schedule(pause, kill, walk=()), run)
    healed = [str(event.data["fault"]) for event in stage.of(EventKind.FAULT_HEALED)]
    assert healed == [str(pause.fault), str(kill.fault)]


def test_sides_are_compared_before_one_is_none_any_more(stage: Stage, run: Any) -> None:
    """After finalization ZooKeeper is written no more: changes end, and images are taken, before the last step."""
    kill = Happening(1, Pause(node("broker-1")), Begin("HYBRID"), AT_ONCE)
    asked = carry_out(_schedule(kill, walk=("ALL_KRAFT", "FINALIZED"), changes_per_s=2), run)
    order = [each.partition("[")[0].partition(",")[0] for each in run.done]
    assert order == ["traffic", "change", "walk to ALL_KRAFT", "stop", "settle", "walk to FINALIZED"]
    names = [check.name for check in asked]
    assert names.count("metadata_equivalent") == 2
    assert names.count("acknowledged_metadata_changes_present") == 2
    assert "phase_reached" in names


@pytest.mark.parametrize(("there", "compared"), [(["log", "brokers"], 1), (["brokers"], 0)])
def test_where_nothing_moves_the_metadata_what_was_acknowledged_is_looked_for(
    stage: Stage, run: Any, there: list[str], compared: int
) -> None:
    """In a document without states, in the log and in brokers; a cluster without a quorum has one side alone."""
    run.metadata.visible = lambda sides: [each for each in sides if each in there]
    happening = Happening(1, Pause(node("broker-1")), Begin(), AT_ONCE)
    asked = carry_out(Schedule("kip-500", "kraft-broker3-controller3-quick", (happening,), changes_per_s=2), run)
    done = [each.partition("[")[0].partition(",")[0] for each in run.done]
    assert done == ["traffic", "change", "stop", *["settle"] * compared]
    arguments = [dict(each.arguments) for each in asked if each.name == "metadata_equivalent"]
    assert arguments == [{"left": "after-log", "right": "after-brokers"}] * compared
    names = [each.name for each in asked]
    assert names.count("acknowledged_metadata_changes_present") == compared


def test_the_bound_of_clients_grows_with_what_happens(stage: Stage, run: Any) -> None:
    """Three faults after each other keep clients waiting longer than one."""
    happening = Happening(1, Pause(node("broker-1")), Begin("HYBRID"), Release(0, 30))
    asked = {check.name: dict(check.arguments) for check in carry_out(_schedule(happening), run)}
    assert asked["longest_time_without_acked_write"] == {"at_most_s": 90}


def test_a_run_that_goes_without_images_compares_nothing(stage: Stage, run: Any) -> None:
    """A shrink that looks for what clients see asks for nothing else; changes go on as long as ever."""
    run.without = frozenset({IMAGES})
    kill = Happening(1, Pause(node("broker-1")), Begin("HYBRID"), AT_ONCE)
    asked = carry_out(_schedule(kill, walk=("ALL_KRAFT", "FINALIZED"), changes_per_s=2), run)
    order = [each.partition("[")[0].partition(",")[0] for each in run.done]
    assert order == ["traffic", "change", "walk to ALL_KRAFT", "stop", "walk to FINALIZED"]
    names = {check.name for check in asked}
    assert "no_acked_record_lost" in names
    assert "metadata_equivalent" not in names
