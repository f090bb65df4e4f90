"""Crash points as seen without a JVM: what becomes of their rules when the block is left."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.documents.kip_866.crash_points import LONG_COPY
from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.providers.owned.agents import attaching
from pytest_kmigrate.providers.owned.agents.crash_points import held
from pytest_kmigrate.providers.owned.node import OwnedNode


@pytest.fixture
def nodes() -> list[OwnedNode]:
    """Two live nodes, that take Byteman."""
    made = [SimpleNamespace(name=name, address=name, pid=1, alive=True, load_byteman=lambda _: None) for name in "ab"]
    return cast("list[OwnedNode]", made)


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


def test_a_rule_has_the_condition_of_its_point(
    nodes: list[OwnedNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not meet it passes by, and leaves the point armed."""
    laid: list[str] = []
    monkeypatch.setattr(attaching, "submit", lambda _address, rule: laid.append(rule))
    monkeypatch.setattr(attaching, "withdraw", lambda _address, _rule: None)
    with held(replace(LONG_COPY, condition="$1 > 2"), nodes, tmp_path, tmp_path):
        assert ["IF ($1 > 2) AND armed.delete()" in rule for rule in laid] == [True, True]
