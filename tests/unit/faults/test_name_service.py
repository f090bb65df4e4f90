"""Facts about a name service that knows no other node: what shows it, and that it knows them again."""

import pytest

from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.name_service import Misname
from pytest_kmigrate.faults.targets import Target, node
from pytest_kmigrate.model.event import EventKind
from tests.unit.fakes import Stage

SAYS = "Error connecting to node controller-3000\njava.net.UnknownHostException: controller-3000\n"
BOTH = Target("both", lambda _: ("broker-0", "broker-1"))


def _say(stage: Stage, name: str) -> None:
    log = stage.cluster.node(name).log
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as opened:
        opened.write(SAYS)


def witnessed(stage: Stage) -> list[str]:
    """The sentences of all witnesses."""
    return [str(event.data["witness"]) for event in stage.of(EventKind.FAULT_WITNESSED)]


@pytest.mark.parametrize("says", [True, False])
def test_a_node_finds_no_name_until_it_is_healed(stage: Stage, *, says: bool) -> None:
    """What it said before is no witness."""
    broker = stage.cluster.node("broker-1")
    _say(stage, "broker-1")
    with inject(stage.scene, Misname(node("broker-1"))):
        assert not broker.finds_others
        if says:
            _say(stage, "broker-1")
    assert broker.finds_others
    assert witnessed(stage) == (["broker-1 did not find a name"] if says else [])


@pytest.mark.parametrize(("saying", "is_seen"), [(("broker-0", "broker-1"), True), (("broker-1",), False)])
def test_each_node_meant_has_to_say_so(stage: Stage, saying: tuple[str, ...], *, is_seen: bool) -> None:
    """One that never looked for a name was not disturbed."""
    for each in ("broker-0", "broker-1"):
        stage.cluster.node(each).log.parent.mkdir(parents=True, exist_ok=True)
        stage.cluster.node(each).log.touch()
    with inject(stage.scene, Misname(BOTH)):
        for each in saying:
            _say(stage, each)
    assert bool(witnessed(stage)) == is_seen


def test_its_connections_end_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that it has dialled, and no others; they are not disturbed any more while the fault lasts."""
    disturbed = []
    links = stage.cluster.links
    original = links.disturb
    monkeypatch.setattr(
        links, "disturb", lambda given, how: (disturbed.append((list(given), how.kind)), original(given, how))[1]
    )
    _say(stage, "broker-1")
    with inject(stage.scene, Misname(node("broker-1"))):
        ((given, kind),) = disturbed
    assert kind == "refuse"
    assert given
    assert {each.source for each in given} == {"broker-1"}
