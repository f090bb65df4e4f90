"""Shapes that real clusters have, in topology files: what each key comes to, and its mistakes."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import BrokerMode, Jar, Role, Security, Topology
from pytest_kmigrate.topology.loading import load

HEAD = 'name = "x"\npurpose = "Why."\nkafka = "3.9.1"\n'
MIGRATABLE = HEAD + "[zookeeper]\ncount = 1\n[controller]\ncount = 1\n"
BORN_IN_KRAFT = HEAD + "[controller]\ncount = 3\n[broker]\ncount = 3\n"
NAMES = "capitals, digits and underscores, such as EXTERNAL, besides INTERNAL, CLIENT, CONTROLLER, CONTROL_PLANE"


def loaded(folder: Path, text: str) -> Topology:
    """The topology of a file with this text."""
    file = folder / "shape.toml"
    file.write_text(text)
    return load(file)


def problems_of(folder: Path, text: str) -> tuple[str, ...]:
    """What is wrong with a file of this text."""
    with pytest.raises(TopologyError) as raised:
        loaded(folder, text)
    return raised.value.problems


def test_ids_have_gaps_and_any_height(tmp_path: Path) -> None:
    """As Kafka generates them, and in ascending order whatever the order in the file."""
    topology = loaded(tmp_path, MIGRATABLE + "[broker]\nids = [1007, 1001, 2000000000]\n")
    assert [node.name for node in topology.of_role(Role.BROKER)] == ["broker-1001", "broker-1007", "broker-2000000000"]


def test_an_ensemble_of_five_and_many_brokers(tmp_path: Path) -> None:
    """The address plan numbers nodes, whatever their ids are."""
    text = HEAD + "[zookeeper]\nids = [1, 2, 3, 5, 8]\n[broker]\ncount = 40\nfirst_id = 1001\n"
    topology = loaded(tmp_path, text)
    assert [node.node_id for node in topology.of_role(Role.ZOOKEEPER)] == [1, 2, 3, 5, 8]
    assert topology.number_of("broker-1040") == 45


def test_combined_nodes_play_both_roles(tmp_path: Path) -> None:
    """They are among the brokers and among the controllers, and a link's selector of either role means them, too."""
    text = (
        HEAD
        + '[combined]\ncount = 1\n[broker]\ncount = 2\n[[link]]\nfrom = "broker"\nto = "controller"\nlatency_ms = 1\n'
    )
    topology = loaded(tmp_path, text)
    names = {role: [node.name for node in topology.of_role(role)] for role in Role}
    assert names == {
        Role.ZOOKEEPER: [],
        Role.BROKER: ["broker-0", "broker-1", "combined-1000"],
        Role.COMBINED: ["combined-1000"],
        Role.CONTROLLER: ["combined-1000"],
    }
    assert topology.node("combined-1000").mode is BrokerMode.KRAFT
    assert [node.name for node in topology.selected_by("controller")] == ["combined-1000"]
    assert loaded(tmp_path, HEAD + "[combined]\ncount = 3\n").of_role(Role.BROKER)


def test_disks_by_role_and_by_node(tmp_path: Path) -> None:
    """A node's own count wins; controllers have one."""
    own = '[[node]]\nname = "broker-2"\nlog_dirs = 3\n'
    topology = loaded(tmp_path, MIGRATABLE + "[broker]\ncount = 3\nlog_dirs = 2\n" + own)
    assert [node.log_dirs for node in topology.nodes] == [1, 2, 2, 3, 1]


def test_what_zookeeper_asks_of_kafka(tmp_path: Path) -> None:
    """A chroot, logins, ACLs on znodes."""
    text = MIGRATABLE.replace("count = 1\n[c", 'count = 1\nchroot = "/kafka/prod"\n[c')
    security = '[security]\nzookeeper = "SASL"\nzookeeper_acls = true\nextra_listeners = { EXTERNAL = "SSL" }\n'
    topology = loaded(tmp_path, text + "[broker]\ncount = 1\n" + security)
    assert topology.chroot == "/kafka/prod"
    assert topology.security == Security(extra={"EXTERNAL": "SSL"}, zookeeper_login=True, zookeeper_acls=True)
    assert topology.security.protocols["EXTERNAL"] == "SSL"
    by_tls = loaded(tmp_path, text + "[broker]\ncount = 1\n" + security.replace("SASL", "SSL", 1)).security
    assert by_tls == Security(extra={"EXTERNAL": "SSL"}, zookeeper_tls=True, zookeeper_acls=True)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("false", Security()),
        ("true", Security(authorizer=True)),
        ('"org.example.Mine"', Security(authorizer=True, authorizer_class="org.example.Mine")),
    ],
)
def test_an_authorizer_by_default_or_by_class(tmp_path: Path, written: str, expected: Security) -> None:
    """Kafka's own for the mode of each node, or one class for all."""
    assert loaded(tmp_path, f"{BORN_IN_KRAFT}[security]\nauthorizer = {written}\n").security == expected


