"""The keeper of a cluster: orders that are carried out one after the other, and errors that reach who asked."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.documents import document
from pytest_kmigrate.model.errors import HarnessLostError, KmigrateError, WrongUseError
from pytest_kmigrate.running.keeping import Keeper, Notify, order, relay
from pytest_kmigrate.running.standing_up import Goal, Walker
from pytest_kmigrate.topology.loading import find, load
from tests.unit.fakes import Stage

_ENDED_WITHIN_S = 30


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Path]:
    """A keeper that obeys every order but one, in a folder with a name longer than a socket's may be."""
    folder = tmp_path / ("long-" * 30)
    folder.mkdir()
    keeper = Keeper(folder / "keeper")

    def obey(asked: dict[str, Any], notify: Notify) -> None:
        notify(f"walking to {asked['phase']}")
        if asked["phase"] == "NOWHERE":
            raise WrongUseError("expected another phase")

    thread = threading.Thread(target=keeper.serve, args=(obey,))
    thread.start()
    yield folder / "keeper"
    keeper.close()
    thread.join(_ENDED_WITHIN_S)
    assert not thread.is_alive()
    assert not (folder / "keeper").exists()


def test_an_order_reports_and_ends(kept: Path) -> None:
    """One after the other; the file is for this user alone."""
    said: list[str] = []
    order(kept, {"phase": "HYBRID"}, said.append)
    order(kept, {"phase": "ALL_KRAFT"}, said.append)
    assert said == ["walking to HYBRID", "walking to ALL_KRAFT"]
    assert kept.stat().st_mode & 0o077 == 0


def test_an_error_is_that_of_who_asked(kept: Path) -> None:
    """With its exit status; the keeper goes on."""
    with pytest.raises(KmigrateError, match="expected another phase") as raised:
        order(kept, {"phase": "NOWHERE"}, print)
    assert raised.value.exit_status == WrongUseError.exit_status
    order(kept, {"phase": "HYBRID"}, print)


def test_a_keeper_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    """Before an order, and in the midst of one."""
    with pytest.raises(HarnessLostError, match="expected the keeper of this cluster to answer"):
        order(tmp_path / "keeper", {"phase": "HYBRID"}, print)
    with pytest.raises(HarnessLostError, match="the keeper of this cluster has ended"):
        relay(['{"line": "broker-0 stopped"}'], print)


def test_goals_lead_on_and_back() -> None:
    """What comes next is named; where the procedure begins is a goal if a way leads there."""
    of = document("kip-866")
    assert Goal(of, "").next_values[0] == Goal(of, "ZOOKEEPER").next_values[0] == "PREPARING"
    assert Goal(of, "ALL_KRAFT").next_values == ["FINALIZED"]
    assert Goal(of, "ZOOKEEPER").is_back
    assert not Goal(document("kip-778"), "ZOOKEEPER").is_back
    Goal(of, "ZOOKEEPER").check(load(find("zk1-broker3-controller1")))


def test_a_goal_that_lies_behind_names_the_way_back(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leads to where the procedure began, and no nearer."""
    walker = Walker(document("kip-866"), stage.scene, load(find("zk1-broker3-controller1")))
    driver = walker._driver

    def refuses(_value: str) -> None:
        raise WrongUseError("the way leads forward only")

    monkeypatch.setattr(driver, "advance_to", refuses)
    with pytest.raises(WrongUseError, match="forward only; --phase ZOOKEEPER goes back to where it began"):
        walker.walk_to(Goal(walker.document, "PREPARING"))
