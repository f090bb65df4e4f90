"""Rules a topology file must keep that span several keys; each says what it read, so that one mistake is told once."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pytest_kmigrate.distributions.distribution import LIBS, unpacked_at
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.model.topology import Role, Start
from pytest_kmigrate.topology.format import NO_ZOOKEEPER_FROM, NodeTable, TopologyFile, version_of
from pytest_kmigrate.topology.mistakes import KeyPath, Mistake, shown
from pytest_kmigrate.topology.nodes import links_join_nodes, node_names, overrides_name_nodes, role_tables

REPLICATION_FACTORS = frozenset({
    "default.replication.factor", "offsets.topic.replication.factor", "transaction.state.log.replication.factor",
})  # fmt: skip
MOST_DIGITS = 10
SET_BY_THE_PROVIDER = frozenset({
    "advertised.listeners", "broker.id", "clientPort", "clientPortAddress",
    "controller.listener.names", "controller.quorum.voters", "dataDir", "dataLogDir",
    "inter.broker.listener.name", "listener.security.protocol.map", "listeners", "log.dir",
    "log.dirs", "metadata.log.dir", "node.id", "process.roles", "security.inter.broker.protocol",
    "zookeeper.connect",
})  # fmt: skip
"""A file that sets one of these makes nodes go past their links, not find each other, or share a disk that stays."""
_ZOOKEEPER_PEER = re.compile(r"server\.\d+")
_PROPERTY_NAME = re.compile(r"[A-Za-z0-9._-]+")
_ANOTHER_LINE = re.compile(r"[\x00\r\n]")


@dataclass(frozen=True)
class Rule:
    """A check of a whole file; it is left out when a key it reads is already known to be wrong."""

    reads: tuple[KeyPath, ...]
    check: Callable[[TopologyFile], Iterator[Mistake]]


def broken_rules(file: TopologyFile, suspects: Iterable[KeyPath]) -> list[Mistake]:
    """The mistakes of all rules, save those that only follow from a suspect key."""
    wrong = tuple(suspects)
    broken = [
        mistake
        for rule in RULES
        if not any(_is_within(read, suspect) for read in rule.reads for suspect in wrong)
        for mistake in rule.check(file)
        if not any(_is_within(read, suspect) for read in mistake.reads for suspect in wrong)
    ]
    return [
        mistake
        for mistake in broken
        if not any(_is_within(mistake.path, suspect) or _is_within(suspect, mistake.path) for suspect in wrong)
    ]


def _is_within(path: KeyPath, outer: KeyPath) -> bool:
    return path[: len(outer)] == outer


def default_mode(file: TopologyFile) -> str:
    """The mode of brokers that did not choose: ZooKeeper where there is one."""
    return file.broker.mode or ("zookeeper" if file.zookeeper else "kraft")


def start_of(file: TopologyFile, role: Role, own: NodeTable | None = None) -> Start:
    """When a node starts: by its own table, its role's, or by default: controllers later if there is a ZooKeeper."""
    of_role = file.controller.start if file.controller and role is Role.CONTROLLER else None
    chosen = (own.start if own else None) or of_role
    if chosen is None:
        return "later" if role is Role.CONTROLLER and file.zookeeper else "at-once"
    return "at-once" if chosen == "at-once" else "later"


def _modes(file: TopologyFile) -> Iterator[tuple[KeyPath, str]]:
    """Each place that sets a mode, with the mode; the brokers' common one first."""
    own = {node.name for node in file.node if node.mode}
    brokers = {name for name in node_names(file) if name.startswith("broker-")}
    if brokers - own:
        yield ("broker", "mode"), default_mode(file)
    for number, node in enumerate(file.node):
        if node.mode and node.name in brokers:
            yield ("node", number, "mode"), node.mode


def _modes_have_what_they_need(file: TopologyFile) -> Iterator[Mistake]:
    if file.zookeeper is None and file.controller is None:
        yield Mistake(
            ("zookeeper",), "expected [zookeeper] (a cluster to migrate) or [controller] (KRaft), got neither"
        )
        return
    modes = {mode: path for path, mode in reversed(list(_modes(file)))}
    if "zookeeper" in modes and file.zookeeper is None:
        yield Mistake(
            modes["zookeeper"], 'expected a [zookeeper] table for mode "zookeeper", got none: give it a count'
        )
    if "kraft" in modes and file.controller is None:
        yield Mistake(modes["kraft"], 'expected a [controller] table for mode "kraft", got none: give it a count')
    if "kraft" in modes and file.controller is not None and start_of(file, Role.CONTROLLER) == "later":
        text = f'expected "at-once" because KRaft brokers cannot start without, got {shown(file.controller.start)}'
        yield Mistake(("controller", "start"), text)


def _ids_differ(file: TopologyFile) -> Iterator[Mistake]:
    if file.controller is None:
        return
    brokers = range(file.broker.first_id, file.broker.first_id + file.broker.count)
    controllers = range(file.controller.first_id, file.controller.first_id + file.controller.count)
    both = sorted(set(brokers) & set(controllers))
    if both:
        ids = f"{controllers[0]} to {controllers[-1]}" if len(controllers) > 1 else f"{controllers[0]}"
        text = f"expected ids that no broker has, got {ids} although {_ids(both)} taken: try first_id = 3000"
        yield Mistake(("controller", "first_id"), text)


def _ids(ids: list[int]) -> str:
    return f"broker id {ids[0]} is" if len(ids) == 1 else f"broker ids {', '.join(map(str, ids))} are"


def _versions(file: TopologyFile) -> Iterator[tuple[KeyPath, str]]:
    """Each place that sets a version, with it."""
    yield ("kafka",), file.kafka
    for role, table in role_tables(file):
        if table.kafka is not None:
            yield (role.value, "kafka"), table.kafka
    for number, node in enumerate(file.node):
        if node.kafka is not None:
            yield ("node", number, "kafka"), node.kafka


