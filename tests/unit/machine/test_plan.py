"""The plan of ``kmigrate up --dry-run``: addresses, links, memory, and the refusal of what will not fit."""

from dataclasses import replace

import pytest

from pytest_kmigrate.machine import plan as dry_run
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.topology import Jar, LinkSpec, Security, Topology
from pytest_kmigrate.topology import loading as topology_file

PLENTY_MB = 100_000
MIXED = "zk1-broker3-controller3-sasl-clients"


def shape(name: str = "zk1-broker3-controller3") -> Topology:
    """A shipped topology."""
    return topology_file.load(topology_file.find(name))


def test_every_node_has_an_address_of_its_own() -> None:
    """Node i binds 127.x.0.i, with the ports of its role."""
    nodes = dry_run.plan(shape(), PLENTY_MB).nodes
    assert [node.address for node in nodes] == [f"127.x.0.{number}" for number in range(1, 8)]
    assert [nodes[0].ports, nodes[1].ports, nodes[4].ports] == [
        (2181, 2888, 3888),
        (9092, 9094, 8778, 9091),
        (9093, 8778, 9091),
    ]


def test_every_directed_link_has_an_address_of_its_own() -> None:
    """One link for each ordered pair that talks, at 127.x.s.d; clients dial 127.x.250.i:9094."""
    links = dry_run.plan(shape(), PLENTY_MB).links
    assert len({link.address for link in links}) == len(links) == 3 + 3 + 6 + 9 + 9 + 6 + 3
    by_ends = {(link.source, link.destination): (link.address, link.ports) for link in links}
    assert by_ends["broker-0", "controller-3002"] == ("127.x.2.7", (9093,))
    assert by_ends["controller-3000", "zookeeper-1"] == ("127.x.5.1", (2181,))
    assert by_ends["clients", "broker-2"] == ("127.x.250.4", (9094,))
    assert ("zookeeper-1", "broker-0") not in by_ends


def test_an_ensemble_dials_itself() -> None:
    """Three ZooKeeper servers have six links among them, for followers and elections."""
    links = dry_run.plan(shape("zk3-broker3-controller3"), PLENTY_MB).links
    assert [link.ports for link in links if link.kind == "zookeeper -> zookeeper"] == [(2888, 3888)] * 6


def test_slow_links_are_told() -> None:
    """Links that are slow from the start say how slow, and only those."""
    slow = replace(
        shape(), links=(LinkSpec("controller", "zookeeper", 20, 5), LinkSpec("broker-0", "broker-1", 0, 0, 64))
    )
    plan = dry_run.plan(slow, PLENTY_MB)
    reported = {(link.source, link.destination): link.slow for link in plan.links if link.slow}
    assert reported == {
        **{(f"controller-{number}", "zookeeper-1"): "20 ms ± 5 ms" for number in (3000, 3001, 3002)},
        ("broker-0", "broker-1"): "64 kB/s",
    }
    text = dry_run.rendered(plan)
    assert "20 ms ± 5 ms (all)" in text
    assert "64 kB/s (broker-0 -> broker-1)" in text


def test_memory_is_heap_and_100_mb_a_node_and_the_harness() -> None:
    """Seven nodes of 384 MB need 7 x 484 + 150 MB; exactly that is enough."""
    plan = dry_run.plan(shape(), 3538)
    assert plan.needed_mb == 7 * 484 + 150 == 3538


def test_what_will_not_fit_is_refused() -> None:
    """One megabyte too little is refused with exit status 4, the sum, and what to do."""
    with pytest.raises(EnvironmentLackError) as raised:
        dry_run.plan(shape(), 3537)
    assert raised.value.exit_status == 4
    assert "expected 3538 MB of free memory for 7 nodes" in str(raised.value)
    assert "got 3537 MB: take a smaller topology" in str(raised.value)


@pytest.mark.parametrize("name", topology_file.shipped())
def test_the_tables_name_everything(name: str) -> None:
    """Every node with its version and address is on the page, whatever the shape."""
    plan = dry_run.plan(shape(name), PLENTY_MB)
    text = dry_run.rendered(plan)
    for node in plan.nodes:
        line = next(line for line in text.splitlines() if node.spec.name in line)
        assert node.spec.kafka in line
        assert node.address in line
    assert f"about {plan.needed_mb} MB needed, {PLENTY_MB} MB available" in text


def test_brackets_in_a_file_are_not_markup() -> None:
    """Text from a file is shown as written, also when it looks like markup."""
    plan = dry_run.plan(replace(shape(), purpose="Keeps [bold]this[/bold]."), PLENTY_MB)
    assert "Keeps [bold]this[/bold]." in dry_run.rendered(plan)


def test_protocols_are_told_listener_by_listener_only_where_they_differ() -> None:
    """One word is enough for a cluster that has one protocol."""
    reported = [
        dry_run.rendered(dry_run.plan(shape(name), PLENTY_MB)) for name in ("zk1-broker3-controller3-sasl", MIXED)
    ]
    assert "Security: SASL_SSL, with ACLs; Kafka under test: 3.9.1" in reported[0]
    assert "Security: INTERNAL PLAINTEXT, CLIENT SASL_SSL, CONTROLLER PLAINTEXT, with ACLs;" in reported[1]


OWN = "org.example.Mine"


@pytest.mark.parametrize(
    ("security", "by_node", "shown"),
    [
        (Security(), {}, "PLAINTEXT, without ACLs;"),
        (Security(authorizer=True), {}, "PLAINTEXT, with ACLs;"),
        (Security(authorizer=True, authorizer_class=OWN), {}, f"PLAINTEXT, with ACLs by {OWN};"),
        (Security(authorizer=True), {"controller-3000": ""}, "controller-3000 without ACLs;"),
        (Security(), {"broker-1": OWN}, f"broker-1 with ACLs by {OWN};"),
    ],
)
def test_the_plan_says_who_enforces_acls(security: Security, by_node: dict[str, str], shown: str) -> None:
    """By the keys of the file and by properties of single nodes; by class where it is not Kafka's own for the mode."""
    nodes = tuple(
        replace(node, properties={"authorizer.class.name": by_node[node.name]}) if node.name in by_node else node
        for node in shape().nodes
    )
    plan = dry_run.plan(replace(shape(), security=security, nodes=nodes), PLENTY_MB)
    assert shown in " ".join(dry_run.rendered(plan).split())


def test_the_plan_says_what_is_beyond_the_usual() -> None:
    """Chroot, logins and ACLs of ZooKeeper, disks, jars and the level of the quorum, each where a topology has it."""
    lines = dry_run.rendered(dry_run.plan(shape("zk1-broker3-controller3-grown"), PLENTY_MB)).splitlines()
    assert "ZooKeeper: chroot /kafka/prod, logins by SASL DIGEST-MD5, znodes with ACLs" in lines
    assert "Log directories: broker-1001 2, broker-1003 2, broker-1007 2" in lines
    (broker, *others) = shape("kraft-combined3").nodes
    plain = replace(shape("kraft-combined3"), nodes=(replace(broker, jars=(Jar("/mine.jar", "0"),)), *others))
    text = dry_run.rendered(dry_run.plan(replace(plain, metadata_version="3.8"), PLENTY_MB))
    assert "Quorum: metadata.version 3.8" in text
    assert "Jars besides Kafka's: combined-1 /mine.jar" in text
    assert "ZooKeeper:" not in text
    assert "Log directories" not in text
