"""Which properties a topology takes over as they are, and why it leaves the others."""

import re
from collections.abc import Mapping

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.redaction import is_sensitive
from pytest_kmigrate.topology.importing import names
from pytest_kmigrate.topology.importing.found import Setting

_SECURITY = "[security]"
STANDS_FOR: Mapping[str, str] = {
    names.NODE_ID: "ids",
    names.BROKER_ID: "ids",
    names.PROCESS_ROLES: "[combined], [controller] or mode",
    names.VOTERS: "[controller]",
    names.BOOTSTRAP_CONTROLLERS: "quorum",
    names.ZOOKEEPER_CONNECT: "[zookeeper]",
    names.MIGRATION: "controller.start",
    names.LOG_DIRS: "log_dirs",
    names.LOG_DIR: "log_dirs",
    names.METADATA_DIR: "metadata_disk",
    names.LISTENERS: _SECURITY,
    names.PROTOCOLS: _SECURITY,
    names.INTER_BROKER: _SECURITY,
    names.INTER_BROKER_PROTOCOL: _SECURITY,
    names.CONTROLLER_LISTENERS: _SECURITY,
    names.CONTROL_PLANE: _SECURITY,
    names.AUTHORIZER: "security.authorizer",
    names.MECHANISMS: _SECURITY,
    names.MECHANISM_OF_BROKERS: _SECURITY,
    names.MECHANISM_OF_CONTROLLERS: "security.controller_login",
    names.CLIENT_AUTH: _SECURITY,
    names.ZOOKEEPER_TLS: "security.zookeeper",
    names.ZOOKEEPER_ACLS: "security.zookeeper_acls",
}
"""Properties in whose place a topology has keys of its own."""
_LOGIN_AT_ZOOKEEPER = re.compile(r"authProvider\..*")
_OF_LISTENER = re.compile(r"listener\.name\.[^.]+\.(sasl\.enabled\.mechanisms|ssl\.client\.auth)")
_CARRIED = re.compile(
    r"default\.replication\.factor|min\.insync\.replicas|num\.partitions|compression\.type|message\.max\.bytes"
    r"|offsets\.topic\.replication\.factor|transaction\.state\.log\.(replication\.factor|min\.isr)|broker\.rack"
    r"|inter\.broker\.protocol\.version|allow\.everyone\.if\.no\.acl\.found|auto\.leader\.rebalance\.enable"
    r"|leader\.imbalance\..*|replica\.fetch\.(max|response\.max)\.bytes|socket\.request\.max\.bytes"
    r"|log\.(segment\.bytes|roll\..*|flush\..*|index\..*|preallocate|segment\.delete\.delay\.ms)"
    r"|log\.message\.(timestamp\..*|downconversion\.enable)|offset\.metadata\.max\.bytes|offsets\.retention\..*"
    r"|(producer\.id|transactional\.id)\.expiration\.ms|reserved\.broker\.max\.id|broker\.id\.generation\.enable"
    r"|metadata\.(log\.(segment|max)\..*|max\..*)"
)
_OF_ZOOKEEPER = re.compile(r"autopurge\..*|snapCount|preAllocSize")
_ONLY_AS = {
    "unclean.leader.election.enable": "false",
    "auto.create.topics.enable": "false",
    "delete.topic.enable": "true",
}
_WHY_ONLY = {
    "unclean.leader.election.enable": "records may be lost by it, and verdicts expect none to be lost",
    "auto.create.topics.enable": "clients of a run would create topics again that it deleted",
    "delete.topic.enable": "a run deletes topics of its own",
}
_ADDRESSES = "addresses here are of the loopback"
_PATHS = "a path of your machines"
_JARS = "reporters and Confluent's own features need jars that are not here"
_CLASSES = "a class of jars that are not here: name them with jars"
_LOGINS = "logins and certificates here are made for each cluster"
_RECORDS = "records must stay until the run has read them"
_SIZES = "sized for this machine here"
_CLIENTS = "clients of a run choose their own"
_DEADLINES = "deadlines of the checks fit Kafka's defaults"
_WHYS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), why)
    for pattern, why in (
        (
            r"advertised\.(listeners|host\.name|port)|host\.name|port|.*\.(host|port|url)|.*bootstrap\.servers",
            _ADDRESSES,
        ),
        (r"(secureC|c)lientPort.*|servers?(\.\d+)?|quorum(Listen|Port).*|admin\..*|electionPort.*", _ADDRESSES),
        (r"num\.recovery\.threads\.per\.data\.dir", _SIZES),
        (r".*\.(dirs?|location|path|file|filename)|dataDir|dataLogDir|config\.providers.*", _PATHS),
        (r"confluent\..*|metric(s\.|\.reporters).*|kafka\.metrics\..*|.*telemetry.*|cruise\.control\..*", _JARS),
        (r"auto\.include\.jmx\.reporter|remote\.log\..*|r[ls]m\..*", _JARS),
        (r"super\.users", "a cluster here has logins of its own"),
        (
            r"requireClientAuthScheme|sessionRequire.*|enforce\.auth.*|(ssl|sasl|jaas).*|zookeeper\.(ssl|sasl|client).*",
            _LOGINS,
        ),
        (r"(listener\.name\..*\.)?(sasl|ssl|security|principal)\..*|password\..*|delegation\.token\..*", _LOGINS),
        (r".*\.class(\.name|es|path)?|.*interceptor.*|.*\.classname|quota\.callback.*", _CLASSES),
        (r"log\.(retention|cleanup|cleaner)\..*|log\.message\.format\.version|delete\.records\..*", _RECORDS),
        (r"(num|background|queued|socket|connections)\..*|offsets\..*|transaction\.state\.log\..*", _SIZES),
        (r"max\.connection.*|maxClientCnxns|replica\.(fetch|socket).*", _SIZES),
        (r"(group|consumer|share|transaction|transactional|producer|max\.incremental|fetch)\..*", _CLIENTS),
        (r".*\.(ms|seconds|minutes|hours)|.*timeout.*|tickTime|(init|sync)Limit|(min|max)SessionTimeout", _DEADLINES),
    )
)
"""The first that fits counts."""


def why_left(name: str, setting: Setting, role: Role) -> str:
    """Why a property is not taken over; empty for one that is, or that other keys stand for."""
    if is_sensitive(name) or is_sensitive(name.replace("_", ".")):
        return "secret"
    if stands_for(name):
        return ""
    if names.is_placeholder(setting.value):
        return "a placeholder that was not filled in"
    if name in _ONLY_AS:
        return "" if setting.value.lower() == _ONLY_AS[name] else _WHY_ONLY[name]
    if (_OF_ZOOKEEPER if role is Role.ZOOKEEPER else _CARRIED).fullmatch(name):
        return ""
    return next(
        (why for pattern, why in _WHYS if pattern.fullmatch(name)), "not among the properties that are taken over"
    )


def stands_for(name: str) -> str:
    """The key that a topology has in place of a property; empty for one that it takes over as it is, or leaves."""
    if _LOGIN_AT_ZOOKEEPER.fullmatch(name):
        return STANDS_FOR[names.ZOOKEEPER_TLS]
    return STANDS_FOR.get(name, _SECURITY if _OF_LISTENER.fullmatch(name) else "")
