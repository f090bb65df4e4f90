"""What is on disk for agents that record or change Kafka's code."""

import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Instruments, Mutant
from pytest_kmigrate.providers.owned import software
from pytest_kmigrate.providers.owned.software import Software, instrumented

NOWHERE = Path("/nowhere")


@pytest.fixture
def acme(tmp_path: Path) -> Software:
    """A Kafka whose packages have other names."""
    jar = tmp_path / "acme.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("com/acme/kafka/raft/RaftManager.class", b"")
    distributions = {"./acme": Distribution("3.9.1", (jar,), "digest")}
    return Software(NOWHERE, distributions, lambda _: distributions["./acme"], NOWHERE, NOWHERE, NOWHERE)


@pytest.fixture(autouse=True)
def agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a download, and without a compiler."""
    monkeypatch.setattr(software, "jacoco_jar", lambda _: Path("jacoco.jar"))
    monkeypatch.setattr(software, "agent_jar", lambda name, _: Path(f"{name}.jar"))


def test_classes_of_other_packages_are_wrong_use(acme: Software) -> None:
    """Otherwise a night would record nothing. The error names the option for such a Kafka."""
    with pytest.raises(WrongUseError, match=r"expected classes kafka\.raft\.\* in the jars of \./acme, got none"):
        instrumented(acme, Instruments(watched=("kafka.raft.*",)), print)


def test_a_mutant_of_a_class_that_a_release_lacks_is_wrong_use(acme: Software) -> None:
    """No node would load it, and every run would be undecided."""
    mutant = Mutant("Raft.12.Math.3", "kafka.raft.KafkaRaftManager", NOWHERE)
    sentence = r"expected kafka\.raft\.KafkaRaftManager, which Raft\.12\.Math\.3 changes, .* \./acme, got no such class"
    with pytest.raises(WrongUseError, match=sentence):
        instrumented(acme, Instruments(mutant=mutant), print)


def test_agents_are_had_only_where_they_are_asked_for(acme: Software) -> None:
    """JaCoCo's is downloaded, and the other needs a JDK."""
    watched = instrumented(acme, Instruments(watched=("kafka.raft.*", "com.acme.kafka.*")), print)
    assert (watched.jacoco, watched.planter) == (Path("jacoco.jar"), None)
    planted = instrumented(acme, Instruments(mutant=Mutant("m", "com.acme.kafka.raft.RaftManager", NOWHERE)), print)
    assert (planted.jacoco, planted.planter) == (None, Path("MutantPlanter.jar"))
    assert instrumented(acme, Instruments(), print) == acme
