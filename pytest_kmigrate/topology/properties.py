"""Rules of properties: which of them the provider sets, and what the values of others have to fit.

A property that decides what the product itself must know (addresses, ids, disks, logins) is refused with the key of the
file that does the same. ``authorizer.class.name`` and ``super.users`` are understood as they are.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.format import TopologyFile
from pytest_kmigrate.topology.mistakes import KeyPath, Mistake, shown
from pytest_kmigrate.topology.nodes import count_of_brokers, node_ids, role_tables

REPLICATION_FACTORS = frozenset({
    "default.replication.factor", "offsets.topic.replication.factor", "transaction.state.log.replication.factor",
})  # fmt: skip
MOST_DIGITS = 10
LARGEST_RESERVED_ID = 1000
"""Kafka's default of ``reserved.broker.max.id``."""
_NOT_OFFERED = ("GSSAPI", "Krb5", "OAUTHBEARER", "PLAIN")
"""How a file may have clients log in and this product does not."""
_PROPERTY_NAME = re.compile(r"[A-Za-z0-9._-]+")
_ANOTHER_LINE = re.compile(r"[\x00\r\n]")
_CHROOT = re.compile(r"[^/]*(?P<chroot>/.+)")


@dataclass(frozen=True)
class _Owned:
    """Properties that the provider sets; ``advice`` is made of the table's name and the value that was found."""

    names: re.Pattern[str]
    advice: Callable[[str, str], str]


def _leave_out(why: str) -> Callable[[str, str], str]:
    return lambda _table, _value: f"leave it out ({why})"


def _chroot(_table: str, value: str) -> str:
    found = _CHROOT.fullmatch(value)
    return f"write chroot = {shown(found['chroot'])} in [zookeeper]" if found else "leave it out: [zookeeper] makes it"


def _log_dirs(table: str, value: str) -> str:
    several = value.count(",") + 1
    return f"write log_dirs = {several} in [{table}]" if several > 1 else "leave it out (each node has its own disk)"


def _metadata_disk(table: str, _value: str) -> str:
    if table not in (Role.CONTROLLER, Role.COMBINED):
        return "leave it out (of brokers the metadata log is in the first log directory)"
    return f"write metadata_disk = true in [{table}]"


def _login(_table: str, value: str) -> str:
    other = next((each for each in _NOT_OFFERED if each.lower() in value.lower()), None)
    if other is not None:
        return f"leave it out (clients log in by SCRAM-SHA-512: {other} is not offered)"
    return 'write protocol = "SASL_SSL" or "SASL_PLAINTEXT" in [security]'


_OWNED = (
    _Owned(re.compile(r"zookeeper\.connect"), _chroot),
    _Owned(re.compile(r"log\.dirs?"), _log_dirs),
    _Owned(re.compile(r"metadata\.log\.dir"), _metadata_disk),
    _Owned(re.compile(r"broker\.id|node\.id"), lambda table, _: f"write ids, or first_id, in [{table}]"),
    _Owned(re.compile(r"process\.roles"), lambda *_: "write [combined] for nodes that are broker and controller"),
    _Owned(
        re.compile(r"controller\.quorum\.(voters|bootstrap\.servers)"),
        lambda *_: 'leave it out ([controller] or [combined] makes it; for voters in the log write quorum = "dynamic")',
    ),
    _Owned(
        re.compile(
            r"(advertised\.)?listeners|listener\.security\.protocol\.map|inter\.broker\.listener\.name"
            r"|controller\.listener\.names|security\.inter\.broker\.protocol"
        ),
        lambda *_: "write protocol, listeners or extra_listeners in [security]",
    ),
    _Owned(
        re.compile(r"zookeeper\.set\.acl"),
        lambda *_: 'write zookeeper = "SASL" or "SSL" and zookeeper_acls = true in [security]',
    ),
    _Owned(
        re.compile(r"authProvider\..*|requireClientAuthScheme|sessionRequireClientSASLAuth|enforce\.auth\..*"),
        lambda *_: 'write zookeeper = "SASL" in [security]',
    ),
    _Owned(
        re.compile(r"zookeeper\.(ssl\..*|clientCnxnSocket)|secureClientPort.*|serverCnxnFactory"),
        lambda *_: 'write zookeeper = "SSL" in [security]',
    ),
    _Owned(
        re.compile(r"(ssl\.quorum|sslQuorum).*"),
        _leave_out("TLS among ZooKeeper servers is not offered"),
    ),
    _Owned(
        re.compile(r"(listener\.name\..+\.)?ssl\.client\.auth"),
        lambda _, value: f'write client_auth = "{"required" if value == "required" else "none"}" in [security]',
    ),
    _Owned(
        re.compile(
            r"(listener\.name\..+\.)?sasl\.mechanism\.controller\.protocol|listener\.name\.controller\.sasl\..*"
        ),
        lambda *_: 'write controller_login = "PLAIN" or "SCRAM-SHA-512" in [security]; no other way is offered',
    ),
    _Owned(
        re.compile(r"(listener\.name\..+\.)?sasl\.(kerberos|oauthbearer)\..*"),
        _leave_out("logins are by SCRAM, and at controllers by PLAIN or SCRAM: others are not offered"),
    ),
    _Owned(
        re.compile(r"(listener\.name\..+\.)?sasl\.(login\..*|(client|server)\.callback\.handler\.class)"),
        _leave_out("clients and nodes log in by Kafka's own classes"),
    ),
    _Owned(re.compile(r"(listener\.name\..+\.)?sasl\.(enabled\.mechanisms|jaas\.config|mechanism\..*)"), _login),
    _Owned(
        re.compile(r"(listener\.name\..+\.)?ssl\.((keystore|truststore)\..*|key\.password)"),
        lambda *_: (
            'leave it out: a listener with TLS (protocol = "SSL" or "SASL_SSL" in [security]) gets stores of its own'
        ),
    ),
    _Owned(
        re.compile(r"(listener\.name\..+\.)?principal\.builder\.class"),
        _leave_out("superusers are named by Kafka's own builder"),
    ),
    _Owned(
        re.compile(r"control\.plane\.listener\.name"),
        lambda *_: 'write control_plane = "PLAINTEXT", or another protocol, in [security]',
    ),
    _Owned(re.compile(r"auto\.include\.jmx\.reporter"), _leave_out("probes read metrics by JMX")),
    _Owned(re.compile(r"4lw\.commands\.whitelist"), _leave_out("four-letter words show whether a server serves")),
    _Owned(re.compile(r"clientPort(Address)?|dataDir|dataLogDir|server\.\d+"), _leave_out("[zookeeper] makes it")),
)