@pytest.mark.parametrize(
    ("broker", "controller", "expected"),
    [("3.5.0", "3.9.1", True), ("3.4.1", "3.9.1", False), ("3.9.1", "3.4.1", False)],
)
def test_an_authorizer_from_a_release_on(tmp_path: Path, broker: str, controller: str, expected: bool) -> None:
    """One earlier broker or controller is enough to leave it out; what release ZooKeeper comes with does not matter."""
    tables = f'[zookeeper]\ncount = 1\nkafka = "3.4.1"\n[controller]\ncount = 1\nkafka = "{controller}"\n'
    broker_table = f'[broker]\ncount = 1\nkafka = "{broker}"\n'
    security = '[security]\nauthorizer = "org.example.Mine"\nauthorizer_since = "3.5.0"\n'
    found = loaded(tmp_path, HEAD + tables + broker_table + security).security
    assert (found.authorizer, found.authorizer_class) == (expected, "org.example.Mine" if expected else None)


def test_jars_are_found_from_the_file_on_and_belong_to_the_topology(tmp_path: Path) -> None:
    """Another content of the same jar is another topology: a checkpoint of the former is not taken for it."""
    jar = tmp_path / "jars" / "mine.jar"
    jar.parent.mkdir()
    digests = []
    for content in ("one", "other"):
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr("Mine.class", content)
        topology = loaded(tmp_path, f'{BORN_IN_KRAFT}jars = ["./jars/mine.jar"]\n')
        assert topology.node("broker-1").jars == (Jar(str(jar), hashlib.sha256(jar.read_bytes()).hexdigest()),)
        assert topology.node("controller-3000").jars == ()
        digests.append(topology.digest())
    assert digests[0] != digests[1]


def test_a_jar_with_a_colon_in_its_path_is_refused(tmp_path: Path) -> None:
    """It would be two entries of the class path."""
    with zipfile.ZipFile(tmp_path / "a:b.jar", "w") as archive:
        archive.writestr("Mine.class", "")
    (only,) = problems_of(tmp_path, f'{BORN_IN_KRAFT}jars = ["a:b.jar"]\n')
    assert only.endswith("got \"a:b.jar\": a path with ':' in it, which would divide the class path")


