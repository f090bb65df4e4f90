"""Providers by name."""

from pathlib import Path
from unittest.mock import MagicMock

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Instruments
from pytest_kmigrate.model.provider_names import PROVIDERS
from pytest_kmigrate.providers.bench import MemoryRecorder, small_topology
from pytest_kmigrate.providers.choosing import provider_named, topology_named
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.providers.owned import software
from pytest_kmigrate.topology.loading import find, load
from tests.unit.providers.attach.files import written


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_is_called_what_it_was_chosen_by(name: str, tmp_path: Path) -> None:
    """``run.json`` and the report name it so."""
    assert provider_named(name, print, str(written(tmp_path))).name == name


def test_a_cluster_that_stands_runs_what_it_runs(tmp_path: Path) -> None:
    """Its file describes the topology; another Kafka cannot be put under it."""
    file = str(written(tmp_path))
    provider = provider_named("attach", print, file)
    assert topology_named(provider, print, file, None).name == "staging"
    with pytest.raises(WrongUseError, match=r"--kmigrate-kafka: expected none, as the cluster of .* got 3\.8\.1"):
        topology_named(provider, print, file, "3.8.1")


def test_what_nodes_are_rolled_to_is_part_of_the_software(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node of an upgrade begins with another release; a run has the digest of the Kafka under test, too."""
    for agent in ("find_java", "jolokia_jar", "byteman_jar", "toxiproxy_server"):
        monkeypatch.setattr(software, agent, MagicMock())
    begun = load(find("kraft-broker3-controller3-upgrade"))
    brought = software.software_for(begun, print, lambda kafka, _: MagicMock(version=kafka))
    assert brought.artifacts.keys() == FakeProvider().artifacts(begun).keys() == {"3.8.1", "3.9.1"}


@pytest.mark.parametrize("name", ["fake", "podman", ""])
def test_the_fake_provider_cannot_be_chosen(name: str) -> None:
    """A verdict about clusters in memory would look like one about Kafka."""
    with pytest.raises(WrongUseError, match=f"provider: expected one of process, docker, attach; got '{name}'"):
        provider_named(name, print)


def test_the_fake_provider_refuses_rules(tmp_path: Path) -> None:
    """A run against a mutant would conform, since no code runs in its nodes."""
    rules = Instruments(tmp_path / "mutant.btm")
    provision = FakeProvider().provision(small_topology(), MemoryRecorder(), tmp_path, instruments=rules)
    with pytest.raises(WrongUseError, match=r"expected no Byteman rules and no mutant.*mutant\.btm"), provision:
        pass
