"""What a run says of itself before it begins."""

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_kmigrate.model.checkpoint import Frozen, Start
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.provider import Artifact
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.recording.sources import harness_digest
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint, Content, Key
from pytest_kmigrate.running.header import Claim, RunSettings, _reproduce, header_of, new_folder
from tests.unit.fakes import topology

CLAIM = Claim("t.py::test_it")


def again(settings: RunSettings, shape: Topology, word: str = "t.py::test_it", **facts: str) -> str:
    """The command that runs a test again, by a provider of a cluster that reports these facts of itself."""
    provider = FakeProvider()
    provider.facts = facts
    return _reproduce(settings, provider, shape, [word], is_cold=False)


def test_the_command_that_does_it_again_names_everything_chosen(tmp_path: Path) -> None:
    """Distribution, seed and profile always; topology and rules when the command line chose them."""
    plain = again(RunSettings(tmp_path, seed=7), topology(kafka="3.9.1"))
    chosen = RunSettings(tmp_path, seed=7, topology="shape.toml", byteman=Path("rules.btm"))

    assert plain == "pytest t.py::test_it --kmigrate-kafka 3.9.1 --kmigrate-seed 7 --kmigrate-profile kip-866"
    assert again(chosen, topology()).endswith(" --kmigrate-topology shape.toml --kmigrate-byteman rules.btm")


def test_the_command_for_a_cluster_that_stands_names_its_provider(tmp_path: Path) -> None:
    """And no Kafka: it runs what it runs."""
    settings = RunSettings(tmp_path, seed=7, topology="attach.toml")
    chosen = "--kmigrate-provider fake --kmigrate-seed 7 --kmigrate-profile kip-866 --kmigrate-topology attach.toml"
    assert again(settings, topology(), bootstrap="b:1") == f"pytest t.py::test_it {chosen}"


def test_the_command_that_does_it_again_survives_a_shell(tmp_path: Path) -> None:
    """A path with a space, and a quote in the id of a test, come back as the words they were."""
    settings = RunSettings(tmp_path, seed=7, topology="my shapes/it's one.toml")
    words = shlex.split(again(settings, topology(kafka="/my builds/kafka"), word="t.py::test_it[it's]"))

    assert words[:4] == ["pytest", "t.py::test_it[it's]", "--kmigrate-kafka", "/my builds/kafka"]
    assert words[-2:] == ["--kmigrate-topology", "my shapes/it's one.toml"]


def test_a_run_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """In one sentence with its path and the option, and not as whatever the system said."""
    (tmp_path / "file").touch()
    header = header_of(RunSettings(tmp_path, seed=7), FakeProvider(), topology(), CLAIM)
    with pytest.raises(EnvironmentLackError, match=r"cannot be made: Not a directory; .* --kmigrate-runs"):
        new_folder(tmp_path / "file", header)


def test_the_header_names_the_commit_that_was_told(tmp_path: Path) -> None:
    """Reports say with which commit a change began; without one it is none."""
    reported = header_of(RunSettings(tmp_path, seed=7, commit="1a2b"), FakeProvider(), topology(), CLAIM)
    untold = header_of(RunSettings(tmp_path, seed=7), FakeProvider(), topology(), CLAIM)
    assert (reported.extra["commit"], untold.extra["commit"]) == ("1a2b", None)


def test_a_run_whose_nodes_all_chose_a_release_is_of_the_one_the_topology_names(tmp_path: Path) -> None:
    """Nobody runs it, so it was not fetched, and cannot be asked what it is."""
    shape = replace(topology(kafka="3.8.1"), kafka="3.9.1")
    header = header_of(RunSettings(tmp_path, seed=7), FakeProvider(), shape, CLAIM)
    assert header.kafka == "3.9.1"


def test_a_build_of_somebody_is_told_apart_from_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name and digest, behind the version that its jars have; reports compare the two."""
    artifact = Artifact("3.9.1", "0a1b2c3d4e", "acme.0a1b2c3d")
    monkeypatch.setattr(FakeProvider, "artifacts", lambda *_: {"/opt/acme": artifact})
    header = header_of(RunSettings(tmp_path, seed=7), FakeProvider(), topology(kafka="/opt/acme"), CLAIM)
    assert header.kafka == "3.9.1+acme.0a1b2c3d"


def test_the_header_names_the_sources_of_test_and_harness(tmp_path: Path) -> None:
    """With these a later invocation recognizes the run as its own."""
    header = header_of(RunSettings(tmp_path, seed=7), FakeProvider(), topology(), Claim("t::t", (), "s1"))
    assert (header.extra["source_digest"], header.extra["harness_digest"]) == ("s1", harness_digest())


def test_a_run_that_could_have_begun_from_a_checkpoint_says_from_which(tmp_path: Path) -> None:
    """And where it did not, the command that does it again does not either."""
    settings, started = RunSettings(tmp_path, seed=7), replace(CLAIM, starts_at=Start("HYBRID"))
    key = Key("fake", {}, "shape", "kip-866", "HYBRID", (), "ours")
    checkpoint = Checkpoint(key, Content(Frozen({}, 474, 1138), datetime(2026, 11, 26, tzinfo=UTC)), tmp_path)
    cold = header_of(settings, FakeProvider(), topology(), started)
    warm = header_of(settings, FakeProvider(), topology(), started, checkpoint)
    always_cold = header_of(settings, FakeProvider(), topology(), CLAIM)
    assert [each.extra["checkpoint"] for each in (cold, warm, always_cold)] == [None, checkpoint.identity, None]
    reproduced = [str(each.extra["reproduce"]).endswith(" --kmigrate-cold") for each in (cold, warm, always_cold)]
    assert reproduced == [True, False, False]
    assert [each.inherited_offset for each in (cold, warm)] == [-1, 474]