def test_one_level_for_the_quorum(tmp_path: Path) -> None:
    """The file's, if it has one."""
    assert loaded(tmp_path, 'metadata_version = "3.8-IV0"\n' + BORN_IN_KRAFT).metadata_version == "3.8-IV0"
    assert loaded(tmp_path, BORN_IN_KRAFT).metadata_version is None


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As some editors write it."""
    assert loaded(tmp_path, "\ufeff" + BORN_IN_KRAFT) == loaded(tmp_path, BORN_IN_KRAFT)


MISTAKES = [
    (
        MIGRATABLE + "[broker]\n",
        "broker.count: expected how many brokers: 1 to 199, as the machine allows; got neither",
    ),
    (
        MIGRATABLE + "[broker]\ncount = 2\nids = [1, 2]\n",
        "broker.count: expected nothing beside ids, got 2: leave it out",
    ),
    (MIGRATABLE + "[broker]\nids = [1, 2, 1]\n", "broker.ids: expected each id once and found 1 again, got a list"),
    (
        MIGRATABLE + f"[broker]\nids = {list(range(1, 202))}\n",
        "broker.ids: expected at most 199 and found 201, got a list",
    ),
    (MIGRATABLE + "[broker]\nids = []\n", "broker.ids: expected at least one, got an empty list"),
    (MIGRATABLE + "[broker]\nids = [-1]\n", "broker.ids[#1]: expected at least 0, got -1"),
    (
        MIGRATABLE + "[broker]\nids = [3000]\n",
        "controller.first_id: expected ids that no other node has, got 3000 although id 3000",
    ),
    (HEAD + "[controller]\nids = [1, 2]\n[broker]\ncount = 1\n", "controller.ids: expected 1 or 3 or 5 ids, got 2"),
    (HEAD + "[zookeeper]\nids = [256]\n[broker]\ncount = 1\n", "zookeeper.ids[#1]: expected at most 255, got 256"),
    (
        HEAD + "[zookeeper]\ncount = 3\nfirst_id = 254\n[broker]\ncount = 1\n",
        "zookeeper.first_id: expected ids of at most 255, got 254 and 2 more",
    ),
    (
        HEAD + "[controller]\ncount = 5\n[broker]\ncount = 195\n",
        "the file: expected at most 199 nodes, got 200",
    ),
    (
        HEAD + '[zookeeper]\ncount = 1\nchroot = "kafka/"\n[broker]\ncount = 1\n',
        'zookeeper.chroot: expected the path of a znode without a slash at its end, such as "/kafka/prod", got',
    ),
    (
        MIGRATABLE + '[broker]\nids = [1001]\nproperties = { "reserved.broker.max.id" = "1000" }\n',
        'broker.properties."reserved.broker.max.id": expected at least 1001, the highest id of a broker, got',
    ),
    (MIGRATABLE + "[combined]\ncount = 1\n", "combined: expected no [zookeeper] beside [combined], whose nodes are of"),
    (
        HEAD + '[combined]\ncount = 1\n[[node]]\nname = "combined-1000"\nstart = "later"\n',
        'node[combined-1000].start: expected a start for brokers and controllers only, got "later"',
    ),
    (
        MIGRATABLE + '[broker]\ncount = 1\n[[node]]\nname = "zookeeper-1"\nlog_dirs = 2\n',
        "node[zookeeper-1].log_dirs: expected log_dirs for brokers, combined nodes and controllers only, got 2",
    ),
    (BORN_IN_KRAFT + "log_dirs = 0\n", "broker.log_dirs: expected at least 1, got 0"),
    (
        BORN_IN_KRAFT + '[security]\nauthorizer = "yes"\n',
        'security.authorizer: expected true, false or the name of a class such as "org.example.MyAuthorizer", got',
    ),
    (
        BORN_IN_KRAFT + '[security.extra_listeners]\nCLIENT = "SSL"\n',
        f"security.extra_listeners: expected names of {NAMES}, and found 'CLIENT', got a table",
    ),
    (
        BORN_IN_KRAFT + "[security.extra_listeners]\n" + "".join(f'L{number} = "SSL"\n' for number in range(6)),
        "security.extra_listeners: expected at most 5 listeners and found 6, got a table",
    ),
    (
        BORN_IN_KRAFT + '[security.extra_listeners]\nEXTERNAL = "TLS"\n',
        'security.extra_listeners.EXTERNAL: expected "PLAINTEXT", "SSL", "SASL_PLAINTEXT" or "SASL_SSL", got "TLS"',
    ),
    (
        BORN_IN_KRAFT + '[security]\nzookeeper = "SASL"\n',
        "security.zookeeper: expected a [zookeeper] table to log in at, got none: leave it out",
    ),
    (
        MIGRATABLE + "[broker]\ncount = 1\n[security]\nzookeeper_acls = true\n",
        'security.zookeeper_acls: expected zookeeper = "SASL" or "SSL" beside it, because the ACLs name who logged in',
    ),
    (
        MIGRATABLE + '[broker]\ncount = 1\n[security]\nauthorizer_since = "3.5.0"\n',
        "security.authorizer_since: expected authorizer beside it, got none: give it, or leave this out",
    ),
    (
        MIGRATABLE + '[broker]\ncount = 1\n[security]\nauthorizer = true\nauthorizer_since = "3.5"\n',
        'security.authorizer_since: expected a release with three numbers, such as "3.5.0"',
    ),
    (
        MIGRATABLE
        + '[broker]\ncount = 1\njvm = ["-Djava.security.auth.login.config=/x"]\n[security]\nzookeeper = "SASL"\n',
        'broker.jvm[#1]: expected no login file of its own beside security.zookeeper = "SASL", got "-Djava.security',
    ),
    (
        BORN_IN_KRAFT + 'jars = ["."]\n',
        'broker.jars[#1]: expected the path of a jar, from the folder of this file on, got ".": a folder',
    ),
    (
        BORN_IN_KRAFT + 'jars = ["./none.jar"]\n',
        'broker.jars[#1]: expected the path of a jar, from the folder of this file on, got "./none.jar": nothing there',
    ),
    (
        BORN_IN_KRAFT + 'jars = ["./shape.toml"]\n',
        'broker.jars[#1]: expected the path of a jar, from the folder of this file on, got "./shape.toml"',
    ),
    (
        'metadata_version = "3.9"\n' + BORN_IN_KRAFT + '[[node]]\nname = "controller-3002"\nkafka = "3.7.2"\n',
        'metadata_version: expected at most 3.7, which controller-3002 of 3.7.2 knows, got "3.9": let a test install',
    ),
    (
        'metadata_version = "3.8-IV99"\n' + BORN_IN_KRAFT,
        'metadata_version: expected one of "3.8", "3.8-IV0"; got "3.8-IV99", which no release has',
    ),
    (
        'metadata_version = "3.10"\n' + BORN_IN_KRAFT,
        'metadata_version: expected the level of a release, got "3.10", and there is no Kafka 3.10',
    ),
    (
        'metadata_version = "latest"\n' + BORN_IN_KRAFT,
        'metadata_version: expected a metadata.version such as "3.8" or "3.8-IV0", got "latest"',
    ),
    (
        'metadata_version = "3.8"\n' + HEAD + "[zookeeper]\ncount = 1\n[broker]\ncount = 1\n",
        "metadata_version: expected a [controller] table, whose quorum is formatted with it, got none: leave it out",
    ),
]


@pytest.mark.parametrize(("text", "problem"), MISTAKES, ids=[problem[:40] for _, problem in MISTAKES])
def test_a_mistake_is_reported_once_in_these_words(tmp_path: Path, text: str, problem: str) -> None:
    """The key, what was expected, what was found, and what to do."""
    (only,) = problems_of(tmp_path, text)
    assert only.startswith(problem)
