"""Reader of properties files: brokers and controllers (``server.properties``) and ZooKeeper servers (``zoo.cfg``)."""

import re
from collections.abc import Iterator, Sequence

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing.found import Found, FoundNode, Notes, Origin, Setting
from pytest_kmigrate.topology.importing.names import (
    BROKER_ID,
    LISTENERS,
    LOG_DIR,
    LOG_DIRS,
    NODE_ID,
    PROCESS_ROLES,
    ZOOKEEPER_CONNECT,
    roles_in,
)
from pytest_kmigrate.topology.importing.sources import Source

KIND = "properties"
_OF_NODES = (NODE_ID, BROKER_ID, PROCESS_ROLES, ZOOKEEPER_CONNECT, LOG_DIRS, LOG_DIR, LISTENERS)
_OF_ZOOKEEPER = ("dataDir", "clientPort", "secureClientPort", "initLimit")
_OF_OTHERS = ("bootstrap.servers", "group.id", "connector.class", "rest.port", "log4j.rootLogger", "rootLogger.level")
_SERVER = re.compile(r"server\.(\d+)")
_LINE = re.compile(r"(?P<name>(?:\\.|[^\\\s=:])+)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def is_one(source: Source) -> bool:
    """Whether a file is that of a broker, a controller or a ZooKeeper server."""
    names = dict(_lines(source.text))
    is_of_others = any(name in names for name in _OF_OTHERS) and PROCESS_ROLES not in names
    return not is_of_others and any(name in names for name in (*_OF_NODES, *_OF_ZOOKEEPER))


def found_in(sources: Sequence[Source]) -> Found:
    """One node for each file; of ZooKeeper one for each server that a file names."""
    notes = Notes()
    nodes: list[FoundNode] = []
    zookeepers: list[tuple[Source, dict[str, Setting]]] = []
    for source in sources:
        settings = _settings(source, notes)
        if not settings:
            raise TopologyError(source.path, ["expected settings, one name=value a line, got none"])
        if not any(name in settings for name in _OF_NODES):
            zookeepers.append((source, settings))
        else:
            nodes.append(_node(source, settings))
    return Found(KIND, (*_servers(zookeepers, notes), *nodes), None, tuple(notes.left), tuple(notes.assumed))


def _node(source: Source, settings: dict[str, Setting]) -> FoundNode:
    roles = settings.get(PROCESS_ROLES)
    role = roles_in(roles) if roles else Role.BROKER
    own = settings.get(NODE_ID) or settings.get(BROKER_ID)
    return FoundNode(role, Origin(source.path, ""), settings, own)


def _servers(files: Sequence[tuple[Source, dict[str, Setting]]], notes: Notes) -> Iterator[FoundNode]:
    """The ensemble: the servers that the files list, or a file each where none lists any."""
    listed: dict[int, tuple[Setting, dict[str, Setting]]] = {}
    for source, settings in files:
        if "dynamicConfigFile" in settings:
            text = "expected the servers of the ensemble in this file, got the name of another: give the lines server.N"
            raise TopologyError(source.path, [f"dynamicConfigFile: {text}, which that file has, in this one"])
        for name, setting in settings.items():
            match = _SERVER.fullmatch(name)
            if match and setting.value.endswith(":observer"):
                notes.leave(setting.origin, "observers of ZooKeeper are not offered")
            elif match:
                listed.setdefault(int(match[1]), (setting, settings))
    for number, (setting, settings) in sorted(listed.items()):
        own = {name: each for name, each in settings.items() if not _SERVER.fullmatch(name)}
        yield FoundNode(Role.ZOOKEEPER, setting.origin, own, Setting(str(number), setting.origin))
    for source, settings in files:
        if not listed:
            yield FoundNode(Role.ZOOKEEPER, Origin(source.path, ""), settings)


def _settings(source: Source, notes: Notes) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for name, value in _lines(source.text):
        setting = Setting(value, Origin(source.path, name))
        before = settings.get(name)
        if before and before.value != value and name in (NODE_ID, BROKER_ID, PROCESS_ROLES):
            text = f"expected one value, got it twice, as {before.value!r} and {value!r}: leave one line"
            raise TopologyError(source.path, [f"{name}: {text}"])
        if before and before.value != value:
            notes.assume(name, f"{source.path} has it twice; Kafka takes the last one")
        settings[name] = setting
    return settings


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Names and values as Java reads them: escapes, lines that go on, three ways to divide a line."""
    for logical in _logical_lines(text):
        match = _LINE.fullmatch(logical)
        if match:
            yield _unescaped(match["name"]), _unescaped(match["value"]).strip()


def _logical_lines(text: str) -> Iterator[str]:
    whole = ""
    for line in text.split("\n"):
        stripped = line.lstrip(" \t\f")
        if not whole and (not stripped or stripped[0] in "#!"):
            continue
        whole += stripped
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            whole = whole[:-1]
            continue
        yield whole
        whole = ""
    if whole:
        yield whole


def _unescaped(text: str) -> str:
    def meant(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(meant, text)
