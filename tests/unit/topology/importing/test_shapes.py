"""Shapes of clusters as public projects write them down: each becomes the topology that stands beside it.

The files in ``shapes`` are our own words in the shapes of Strimzi's examples, cp-ansible's sample inventories, compose
files of Confluent, Apache and Bitnami, and properties files of Kafka's distribution. Each has its topology in
``expected``.
"""

from functools import cache
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology import loading
from pytest_kmigrate.topology.importing.draft import Wish
from pytest_kmigrate.topology.importing.importer import Imported, imported

SHAPES = Path(__file__).parent / "shapes"
EXPECTED = Path(__file__).parent / "expected"
SECRET = "not-in-a-topology"
"""What every secret of the shapes is."""


@cache
def of_shape(name: str) -> Imported:
    """The topology of a shape."""
    return imported([SHAPES / name], Wish("imported"))


def shapes() -> list[str]:
    """The names of the shapes that are one cluster."""
    return sorted(path.name for path in SHAPES.iterdir() if path.name != "compose-two-clusters.yml")


def keys(found: Imported, state: str) -> dict[str, set[str]]:
    """What became of each setting: its key, and all that is said of it."""
    rows = {
        "taken": [(each.origin.key, each.key) for each in found.taken],
        "left": [(each.origin.key, each.why) for each in found.left],
        "assumed": [(each.key, each.why) for each in found.assumed],
    }[state]
    by_key: dict[str, set[str]] = {}
    for key, text in rows:
        by_key.setdefault(key, set()).add(text)
    return by_key


@pytest.mark.parametrize("name", shapes())
def test_a_shape_becomes_its_topology(name: str, tmp_path: Path) -> None:
    """To the letter, with what is assumed and what is left; and the loader of topology files takes it."""
    found = of_shape(name)
    assert found.text == (EXPECTED / f"{name}.toml").read_text(encoding="utf-8")
    (tmp_path / "imported.toml").write_text(found.text, encoding="utf-8")
    assert loading.load(tmp_path / "imported.toml").nodes


@pytest.mark.parametrize("name", shapes())
def test_no_secret_is_in_a_topology_or_its_table(name: str) -> None:
    """Neither in the file nor in the rows that the command prints."""
    found = of_shape(name)
    rows = (keys(found, state) for state in ("taken", "left", "assumed"))
    assert SECRET not in found.text
    assert SECRET not in str(list(rows))


def test_every_setting_of_a_properties_file_is_accounted_for() -> None:
    """Each name is among those taken over or those left, with a reason."""
    found = of_shape("zookeeper-mode")
    text = (SHAPES / "zookeeper-mode" / "broker-1.properties").read_text(encoding="utf-8")
    names = {line.partition("=")[0] for line in text.split("\n") if "=" in line and not line.startswith((" ", "#"))}
    assert names - set(keys(found, "taken")) - set(keys(found, "left")) == set()
    assert keys(found, "left")["ssl.keystore.password"] == {"secret"}
    assert keys(found, "left")["listener.name.inside.scram-sha-512.sasl.jaas.config"] == {"secret"}


def test_disks_are_left_where_a_migration_cannot_take_them_along() -> None:
    """A release before 3.7 refuses to migrate brokers with several log directories."""
    assert 'kafka = "3.6.1"' in of_shape("strimzi-zookeeper-jbod.yaml").text
    left = keys(of_shape("strimzi-zookeeper-jbod.yaml"), "left")
    assert left["spec.kafka.storage"] == {"Kafka takes several disks along in a migration from 3.7 on"}
    assert "log_dirs = 2" in of_shape("strimzi-kraft-jbod.yaml").text


def test_settings_that_would_make_verdicts_false_are_left() -> None:
    """Records that Kafka may lose by its configuration would be blamed on it."""
    left = keys(of_shape("kraft-mode"), "left")
    assert left["unclean.leader.election.enable"] == {"records may be lost by it, and verdicts expect none to be lost"}
    zookeeper = keys(of_shape("compose-confluent-zookeeper.yml"), "left")
    assert "deleted" in zookeeper["KAFKA_AUTO_CREATE_TOPICS_ENABLE"].pop()


def test_a_replication_factor_above_the_count_of_brokers_is_left_with_the_reason_of_the_loader() -> None:
    """The rules of topology files decide, so an imported file never breaks them."""
    found = of_shape("generated-ids")
    assert "default.replication.factor" not in found.text.partition("# Not taken over")[0]
    assert keys(found, "left")["default.replication.factor"] == {'expected at most 2, the count of brokers, got "3"'}


def test_logins_of_other_mechanisms_are_named() -> None:
    """The protocol is taken over, the mechanism is the one that is offered."""
    assert keys(of_shape("kraft-mode"), "left")["sasl.enabled.mechanisms"] == {
        "OAUTHBEARER: logins at brokers are by SCRAM-SHA-512 here"
    }


def test_two_clusters_in_one_file_are_refused() -> None:
    """The error names both places."""
    with pytest.raises(TopologyError) as raised:
        of_shape("compose-two-clusters.yml")
    (problem,) = raised.value.problems
    assert problem.startswith("services.b.environment.KAFKA_ZOOKEEPER_CONNECT: expected nodes of one cluster")
    assert "services.a.environment.KAFKA_ZOOKEEPER_CONNECT" in problem


def test_what_the_user_says_wins() -> None:
    """A release and a number of controllers."""
    found = imported([SHAPES / "zookeeper-mode"], Wish("mine", kafka="3.8.1", controllers=1))
    assert 'name = "mine"' in found.text
    assert 'kafka = "3.8.1"' in found.text
    assert "[controller]\ncount = 1\n" in found.text
    without = imported([SHAPES / "zookeeper-mode"], Wish("mine", controllers=0))
    assert "[controller]" not in without.text
