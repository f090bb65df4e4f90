"""Rules of topology files that span several keys. Each lists the keys it reads, so one mistake is reported once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pytest_kmigrate.distributions.distribution import LIBS, unpacked_at
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.model.topology import Role, Start
from pytest_kmigrate.topology.format import NodeTable, TopologyFile
from pytest_kmigrate.topology.levels import levels_are_known
from pytest_kmigrate.topology.mistakes import KeyPath, Mistake, shown
from pytest_kmigrate.topology.nodes import (
    ids_differ,
    links_join_nodes,
    node_names,
    overrides_name_nodes,
    role_tables,
    wrong_counts,
)
from pytest_kmigrate.topology.properties import (
    are_one_line_each,
    enough_replicas_for_a_write,
    ids_are_allowed,
    provider_keeps_its_own,
    replication_fits,
)
from pytest_kmigrate.topology.quorums import (
    certificates_have_listeners,
    control_planes_have_zookeeper,
    controller_logins_can_be,
    dynamic_quorums_can_be,
)
from pytest_kmigrate.topology.values import NO_ZOOKEEPER_FROM, version_of

_LOGIN_FILE = "-Djava.security.auth.login.config"


@dataclass(frozen=True)
class Rule:
    """A check of a whole file; it is left out when a key it reads is already known to be wrong."""

    reads: tuple[KeyPath, ...]
    check: Callable[[TopologyFile], Iterator[Mistake]]


def broken_rules(file: TopologyFile, suspects: Iterable[KeyPath]) -> list[Mistake]:
    """The mistakes of all rules, except those that only follow from a suspect key."""
    known = tuple(suspects)
    counts = [mistake for mistake in wrong_counts(file) if not _follows(mistake, known)]
    wrong = (*known, *(mistake.path for mistake in counts))
    rules = [rule for rule in RULES if not _is_any_within(rule.reads, wrong)]
    broken = [mistake for rule in rules for mistake in rule.check(file) if not _follows(mistake, wrong)]
    return counts + broken


def _follows(mistake: Mistake, wrong: tuple[KeyPath, ...]) -> bool:
    """Whether a mistake is only the consequence of another one."""
    is_around = any(_is_within(suspect, mistake.path) for suspect in wrong)
    return is_around or _is_any_within((mistake.path, *mistake.reads), wrong)


def _is_any_within(paths: Iterable[KeyPath], wrong: tuple[KeyPath, ...]) -> bool:
    return any(_is_within(path, suspect) for path in paths for suspect in wrong)


def _is_within(path: KeyPath, outer: KeyPath) -> bool:
    return path[: len(outer)] == outer


def default_mode(file: TopologyFile) -> str:
    """The mode of brokers that did not choose: ZooKeeper where there is one."""
    chosen = file.broker.mode if file.broker else None
    return chosen or ("zookeeper" if file.zookeeper else "kraft")


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
    brokers = set(node_names(file, Role.BROKER))
    if brokers - own:
        yield ("broker", "mode"), default_mode(file)
    for number, node in enumerate(file.node):
        if node.mode and node.name in brokers:
            yield ("node", number, "mode"), node.mode


def _modes_have_what_they_need(file: TopologyFile) -> Iterator[Mistake]:
    if file.zookeeper is None and file.controller is None and file.combined is None:
        yield Mistake(
            ("zookeeper",), "expected [zookeeper] (a cluster to migrate) or [controller] (KRaft), got neither"
        )
        return
    modes = {mode: path for path, mode in reversed(list(_modes(file)))}
    if "zookeeper" in modes and file.zookeeper is None:
        text = 'expected a [zookeeper] table for mode "zookeeper", got none: give it a count'
        yield Mistake(modes["zookeeper"], text)
    if file.combined is not None and file.zookeeper is None:
        modes.setdefault("kraft", ("combined",))
    elif "kraft" in modes and file.controller is None:
        yield Mistake(modes["kraft"], 'expected a [controller] table for mode "kraft", got none: give it a count')
    if "kraft" in modes and file.controller and _brokers_start_before_controllers(file):
        text = f'expected "at-once" because KRaft brokers cannot start without, got {shown(file.controller.start)}'
        yield Mistake(("controller", "start"), text)


def _brokers_start_before_controllers(file: TopologyFile) -> bool:
    """Whether controllers start later than some broker; where all wait for a test, it can start them in order."""
    later = {node.name for node in file.node if node.start == "later"}
    return start_of(file, Role.CONTROLLER) == "later" and not set(node_names(file, Role.BROKER)) <= later


def _combined_nodes_never_migrate(file: TopologyFile) -> Iterator[Mistake]:
    if file.combined is not None and file.zookeeper is not None:
        text = "expected no [zookeeper] beside [combined], whose nodes are of clusters born in KRaft mode"
        yield Mistake(("combined",), f"{text}: take [controller]")


def _versions(file: TopologyFile) -> Iterator[tuple[KeyPath, str]]:
    """Each place that sets a version, with it."""
    yield ("kafka",), file.kafka
    for role, table in role_tables(file):
        if table.kafka is not None:
            yield (role.value, "kafka"), table.kafka
    for number, node in enumerate(file.node):
        if node.kafka is not None:
            yield ("node", number, "kafka"), node.kafka


def _authorizer_since_needs_an_authorizer(file: TopologyFile) -> Iterator[Mistake]:
    if file.security.authorizer_since and not file.security.authorizer:
        text = "expected authorizer beside it, got none: give it, or leave this out"
        yield Mistake(("security", "authorizer_since"), text)


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


def _listeners_have_an_owner(file: TopologyFile) -> Iterator[Mistake]:
    if file.security.listeners.controller and file.controller is None and file.combined is None:
        text = "expected a [controller] table, whose listener this is, got none: leave it out"
        yield Mistake(("security", "listeners", "controller"), text)


def _zookeeper_is_protected_as_a_whole(file: TopologyFile) -> Iterator[Mistake]:
    security = file.security
    if security.zookeeper != "NONE" and file.zookeeper is None:
        yield Mistake(("security", "zookeeper"), "expected a [zookeeper] table to log in at, got none: leave it out")
    if security.zookeeper_acls and security.zookeeper == "NONE":
        text = 'expected zookeeper = "SASL" or "SSL" beside it, because the ACLs name who logged in, got none'
        yield Mistake(("security", "zookeeper_acls"), text)
    if security.zookeeper == "SASL":
        for path, option in _jvm_options(file):
            if option.startswith(_LOGIN_FILE):
                text = f'expected no login file of its own beside security.zookeeper = "SASL", got {shown(option)}'
                yield Mistake(path, text)


def _jvm_options(file: TopologyFile) -> Iterator[tuple[KeyPath, str]]:
    for role, table in role_tables(file):
        yield from (((role.value, "jvm", number), option) for number, option in enumerate(table.jvm))
    for number, node in enumerate(file.node):
        yield from ((("node", number, "jvm", at), option) for at, option in enumerate(node.jvm))


def _metrics_are_known(file: TopologyFile) -> Iterator[Mistake]:
    for number, name in enumerate(file.probe.jmx.metrics or ()):
        try:
            check_metric(name)
        except WrongUseError as error:
            yield Mistake(("probe", "jmx", "metrics", number), str(error))


_IDS: tuple[KeyPath, ...] = tuple(
    (role, key) for role in ("broker", "combined", "controller") for key in ("count", "first_id", "ids")
)
_BROKERS: tuple[KeyPath, ...] = tuple((role, key) for role in ("broker", "combined") for key in ("count", "ids"))
_DEFAULT_FACTORS: tuple[KeyPath, ...] = tuple(
    (role, "properties", "default.replication.factor") for role in ("broker", "combined")
)

RULES = (
    Rule(
        (("zookeeper",), ("combined",), ("controller", "start"), ("broker", "mode"), *_IDS), _modes_have_what_they_need
    ),
    Rule((("zookeeper",), ("combined",)), _combined_nodes_never_migrate),
    Rule(_IDS, ids_differ),
    Rule((), _zookeeper_only_before_4),
    Rule((), _paths_lead_to_kafka),
    Rule((), are_one_line_each),
    Rule((), provider_keeps_its_own),
    Rule((("broker", "mode"), ("zookeeper",), *_IDS), ids_are_allowed),
    Rule(_BROKERS, replication_fits),
    Rule((*_BROKERS, *_DEFAULT_FACTORS), enough_replicas_for_a_write),
    Rule((("kafka",), ("broker", "kafka"), ("combined", "kafka"), ("controller", "kafka"), *_IDS), levels_are_known),
    Rule((), overrides_name_nodes),
    Rule((), links_join_nodes),
    Rule((("controller",), ("combined",)), _listeners_have_an_owner),
    Rule((("zookeeper",), ("security", "zookeeper")), _zookeeper_is_protected_as_a_whole),
    Rule((("security", "authorizer"),), _authorizer_since_needs_an_authorizer),
    Rule((("quorum",), ("zookeeper",), *_IDS), dynamic_quorums_can_be),
    Rule((("security",), ("zookeeper",), *_IDS), controller_logins_can_be),
    Rule((("security",),), certificates_have_listeners),
    Rule((("security", "control_plane"), ("zookeeper",)), control_planes_have_zookeeper),
    Rule((), _metrics_are_known),
)