def properties_of(file: TopologyFile) -> Iterator[tuple[KeyPath, str, str]]:
    """Every property: its path, name and value."""
    for role, table in role_tables(file):
        for name, value in table.properties.items():
            yield (role.value, "properties", name), name, value
    for number, node in enumerate(file.node):
        for name, value in node.properties.items():
            yield ("node", number, "properties", name), name, value


def are_one_line_each(file: TopologyFile) -> Iterator[Mistake]:
    """In a file of properties, anything else would be another name, or a property more."""
    for path, name, value in properties_of(file):
        if not _PROPERTY_NAME.fullmatch(name):
            yield Mistake(path, f"expected a name of letters, digits, dots, dashes and underscores, got {shown(name)}")
        if _ANOTHER_LINE.search(value):
            yield Mistake(path, f"expected a value of one line, got {shown(value)}")


def provider_keeps_its_own(file: TopologyFile) -> Iterator[Mistake]:
    """No file sets what makes nodes a cluster: they would bypass their links, or not find each other."""
    for path, name, value in properties_of(file):
        owned = next((each for each in _OWNED if each.names.fullmatch(name)), None)  # the narrower names stand first
        if owned is not None:
            advice = owned.advice(_table_of(path, file), value)
            yield Mistake(path, f"expected nothing, because the provider sets it, got {shown(value)}: {advice}")


def _table_of(path: KeyPath, file: TopologyFile) -> str:
    """The table of the role that a property is of."""
    return file.node[path[1]].name.partition("-")[0] if isinstance(path[1], int) else str(path[0])


def ids_are_allowed(file: TopologyFile) -> Iterator[Mistake]:
    """Kafka reserves ids up to a limit for those that are given: a limit in the file must be above all of them."""
    highest = max(node_ids(file.broker), default=0)
    if file.zookeeper is None or file.broker is None or highest <= LARGEST_RESERVED_ID:
        return
    for path, name, value in properties_of(file):
        generates = file.broker.properties.get("broker.id.generation.enable", "true") != "false"
        if name == "reserved.broker.max.id" and generates and (_whole_number(value) or 0) < highest:
            text = f"expected at least {highest}, the highest id of a broker, got {shown(value)}"
            yield Mistake(path, f"{text}: leave it out, and it is that")


def _whole_number(text: str) -> int | None:
    """The number a property holds; None if it is none, or longer than any that Kafka takes."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


def replication_fits(file: TopologyFile) -> Iterator[Mistake]:
    """No topic asks for more brokers than there are."""
    brokers = count_of_brokers(file)
    for path, name, value in properties_of(file):
        if name not in REPLICATION_FACTORS:
            continue
        number = _whole_number(value)
        if number is None:
            yield Mistake(path, f"expected a whole number in quotes, got {shown(value)}")
        elif number > brokers:
            yield Mistake(path, f"expected at most {brokers}, the count of brokers, got {shown(value)}")


def enough_replicas_for_a_write(file: TopologyFile) -> Iterator[Mistake]:
    """A topic has at least as many replicas as a write needs."""
    for role, table in role_tables(file):
        if role not in (Role.BROKER, Role.COMBINED):
            continue
        factor = _whole_number(table.properties.get("default.replication.factor", "")) or count_of_brokers(file)
        value = table.properties.get("min.insync.replicas", "1")
        least = _whole_number(value)
        path = (role.value, "properties", "min.insync.replicas")
        if least is None:
            yield Mistake(path, f"expected a whole number in quotes, got {shown(value)}")
        elif least > factor:
            text = f"expected at most {factor}, the default.replication.factor, got {shown(value)}"
            yield Mistake(path, f"{text}: every write would fail")
