"""Facts about formatting KRaft disks."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kmigrate.providers.owned.disks import storage


def test_a_cluster_id_that_begins_with_a_dash_is_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 64 does; Kafka's storage tool takes the next word after an option for another option."""
    reported: list[Sequence[str]] = []
    monkeypatch.setattr(storage, "run_tool", lambda _jvm, _node, _tool, arguments, _what: reported.append(arguments))
    node: Any = SimpleNamespace(name="controller-3000", write_properties=lambda: "server.properties")
    jvm: Any = None
    storage.format_disks([node], jvm, "-bcdefghijklmnopqrstuv", ["--release-version", "3.9"])

    assert reported == [
        ["format", "--cluster-id=-bcdefghijklmnopqrstuv", "--release-version", "3.9", "--config", "server.properties"]
    ]
