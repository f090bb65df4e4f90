"""The words for every mistake in a topology file."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology import loading as topology_file

HEAD = 'name = "x"\nkafka = "3.9.1"\n'
ZOOKEEPER = "[zookeeper]\ncount = 1\n"
BROKER = "[broker]\ncount = 3\n"
CONTROLLER = "[controller]\ncount = 1\n"
MIGRATABLE = HEAD + ZOOKEEPER + CONTROLLER + BROKER
TOP_KEYS = (
    "name, purpose, kafka, metadata_version, quorum, zookeeper, broker, combined, controller, node, link, security, "
    "probe"
)
BROKER_KEYS = "kafka, properties, jvm, heap_mb, jars, count, first_id, ids, log_dirs, mode"
NO_ZOOKEEPER = "expected a release before 4.0.0 (4.x knows no ZooKeeper), got"
THE_PROVIDERS = "expected nothing, because the provider sets it"
NODES = "zookeeper-1, broker-0, broker-1, broker-2, controller-3000"

SYNTAX = [
    (
        "kafka = 3.9.1",
        (
            "line 1, column 12: expected TOML, got: Expected newline or end of document after a statement: "
            'write kafka = "3.9.1" in quotes'
        ),
    ),
    ('name = "x', "end of document: expected TOML, got: Unterminated string"),
    ("x = " + "9" * 5000, "expected TOML, got a value it cannot hold: Exceeds the limit"),
]

ONE_KEY = [
    (
        'name = "x"\nkafka = 3.10\n' + ZOOKEEPER + BROKER,
        'kafka: expected text, got 3.10 (without quotes): write kafka = "3.10"',
    ),
    (
        'name = "x"\nkafka = "3.9"\n' + ZOOKEEPER + BROKER,
        'kafka: expected a release with three numbers, such as "3.9.1", got "3.9"',
    ),
    (
        'name = "x"\nkafka = "latest"\n' + ZOOKEEPER + BROKER,
        'kafka: expected a release such as "3.9.1" or a path such as "./kafka", got "latest"',
    ),
    (
        'name = "x"\nkafka = "3.3.1"\n' + ZOOKEEPER + BROKER,
        'kafka: expected a release from 3.2.3 to 4.3.0 (nearest: 3.3.2), got "3.3.1"',
    ),
    (
        'name = "x"\nkafka = "5.0.0"\n' + ZOOKEEPER + BROKER,
        'kafka: expected a release from 3.2.3 to 4.3.0 (nearest: 4.3.0), got "5.0.0"',
    ),
    (
        MIGRATABLE + 'kafka = "3.9.9"\n',
        'broker.kafka: expected a release from 3.2.3 to 4.3.0 (nearest: 3.9.0, 3.9.1, 3.9.2), got "3.9.9"',
    ),
    (
        'name = "x"\nkafka = "image:kafka"\n' + ZOOKEEPER + BROKER,
        'kafka: expected a release or a path (an image is named by an option, with provider docker), got "image:kafka"',
    ),
    (
        'name = "My cluster"\nkafka = "3.9.1"\n' + ZOOKEEPER + BROKER,
        'name: expected small letters, digits, dots and dashes (run folders are named after it), got "My cluster"',
    ),
    (
        HEAD + "[zookeper]\ncount = 1\n" + BROKER,
        f'zookeper: expected one of {TOP_KEYS}; got an unknown key; did you mean "zookeeper"?',
    ),
    (HEAD + ZOOKEEPER, "broker: expected [broker] or [combined], with its count or ids; got neither"),
    (HEAD + "[zookeeper]\ncount = 2\n" + BROKER, "zookeeper.count: expected 1 or 3 or 5, got 2"),
    (HEAD + "[zookeeper]\ncount = true\n" + BROKER, "zookeeper.count: expected a whole number, got true"),
    (HEAD + "[zookeeper]\ncount = 1.0\n" + BROKER, "zookeeper.count: expected a whole number, got 1.0"),
    (HEAD + BROKER + "[controller]\ncount = 2\n", "controller.count: expected 1 or 3 or 5, got 2"),
    (HEAD + ZOOKEEPER + "[broker]\ncount = 200\n", "broker.count: expected at most 199, got 200"),
    (HEAD + ZOOKEEPER + "[broker]\ncount = 0\n", "broker.count: expected at least 1, got 0"),
    (
        HEAD + ZOOKEEPER + '[broker]\ncount = "3"\n',
        'broker.count: expected a whole number, got "3" (text): write count = 3',
    ),
    (HEAD + "broker = 3\n" + ZOOKEEPER, "broker: expected a table, got 3"),
    (
        MIGRATABLE + "cuont = 1\n",
        f'broker.cuont: expected one of {BROKER_KEYS}; got an unknown key; did you mean "count"?',
    ),
    (
        MIGRATABLE + 'mode = "kraf"\n',
        'broker.mode: expected "zookeeper" or "kraft", got "kraf"; did you mean "kraft"?',
    ),
    (
        MIGRATABLE + "properties = { default.replication.factor = 3 }\n",
        (
            "broker.properties.default: expected text, got a table: an unquoted dot makes a nested table, "
            'so quote the whole name: "default.replication.factor" = "3"'
        ),
    ),
    (
        MIGRATABLE + 'properties = { "num.network.threads" = 3 }\n',
        (
            'broker.properties."num.network.threads": expected text, got 3 (without quotes): '
            'write "num.network.threads" = "3"'
        ),
    ),
    (MIGRATABLE + "heap_mb = 10\n", "broker.heap_mb: expected at least 64, got 10"),
    (
        MIGRATABLE + 'jvm = ["Xmx1g"]\n',
        'broker.jvm: expected JVM options, each with its dash, such as "-XX:+UseG1GC", got a list',
    ),
    (MIGRATABLE + 'jvm = ["-Xmx1g"]\n', "broker.jvm: expected no -Xmx, because heap_mb sets it, got a list"),
    (
        f'name = "{"x" * 101}"\nkafka = "3.9.1"\n' + ZOOKEEPER + BROKER,
        f'name: expected at most 100 characters, got "{"x" * 59}…',
    ),
    (
        MIGRATABLE + 'properties = { "inter.broker.protocol.version" = "three" }\n',
        (
            'broker.properties."inter.broker.protocol.version": expected a release\'s protocol, such as "3.9" or '
            '"3.9-IV0", got "three"'
        ),
    ),
    (
        MIGRATABLE + 'properties = { "inter.broker.protocol.version" = "3.4-IV1" }\n',
        (
            'broker.properties."inter.broker.protocol.version": expected one of "3.4", "3.4-IV0"; got "3.4-IV1", '
            "which no release has"
        ),
    ),
    (MIGRATABLE + "jvm = [3]\n", 'broker.jvm[#1]: expected text, got 3 (without quotes): write "3"'),
    (MIGRATABLE + "[[node]]\nheap_mb = 512\n", 'node[#1].name: expected role and id, such as "broker-1"; got nothing'),
    (MIGRATABLE + "[probe.jmx]\nevery_ms = 50\n", "probe.jmx.every_ms: expected at least 100, got 50"),
    (MIGRATABLE + "[probe.jmx]\nmetrics = []\n", "probe.jmx.metrics: expected at least one, got an empty list"),
]

ACROSS_KEYS = [
    (
        MIGRATABLE + '[[node]]\nname = "zookeeper-1"\nstart = "later"\n',
        'node[zookeeper-1].start: expected a start for brokers and controllers only, got "later"',
    ),
    (HEAD + BROKER, "zookeeper: expected [zookeeper] (a cluster to migrate) or [controller] (KRaft), got neither"),
    (
        HEAD + ZOOKEEPER + BROKER + 'mode = "kraft"\n',
        'broker.mode: expected a [controller] table for mode "kraft", got none: give it a count',
    ),
    (
        HEAD + CONTROLLER + BROKER + 'mode = "zookeeper"\n',
        'broker.mode: expected a [zookeeper] table for mode "zookeeper", got none: give it a count',
    ),
    (
        HEAD + CONTROLLER + 'start = "later"\n' + BROKER,
        'controller.start: expected "at-once" because KRaft brokers cannot start without, got "later"',
    ),
    (
        HEAD + ZOOKEEPER + CONTROLLER + "first_id = 2\n" + BROKER,
        ("controller.first_id: expected ids that no other node has, got 2 although id 2 is taken: try first_id = 3000"),
    ),
    (
        'name = "x"\nkafka = "4.0.0"\n' + ZOOKEEPER + BROKER,
        f'kafka: {NO_ZOOKEEPER} "4.0.0": take "3.9.1", or a topology without [zookeeper]',
    ),
    (
        MIGRATABLE + '[[node]]\nname = "broker-1"\nkafka = "4.1.0"\n',
        f'node[broker-1].kafka: {NO_ZOOKEEPER} "4.1.0": take "3.9.1", or a topology without [zookeeper]',
    ),
    (
        MIGRATABLE + '[[node]]\nname = "broker-1"\nkafka = "/no/such/folder"\n',
        (
            "node[broker-1].kafka: expected a release, or the path of an unpacked Kafka (a folder with libs in it), "
            'got "/no/such/folder"'
        ),
    ),
    (
        MIGRATABLE + 'properties = { "broker.id" = "7" }\n',
        f'broker.properties."broker.id": {THE_PROVIDERS}, got "7": write ids, or first_id, in [broker]',
    ),
    (
        MIGRATABLE + 'properties = { "default.replication.factor" = "4" }\n',
        'broker.properties."default.replication.factor": expected at most 3, the count of brokers, got "4"',
    ),
    (
        MIGRATABLE + 'properties = { "offsets.topic.replication.factor" = "all" }\n',
        'broker.properties."offsets.topic.replication.factor": expected a whole number in quotes, got "all"',
    ),
    (
        MIGRATABLE + 'properties = { "default.replication.factor" = "2", "min.insync.replicas" = "3" }\n',
        (
            'broker.properties."min.insync.replicas": expected at most 2, the default.replication.factor, got "3": '
            "every write would fail"
        ),
    ),
    (
        MIGRATABLE
        + 'properties = { "inter.broker.protocol.version" = "3.9" }\n[[node]]\nname = "broker-0"\nkafka = "3.8.1"\n',
        (
            'broker.properties."inter.broker.protocol.version": expected at most 3.8, '
            'which the oldest broker knows, got "3.9"'
        ),
    ),
    (
        MIGRATABLE + '[[node]]\nname = "broker-9"\n',
        f'node[broker-9].name: expected one of {NODES}; got "broker-9"; did you mean "broker-2"?',
    ),
    (
        MIGRATABLE + '[[node]]\nname = "broker-1"\n[[node]]\nname = "broker-1"\n',
        'node[broker-1].name: expected one [[node]] for each node, got a second for "broker-1": merge them',
    ),
    (
        MIGRATABLE + '[[node]]\nname = "zookeeper-1"\nmode = "kraft"\n',
        'node[zookeeper-1].mode: expected a mode for brokers only, got "kraft"',
    ),
    (
        MIGRATABLE + '[[link]]\nfrom = "contoller"\nto = "zookeeper"\nlatency_ms = 5\n',
        (
            f"link[#1].from: expected one of zookeeper, broker, controller, {NODES}; "
            'got "contoller"; did you mean "controller"?'
        ),
    ),
    (
        MIGRATABLE + '[[link]]\nfrom = "zookeeper"\nto = "broker"\nlatency_ms = 5\n',
        (
            "link[#1]: expected two nodes of which the first dials the other, got zookeeper to broker "
            "(ZooKeeper servers dial only each other)"
        ),
    ),
    (
        MIGRATABLE + '[[link]]\nfrom = "broker"\nto = "zookeeper"\n',
        "link[#1]: expected latency_ms, jitter_ms or rate_kb_per_s, got none of them",
    ),
]


def problems_of(folder: Path, text: str) -> tuple[str, ...]:
    """What the loader says is wrong with this text."""
    file = folder / "shape.toml"
    file.write_text(text)
    with pytest.raises(TopologyError) as raised:
        topology_file.load(file)
    assert str(raised.value).startswith(f"{file}: ")
    return raised.value.problems


@pytest.mark.parametrize(("text", "problem"), SYNTAX)
def test_text_that_is_not_toml_is_located(tmp_path: Path, text: str, problem: str) -> None:
    """A syntax error names its place, and an unquoted version gets the advice to quote it."""
    (only,) = problems_of(tmp_path, text)
    assert only.startswith(problem)


@pytest.mark.parametrize(("text", "problem"), ONE_KEY + ACROSS_KEYS)
def test_a_mistake_is_told_once_in_these_words(tmp_path: Path, text: str, problem: str) -> None:
    """One mistake gives exactly one sentence: key, expected, got, and what was probably meant."""
    assert problems_of(tmp_path, text) == (problem,)


def test_an_unknown_metric_is_told_with_the_nearest(tmp_path: Path) -> None:
    """When the file is read, and not when the cluster stands: a metric that no node exposes is None for ever."""
    (reported,) = problems_of(tmp_path, MIGRATABLE + '[probe.jmx]\nmetrics = ["ZkWriteBehindLag", "ZkMigrationStat"]\n')
    assert reported.startswith("probe.jmx.metrics[#2]: expected one of ActiveBrokerCount, ")
    assert reported.endswith("got 'ZkMigrationStat'; did you mean \"ZkMigrationState\"?")


@pytest.mark.parametrize(
    "text",
    [
        MIGRATABLE + "properties." + "a." * 2000 + "b = 1\n",
        MIGRATABLE + "jvm = " + "[" * 2000 + "]" * 2000 + "\n",
        MIGRATABLE + "[" + "a." * 2000 + "b]\nc = 1\n",
    ],
    ids=["dotted key", "arrays", "table"],
)
def test_depth_is_refused_like_any_mistake(tmp_path: Path, text: str) -> None:
    """Nesting deeper than the interpreter's stack gives a TopologyError, not a crash."""
    assert len(problems_of(tmp_path, text)) == 1


def test_all_mistakes_come_at_once(tmp_path: Path) -> None:
    """A file with mistakes of every kind names each of them, those of single keys first."""
    text = (
        'name = "x"\nkafka = 3.9\n[zookeeper]\ncount = 1\n[broker]\ncount = 3\n'
        'properties = { "default.replication.factor" = "5" }\n'
        '[controller]\ncount = 1\nfirst_id = 2\nstrat = "at-once"\n'
        '[[link]]\nfrom = "brokr"\nto = "zookeeper"\nlatency_ms = "5"\n'
    )
    assert [problem.partition(":")[0] for problem in problems_of(tmp_path, text)] == [
        "kafka",
        "controller.strat",
        "link[#1].latency_ms",
        "controller.first_id",
        'broker.properties."default.replication.factor"',
        "link[#1].from",
    ]
