"""Crash points as seen without a JVM: what becomes of their rules when the block is left."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.documents.kip_866.crash_points import LONG_COPY
from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.owned.agents import attaching
from pytest_kmigrate.providers.owned.agents.crash_points import delayed, held
from pytest_kmigrate.providers.owned.node import OwnedNode


class Taking:
    """A live node that takes Byteman, unless it stands still."""

    spec = SimpleNamespace(role=Role.CONTROLLER)
    pid = 1
    alive = True
    stands_still = False

    def __init__(self, name: str) -> None:
        self.name = self.address = name

    def load_byteman(self, _agent: Path) -> None:
        """As a JVM that stands still does: it does not answer."""
        if self.stands_still:
            raise TimeoutError


@pytest.fixture
def nodes() -> list[OwnedNode]:
    """Two live nodes, that take Byteman."""
    return cast("list[OwnedNode]", [Taking(name) for name in "ab"])


def test_a_node_that_takes_no_rule_back_hides_no_error(
    nodes: list[OwnedNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs, or just died: the error that came first comes out, and the other node's rule is taken back."""
    asked: list[str] = []

    def refuse(address: str, _rule: str) -> None:
        asked.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(attaching, "submit", lambda _address, _rule: None)
    monkeypatch.setattr(attaching, "withdraw", refuse)
    with pytest.raises(AwaitTimeoutError), held(LONG_COPY, nodes, tmp_path, tmp_path):
        raise AwaitTimeoutError("phase HYBRID", 120, "phase COPYING")
    assert asked == ["a", "b"]
    assert not list(tmp_path.glob("*.armed"))


def test_a_delay_ends_in_a_node_that_takes_no_rule_back(
    nodes: list[OwnedNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a paused one, when it goes on: the rule asks for a file that is gone. No error hides another."""
    laid: list[str] = []

    def refuse(_address: str, _rule: str) -> None:
        raise TimeoutError

    monkeypatch.setattr(attaching, "submit", lambda _address, rule: laid.append(rule))
    monkeypatch.setattr(attaching, "withdraw", refuse)
    with delayed(nodes, 300, tmp_path, tmp_path):
        (armed,) = tmp_path.glob("*.armed")
        assert all(f'new java.io.File("{armed}")' in rule and "IF armed.exists()" in rule for rule in laid)
    assert not armed.exists()
    assert len(laid) == len(nodes)


def test_a_node_that_stands_still_takes_no_rule(
    nodes: list[OwnedNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run would wait for its answer, and end by that; the others have theirs."""
    laid: list[str] = []
    monkeypatch.setattr(attaching, "submit", lambda address, _rule: laid.append(address))
    monkeypatch.setattr(attaching, "withdraw", lambda _address, _rule: None)
    monkeypatch.setattr(nodes[0], "stands_still", True)
    with held(LONG_COPY, nodes, tmp_path, tmp_path), delayed(nodes, 300, tmp_path, tmp_path):
        assert laid == ["b", "b"]


def test_a_rule_has_the_condition_of_its_point(
    nodes: list[OwnedNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not meet it passes by, and leaves the point armed."""
    laid: list[str] = []
    monkeypatch.setattr(attaching, "submit", lambda _address, rule: laid.append(rule))
    monkeypatch.setattr(attaching, "withdraw", lambda _address, _rule: None)
    with held(replace(LONG_COPY, condition="$1 > 2"), nodes, tmp_path, tmp_path):
        assert ["IF ($1 > 2) AND armed.delete()" in rule for rule in laid] == [True, True]
