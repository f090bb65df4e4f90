"""The command line of a node's JVM, and the files that it names."""

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.provider import Mutant
from pytest_kmigrate.providers.owned.jvm import Jvm
from tests.unit.fakes import topology


def test_rules_by_a_relative_path_reach_a_node_that_runs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``--kmigrate-byteman my,rules.btm`` names them: Byteman would split its options at the comma."""
    monkeypatch.chdir(tmp_path)
    rules, hosts = Path("my,rules.btm"), tmp_path / "hosts"
    rules.write_text("RULE x")
    hosts.write_text("127.7.0.2 broker-0\n")
    jvm = Jvm(Path("java"), Path("jolokia.jar"), Path("byteman.jar"), rules, tmp_path / "etc")
    jvm.write_files()
    distribution = cast("Distribution", SimpleNamespace(cds_archive=None, classpath="", image=None))
    command = jvm.node_command(topology().node("broker-0"), distribution, hosts, tmp_path / "properties")

    agent = next(word for word in command.argv if word.startswith("-javaagent:byteman.jar=script:"))
    script = Path(agent.removeprefix("-javaagent:byteman.jar=script:").partition(",")[0])
    assert script.is_absolute()
    assert script.read_text() == "RULE x"


def test_no_node_logs_the_records_that_it_copies(tmp_path: Path) -> None:
    """Kafka 3.5 writes SCRAM credentials at TRACE; a run folder goes to other people."""
    Jvm(Path("java"), Path("jolokia.jar"), Path("byteman.jar"), None, tmp_path).write_files()
    assert not [file for file in tmp_path.iterdir() if "trace" in file.read_text().lower()]


def test_what_records_executed_code_sees_class_files_before_other_agents_change_them(tmp_path: Path) -> None:
    """A class file that Byteman has changed has another sum, by which its lines are not found."""
    hosts = tmp_path / "hosts"
    hosts.write_text("127.7.0.2 broker-0\n127.7.0.3 zookeeper-1\n")
    watching = {"jacoco": Path("jacoco.jar"), "watched": ("kafka.zk.*", "org.apache.kafka.raft.*")}
    jvm = Jvm(Path("java"), Path("jolokia.jar"), Path("byteman.jar"), Path("rules"), tmp_path, **watching)
    distribution = cast("Distribution", SimpleNamespace(cds_archive=None, classpath="", image=None))
    broker, zookeeper = (
        jvm.node_command(topology().node(name), distribution, hosts, tmp_path / "properties").argv
        for name in ("broker-0", "zookeeper-1")
    )
    agents = [word for word in broker if word.startswith("-javaagent:")]
    expected = "-javaagent:jacoco.jar=output=none,jmx=true,includes=kafka.zk.*:org.apache.kafka.raft.*"
    assert agents[0] == expected
    assert len(agents) == 3
    assert not [word for word in zookeeper if "jacoco" in word]


def test_a_changed_class_goes_with_the_files_of_the_cluster_to_every_node_of_kafka(tmp_path: Path) -> None:
    """A node in a container sees only these; ZooKeeper has none of Kafka's classes."""
    hosts, file = tmp_path / "hosts", tmp_path / "elsewhere" / "mutant.class"
    hosts.write_text("127.7.0.2 broker-0\n127.7.0.3 zookeeper-1\n")
    file.parent.mkdir()
    file.write_bytes(b"changed")
    mutant = Mutant("m", "org.acme.A$B", file)
    jvm = Jvm(Path("java"), Path("j"), Path("b"), None, tmp_path / "etc", planter=Path("planter.jar"), mutant=mutant)
    jvm.write_files()
    distribution = cast("Distribution", SimpleNamespace(cds_archive=None, classpath="", image=None))
    broker, zookeeper = (
        jvm.node_command(topology().node(name), distribution, hosts, tmp_path / "properties").argv
        for name in ("broker-0", "zookeeper-1")
    )
    (agent,) = (word for word in broker if "planter.jar" in word)
    name, _, place = agent.removeprefix("-javaagent:planter.jar=").partition(",")
    assert (name, Path(place).read_bytes()) == ("org.acme.A$B", b"changed")
    assert Path(place).is_relative_to(tmp_path / "etc")
    assert not [word for word in zookeeper if "planter" in word]


def test_a_node_of_another_release_has_no_mutant(tmp_path: Path) -> None:
    """Its class is another one: the changed file of this release would only keep it from starting."""
    mine, other, lacking = (tmp_path / f"{name}.jar" for name in ("mine", "other", "lacking"))
    for jar, content in ((mine, {"org/acme/A.class": b"1"}), (other, {"org/acme/A.class": b"2"}), (lacking, {})):
        with zipfile.ZipFile(jar, "w") as archive:
            for name, each in content.items():
                archive.writestr(name, each)
    mutant = Mutant("m", "org.acme.A", tmp_path / "mutant.class", hashlib.sha256(b"1").hexdigest())
    jvm = Jvm(Path("java"), Path("j"), Path("b"), None, tmp_path / "etc", planter=Path("p.jar"), mutant=mutant)
    broker = topology().node("broker-0")
    planted = {jar.stem: jvm.mutant_of(broker, Distribution("3.9.1", (lacking, jar), "d")) for jar in (mine, other)}
    assert planted == {"mine": mutant, "other": None}
    unsure = replace(jvm, mutant=replace(mutant, original=None))
    assert unsure.mutant_of(broker, Distribution("3.9.1", (other,), "d")) is not None
