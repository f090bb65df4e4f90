"""Topology files: finding, loading, what is shipped, and the editors' schema."""

import json
import re
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError, WrongUseError
from pytest_kmigrate.model.topology import BrokerMode, LinkSpec, Role, Security
from pytest_kmigrate.topology import loading as topology_file

HEAD = 'name = "x"\nkafka = "3.9.1"\n'
ZOOKEEPER = "[zookeeper]\ncount = 1\n"
BROKER = "[broker]\ncount = 3\n"


def test_bytes_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    """A file in another encoding is refused with the line of the first wrong byte."""
    file = tmp_path / "shape.toml"
    file.write_bytes(b'name = "x"\npurpose = "\xe9"\n')
    with pytest.raises(TopologyError, match="line 2: expected UTF-8 text"):
        topology_file.load(file)


def test_a_missing_file_names_what_was_probably_meant(tmp_path: Path) -> None:
    """The nearest shipped name; all of them only for a bare name that is near to none; none for a path."""
    meant = (
        'zk1-broker3-controler3: expected a topology file, got nothing there; did you mean "zk1-broker3-controller3"?'
    )
    with pytest.raises(TopologyError, match=f"{re.escape(meant)}$"):
        topology_file.find("zk1-broker3-controler3")
    with pytest.raises(
        TopologyError, match=f"nothing there; shipped topologies: {', '.join(topology_file.shipped())}$"
    ):
        topology_file.find("mine")
    with pytest.raises(TopologyError, match=r"expected a topology file, got nothing there$"):
        topology_file.find(tmp_path / "mine")
    with pytest.raises(TopologyError, match=r"expected a topology file, got a folder$"):
        topology_file.load(tmp_path)
    with pytest.raises(TopologyError, match=r"expected a topology file, got: File name too long$"):
        topology_file.find("a" * 5000)


def test_a_topology_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    """A shipped name works with and without its ending; an existing path is taken as it is."""
    own = tmp_path / "own.toml"
    own.write_text(HEAD + ZOOKEEPER + BROKER)
    name = "zk1-broker3-controller3"
    assert topology_file.find(name) == topology_file.find(f"{name}.toml") == topology_file.SHIPPED / f"{name}.toml"
    assert topology_file.find(own) == own


@pytest.mark.parametrize("name", topology_file.shipped())
def test_a_shipped_topology_loads(name: str) -> None:
    """Every shipped file loads, is named after its shape, says why, and points editors at the schema."""
    file = topology_file.find(name)
    topology = topology_file.load(file)
    assert topology.name == name
    assert topology.purpose.endswith(".")
    assert file.read_text().startswith("#:schema ./topology.schema.json\n")


def test_the_shapes_asked_for_are_shipped() -> None:
    """The shapes that the suites and the guide name are there."""
    assert set(topology_file.shipped()) >= {
        "kraft-combined3",
        "zk1-broker3-controller3-grown",
        "zk5-broker10-controller3",
        "kraft-broker3-controller3",
        "zk1-broker3-controller1",
        "zk1-broker3-controller3",
        "zk1-broker3-controller3-mixed",
        "zk1-broker3-controller3-sasl",
        "zk1-broker3-controller3-sasl-clients",
        "zk3-broker3-controller3",
    }


def test_the_schema_file_is_up_to_date() -> None:
    """topology.schema.json equals json_schema_text(); write that text to it when the format changes."""
    assert (topology_file.SHIPPED / "topology.schema.json").read_text() == topology_file.json_schema_text()


def test_the_schema_knows_the_written_keys() -> None:
    """The schema uses the keys of files (``from``), closes every table, and lists the counts that are possible."""
    schema = json.loads(topology_file.json_schema_text())
    tables = schema["$defs"]
    assert {"from", "to"} <= set(tables["LinkTable"]["properties"])
    assert all(table["additionalProperties"] is False for table in [schema, *tables.values()])
    count, _none = tables["ZooKeeperTable"]["properties"]["count"]["anyOf"]
    assert count["enum"] == [1, 3, 5]