def _zookeeper_only_before_4(file: TopologyFile) -> Iterator[Mistake]:
    if file.zookeeper is None:
        return
    for path, kafka in _versions(file):
        version = version_of(kafka)
        if version and version >= NO_ZOOKEEPER_FROM:
            text = f'expected a release before 4.0.0 (4.x knows no ZooKeeper), got "{kafka}": take "3.9.1", or '
            yield Mistake(path, text + "a topology without [zookeeper]")


def _paths_lead_to_kafka(file: TopologyFile) -> Iterator[Mistake]:
    for path, kafka in _versions(file):
        if version_of(kafka) is None and unpacked_at(kafka) is None:
            text = f"expected a release, or the path of an unpacked Kafka (a folder with {LIBS} in it), got "
            yield Mistake(path, text + shown(kafka))


def _properties(file: TopologyFile) -> Iterator[tuple[KeyPath, str, str]]:
    """Every property: its path, name and value."""
    for role, table in role_tables(file):
        for name, value in table.properties.items():
            yield (role.value, "properties", name), name, value
    for number, node in enumerate(file.node):
        for name, value in node.properties.items():
            yield ("node", number, "properties", name), name, value


def _are_one_line_each(file: TopologyFile) -> Iterator[Mistake]:
    """In a file of properties, anything else would be another name, or a property more."""
    for path, name, value in _properties(file):
        if not _PROPERTY_NAME.fullmatch(name):
            yield Mistake(path, f"expected a name of letters, digits, dots, dashes and underscores, got {shown(name)}")
        if _ANOTHER_LINE.search(value):
            yield Mistake(path, f"expected a value of one line, got {shown(value)}")


def _provider_keeps_its_own(file: TopologyFile) -> Iterator[Mistake]:
    for path, name, value in _properties(file):
        if name in SET_BY_THE_PROVIDER or _ZOOKEEPER_PEER.fullmatch(name):
            text = f"expected nothing (the provider gives addresses, ids, listeners and disks), got {shown(value)}"
            yield Mistake(path, f"{text}: leave it out")


def _whole_number(text: str) -> int | None:
    """The number a property holds; None if it is none, or longer than any that Kafka takes."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


def _replication_fits(file: TopologyFile) -> Iterator[Mistake]:
    for path, name, value in _properties(file):
        if name not in REPLICATION_FACTORS:
            continue
        number = _whole_number(value)
        if number is None:
            yield Mistake(path, f"expected a whole number in quotes, got {shown(value)}")
        elif number > file.broker.count:
            yield Mistake(path, f"expected at most {file.broker.count}, the count of brokers, got {shown(value)}")


def _enough_replicas_for_a_write(file: TopologyFile) -> Iterator[Mistake]:
    factor = _whole_number(file.broker.properties.get("default.replication.factor", "")) or file.broker.count
    value = file.broker.properties.get("min.insync.replicas", "1")
    least = _whole_number(value)
    path = ("broker", "properties", "min.insync.replicas")
    if least is None:
        yield Mistake(path, f"expected a whole number in quotes, got {shown(value)}")
    elif least > factor:
        text = f"expected at most {factor}, the default.replication.factor, got {shown(value)}: every write would fail"
        yield Mistake(path, text)


def _protocol_version_is_known(file: TopologyFile) -> Iterator[Mistake]:
    own = {node.name: node.kafka for node in file.node}
    common = file.broker.kafka or file.kafka
    releases = [version_of(own.get(name) or common) for name in node_names(file) if name.startswith("broker-")]
    oldest = min((release for release in releases if release), default=NO_ZOOKEEPER_FROM)
    for path, name, value in _properties(file):
        if name == "inter.broker.protocol.version":
            wanted = version_of(f"{value.split('-')[0]}.0")
            if wanted and wanted[:2] > oldest[:2]:
                text = f"expected at most {oldest[0]}.{oldest[1]}, which the oldest broker knows, got {shown(value)}"
                yield Mistake(path, text)


def _listeners_belong_to_somebody(file: TopologyFile) -> Iterator[Mistake]:
    if file.security.listeners.controller and file.controller is None:
        text = "expected a [controller] table, whose listener this is, got none: leave it out"
        yield Mistake(("security", "listeners", "controller"), text)


def _metrics_are_known(file: TopologyFile) -> Iterator[Mistake]:
    for number, name in enumerate(file.probe.jmx.metrics or ()):
        try:
            check_metric(name)
        except WrongUseError as error:
            yield Mistake(("probe", "jmx", "metrics", number), str(error))


_IDS: tuple[KeyPath, ...] = tuple((role, key) for role in ("broker", "controller") for key in ("count", "first_id"))
_DEFAULT_FACTOR: KeyPath = ("broker", "properties", "default.replication.factor")

RULES = (
    Rule((("zookeeper",), ("controller", "start"), ("broker", "mode"), *_IDS), _modes_have_what_they_need),
    Rule(_IDS, _ids_differ),
    Rule((), _zookeeper_only_before_4),
    Rule((), _paths_lead_to_kafka),
    Rule((), _are_one_line_each),
    Rule((), _provider_keeps_its_own),
    Rule((("broker", "count"),), _replication_fits),
    Rule((("broker", "count"), _DEFAULT_FACTOR), _enough_replicas_for_a_write),
    Rule((("kafka",), ("broker", "kafka"), *_IDS), _protocol_version_is_known),
    Rule((), overrides_name_nodes),
    Rule((), links_join_nodes),
    Rule((("controller",),), _listeners_belong_to_somebody),
    Rule((), _metrics_are_known),
)