def test_everything_a_file_can_say_is_kept(tmp_path: Path) -> None:
    """Ids, overrides, links, security and probes arrive in the topology; node settings win over those of the role."""
    file = tmp_path / "shape.toml"
    build = tmp_path / "build"
    (build / "libs").mkdir(parents=True)
    file.write_text(
        "#:schema ./topology.schema.json\n# Why this\n# shape.\n" + HEAD + ZOOKEEPER + BROKER + "first_id = 10\n"
        'jvm = ["-Da=1"]\nheap_mb = 256\nproperties = { "a" = "role", "b" = "role" }\n'
        '[controller]\ncount = 3\nkafka = "3.8.1"\n'
        '[[node]]\nname = "broker-11"\nkafka = "' + str(build) + '"\nheap_mb = 512\n'
        'jvm = ["-Db=2"]\nproperties = { "b" = "node" }\n'
        '[[link]]\nfrom = "controller"\nto = "zookeeper-1"\nlatency_ms = 20\njitter_ms = 5\nrate_kb_per_s = 100\n'
        '[security]\nprotocol = "SASL_SSL"\nauthorizer = true\n[probe.jmx]\nevery_ms = 100\nmetrics = ["BrokerState"]\n'
    )
    topology = topology_file.load(file)
    node = topology.node("broker-11")
    assert topology.purpose == "Why this shape."
    assert [each.node_id for each in topology.of_role(Role.BROKER)] == [10, 11, 12]
    assert (node.kafka, node.heap_mb, node.jvm, node.mode) == (
        str(build),
        512,
        ("-Da=1", "-Db=2"),
        BrokerMode.ZOOKEEPER,
    )
    assert node.properties == {"a": "role", "b": "node"}
    assert {each.start for each in topology.of_role(Role.CONTROLLER)} == {"later"}
    assert topology.links == (LinkSpec("controller", "zookeeper-1", 20, 5, 100),)
    assert topology.security == Security("SASL_SSL", "SASL_SSL", "SASL_SSL", authorizer=True)
    assert (topology.probe.every_ms, topology.probe.metrics) == (100, ("BrokerState",))


@pytest.mark.parametrize("word", ["later", "by-migration"])
def test_a_node_may_start_later(tmp_path: Path, word: str) -> None:
    """One broker that a test starts itself, all controllers by a step; older files have another word for it."""
    file = tmp_path / "own.toml"
    of_node = f'[[node]]\nname = "broker-2"\nstart = "{word}"\n[[node]]\nname = "controller-3000"\nstart = "at-once"\n'
    file.write_text(f'{HEAD}{ZOOKEEPER}{BROKER}[controller]\ncount = 3\nstart = "{word}"\n{of_node}')
    later = [node.name for node in topology_file.load(file).nodes if node.start == "later"]
    assert later == ["broker-2", "controller-3001", "controller-3002"]


def test_without_a_choice_the_document_chooses_the_metrics() -> None:
    """A file that names none leaves that to the document of the profile."""
    assert topology_file.load(topology_file.find("zk1-broker3-controller3")).probe.metrics == ()


def test_the_distribution_under_test_is_checked_against_the_shape() -> None:
    """Another release takes the place of the file's; one that cannot have this shape is refused."""
    file = topology_file.find("zk1-broker3-controller3-mixed")
    topology = topology_file.load(file, kafka="3.9.0")
    assert {node.name: node.kafka for node in topology.nodes if node.kafka != "3.9.0"} == {"broker-2": "3.8.1"}


@pytest.mark.parametrize(
    ("kafka", "expected"),
    [
        ("4.0.0", 'expected a release before 4.0.0 (4.x knows no ZooKeeper), got "4.0.0": take "3.9.1", or a topology'),
        ("2.8.0", 'expected a release from 3.2.3 to 4.3.0 (nearest: 3.2.3), got "2.8.0"'),
        (
            "image:x",
            'expected a release or a path (an image is named by an option, with provider docker), got "image:x"',
        ),
        ("~nobody/kafka", "expected a release, or the path of an unpacked Kafka (a folder with libs in it), got"),
    ],
)
def test_a_wrong_distribution_is_told_of_the_option_that_named_it(kafka: str, expected: str) -> None:
    """The topology file does not hold it, so there is nothing to mend in it."""
    file = topology_file.find("zk1-broker3-controller3")
    with pytest.raises(WrongUseError) as raised:
        topology_file.load(file, kafka, option="--kafka")
    assert str(raised.value).startswith(f"--kafka: {expected}")


def test_the_distribution_under_test_spares_nodes_that_chose() -> None:
    """It takes the place of the release that the file names, and a broker left on an older one stays there."""
    file = topology_file.find("zk1-broker3-controller3-mixed")
    before, under_test = topology_file.load(file), topology_file.load(file, kafka="3.9.0")
    kept = {node.name: node.kafka for node in before.nodes if node.kafka != before.kafka}
    assert kept
    assert {node.name: node.kafka for node in under_test.nodes if node.kafka != "3.9.0"} == kept
    assert under_test.kafka == "3.9.0"


@pytest.mark.parametrize(
    ("written", "reported"),
    [
        ('"clientPort " = "1"', 'zookeeper.properties."clientPort ": expected a name of letters, digits, dots, dashes'),
        ('"tickTime" = "2000\\nclientPort=1"', "zookeeper.properties.tickTime: expected a value of one line, got "),
    ],
)
def test_nothing_slips_into_a_file_of_properties(tmp_path: Path, written: str, reported: str) -> None:
    """A name with a blank, or a value of two lines, would be another property: one that is the provider's, say."""
    file = tmp_path / "shape.toml"
    head = 'name = "x"\nkafka = "3.9.1"\n[zookeeper]\ncount = 1\n[broker]\ncount = 1\n[controller]\ncount = 1\n'
    file.write_text(f"{head}[zookeeper.properties]\n{written}\n")
    with pytest.raises(TopologyError) as raised:
        topology_file.load(file)
    (problem,) = raised.value.problems
    assert problem.startswith(reported)
