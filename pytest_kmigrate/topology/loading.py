"""Reads topology files: TOML in, a frozen Topology out, or one TopologyError with every mistake of the file."""

import copy
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_kmigrate.distributions.distribution import unpacked_at
from pytest_kmigrate.distributions.releases import known_releases
from pytest_kmigrate.model.errors import TopologyError, UnfitReleaseError, WrongUseError
from pytest_kmigrate.model.spelling import did_you_mean
from pytest_kmigrate.model.topology import (
    BrokerMode,
    LinkSpec,
    NodeSpec,
    ProbeSpec,
    Role,
    Security,
    Topology,
)
from pytest_kmigrate.topology.format import (
    CombinedTable,
    ControllerTable,
    NodeTable,
    NumberedTable,
    TopologyFile,
    json_schema,
    json_schema_text,
)
from pytest_kmigrate.topology.jars import jars_at, wrong_jars
from pytest_kmigrate.topology.mistakes import (
    KeyPath,
    Mistake,
    Tables,
    WrittenNumber,
    key_text,
    mistakes_in,
)
from pytest_kmigrate.topology.nodes import chosen_release, log_dirs_of, node_ids, node_names, role_tables
from pytest_kmigrate.topology.rules import broken_rules, default_mode, start_of
from pytest_kmigrate.topology.values import version_of

__all__ = [
    "SCHEMA",
    "SHIPPED",
    "find",
    "json_schema",
    "json_schema_text",
    "load",
    "meant_by",
    "mistakes_of",
    "parsed",
    "renamed",
    "schema_line",
    "shipped",
    "text_of",
    "under_test",
    "validated",
]

File = TypeVar("File", bound=BaseModel)

SHIPPED = Path(__file__).parents[1] / "topologies"
"""The folder of the topologies that travel with the package."""

SCHEMA = "topology.schema.json"
"""The file beside a topology that editors check and complete it by."""

_SCHEMA_LINE = "#:schema"
_NAME = re.compile(r'^name(?P<sign>\s*=\s*)(?:"[^"\n]*"|\'[^\'\n]*\')', re.MULTILINE)

_STAND_INS: dict[str, Any] = {
    "name": "nameless",
    "kafka": "3.9.1",
    "from": "broker",
    "to": "broker",
}
_ENTRY_STAND_INS: dict[str | int, Any] = {"node": {"name": "nameless"}, "link": {"from": "broker", "to": "broker"}}
_IDS_STAND_IN = 200  # and up: each entry has another one, which no server of an ensemble is above
"""What missing keys and unusable entries are taken for while the other rules are checked; never seen outside."""

_ROUNDS_OF_REPAIR = 5
_SYNTAX_ERROR = re.compile(r"(?P<what>.*) \(at (?P<where>line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)
_BARE_RELEASE = re.compile(r"\s*(?P<key>[\w.-]+)\s*=\s*(?P<release>\d+\.\d+\.[\w.-]+)")


def shipped() -> tuple[str, ...]:
    """The names of the shipped topologies, without ``.toml``."""
    return tuple(sorted(file.stem for file in SHIPPED.glob("*.toml")))


def find(name_or_path: str | Path) -> Path:
    """The file meant by a path, or by the name of a shipped topology with or without ``.toml``."""
    text = str(name_or_path)
    try:
        is_there = Path(text).is_file()
    except OSError as error:  # such as a name that is too long, or a folder that may not be entered
        raise TopologyError(text, [f"expected a topology file, got: {error.strerror}"]) from None
    if is_there:
        return Path(text)
    if text.removesuffix(".toml") in shipped():
        return SHIPPED / f"{text.removesuffix('.toml')}.toml"
    raise _no_such_file(Path(text))


def load(path: Path, kafka: str | None = None, option: str = "--kmigrate-kafka") -> Topology:
    """The topology a file describes; ``kafka``, the distribution under test, takes the place of the file's own.

    Nodes and roles that chose a version keep it. All mistakes of the file come together in one TopologyError. A
    mistake in ``kafka``, which no file holds, is a WrongUseError of the ``option`` that it came by, and a file that is
    right by itself but not with this release is an UnfitReleaseError.
    """
    text = text_of(path)
    under_test = {} if kafka is None else {"kafka": kafka}
    document, folder = parsed(path, text) | under_test, path.absolute().parent
    file, mistakes = _checked_in(folder, parsed(path, text) | under_test)
    problems = _problems(mistakes, document)
    if kafka is not None and mistakes:
        wrong_kafka = [mistake.text for mistake in mistakes if mistake.path == ("kafka",)]
        is_right_by_itself = not _checked_in(folder, parsed(path, text))[1]
        is_there = kafka in known_releases() or unpacked_at(kafka) is not None
        if wrong_kafka and not (is_right_by_itself and is_there):
            raise WrongUseError(f"{option}: {wrong_kafka[0]}")
        if is_right_by_itself:
            reason = f"{option}: {wrong_kafka[0]}" if wrong_kafka else f"{option} {kafka}: {path}: {problems[0]}"
            raise UnfitReleaseError(reason, is_general=bool(wrong_kafka))
    if file is None or mistakes:
        raise TopologyError(str(path), problems)
    return _topology(file, file.purpose or _opening_comment(text), folder)


def under_test(path: Path) -> frozenset[str]:
    """The names of the nodes that run the Kafka under test: their file chose none for them or for their role.

    Errors as of ``load``.
    """
    file, mistakes = _checked_in(path.absolute().parent, parsed(path, text_of(path)))
    if file is None or mistakes:
        raise TopologyError(str(path), _problems(mistakes, parsed(path, text_of(path))))
    return frozenset(name for name in node_names(file) if chosen_release(file, name) is None)


def _checked_in(folder: Path, document: dict[str, Any]) -> tuple[TopologyFile | None, list[Mistake]]:
    """As ``_checked``, with the jars that a file in this folder names."""
    file, mistakes = _checked(document)
    known = {mistake.path for mistake in mistakes}
    wrong = wrong_jars(file, folder) if file is not None else ()
    return file, [*mistakes, *(each for each in wrong if each.path not in known)]


def _no_such_file(path: Path) -> TopologyError:
    got = "a folder" if path.is_dir() else "something else" if path.exists() else "nothing there"
    return TopologyError(str(path), [f"expected a topology file, got {got}{meant_by(str(path))}"])


def meant_by(text: str) -> str:
    """The nearest shipped topology; all of them for a bare name that is near to none; nothing for a path."""
    is_a_name = text != "" and "/" not in text and not text.endswith(".toml")
    near = did_you_mean(Path(text).name.removesuffix(".toml"), shipped())
    return near or (f"; shipped topologies: {', '.join(shipped())}" if is_a_name else "")


def schema_line() -> str:
    """The first line of a topology file, by which an editor finds the schema beside it."""
    return f"{_SCHEMA_LINE} ./{SCHEMA}\n"


def renamed(text: str, name: str) -> str:
    """The text of a topology file with another name, and with the line of the schema."""
    lines = text.split("\n")
    own = "\n".join(lines[1:] if lines[0].startswith(_SCHEMA_LINE) else lines)
    return schema_line() + _NAME.sub(lambda match: f'name{match["sign"]}"{name}"', own, count=1)


def text_of(path: Path) -> str:
    """The text of a user's file; TopologyError when it cannot be read."""
    if not path.is_file():
        raise _no_such_file(path)
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise TopologyError(str(path), [f"line {line}: expected UTF-8 text, got other bytes"]) from None
    except OSError as error:
        raise TopologyError(str(path), [f"expected a readable file, got: {error.strerror}"]) from None


def parsed(path: Path, text: str) -> dict[str, Any]:
    """The TOML in it; TopologyError names the line that is none."""
    try:
        return tomllib.loads(text, parse_float=WrittenNumber)
    # tomllib lets through what int() and date() say of numbers out of range, and recurses on nested arrays
    except (ValueError, RecursionError) as error:
        raise TopologyError(str(path), [_syntax_problem(text, error)]) from None


def validated(of: type[File], tables: Tables, path: Path, text: str) -> File:
    """A file of other tables than a topology's; TopologyError with every mistake of it."""
    document = parsed(path, text)
    try:
        return of.model_validate(document)
    except ValidationError as error:
        raise TopologyError(str(path), _problems(mistakes_in(error, tables), document)) from None


def mistakes_of(document: Mapping[str, Any]) -> list[Mistake]:
    """All mistakes of a topology that is no file yet."""
    return _checked(copy.deepcopy(dict(document)))[1]


def _problems(mistakes: Iterable[Mistake], document: dict[str, Any]) -> list[str]:
    """Each once, with its key."""
    return list(dict.fromkeys(f"{key_text(mistake.path, document)}: {mistake.text}" for mistake in mistakes))


def _syntax_problem(text: str, error: Exception) -> str:
    match = _SYNTAX_ERROR.fullmatch(str(error))
    if match is None:
        return f"expected TOML, got a value it cannot hold: {str(error).partition(';')[0]}"
    problem = f"{match['where']}: expected TOML, got: {match['what']}"
    line = text.split("\n")[int(match["line"]) - 1] if match["line"] else ""
    bare = _BARE_RELEASE.match(line)
    return f'{problem}: write {bare["key"]} = "{bare["release"]}" in quotes' if bare else problem


def _checked(document: dict[str, Any]) -> tuple[TopologyFile | None, list[Mistake]]:
    """The file and all its mistakes; what is wrong by itself is repaired in ``document``, to find the rest too."""
    mistakes: list[Mistake] = []
    for _ in range(_ROUNDS_OF_REPAIR):
        try:
            file = TopologyFile.model_validate(document)
        except ValidationError as error:
            found = mistakes_in(error)
            known = {mistake.path for mistake in mistakes}
            mistakes += [each for each in found if each.path not in known]
            _repair(document, [each.path for each in found])
        else:
            suspects = [suspect for mistake in mistakes for suspect in mistake.suspects]
            return file, mistakes + broken_rules(file, suspects)
    return None, mistakes


def _repair(document: dict[str, Any], paths: list[KeyPath]) -> None:
    for path in paths:
        parent: Any = document
        for step in path[:-1]:
            parent = parent[step]
        key = path[-1]
        if isinstance(key, int):  # an entry of a list keeps its place, or the others would be numbered wrongly
            of_list = _IDS_STAND_IN + key if path[-2] == "ids" else _ENTRY_STAND_INS.get(path[-2], "-")
            parent[key] = copy.deepcopy(of_list)
        elif key in parent:  # if it was needed, the next round finds it missing
            del parent[key]
        else:
            parent[key] = copy.deepcopy(_STAND_INS[key])


def _opening_comment(text: str) -> str:
    lines = text.lstrip("\n").split("\n")
    comment = []
    for line in lines:
        if not line.startswith("#"):
            break
        if not line.startswith(_SCHEMA_LINE):
            comment.append(line.lstrip("#").strip())
    return " ".join(comment)


def _topology(file: TopologyFile, purpose: str, folder: Path) -> Topology:
    nodes = tuple(
        _node(file, role, table, node_id, folder) for role, table in role_tables(file) for node_id in node_ids(table)
    )
    links = (
        LinkSpec(link.source, link.destination, link.latency_ms, link.jitter_ms, link.rate_kb_per_s)
        for link in file.link
    )
    return Topology(
        name=file.name,
        purpose=purpose,
        kafka=file.kafka,
        nodes=nodes,
        links=tuple(links),
        security=_security(file, nodes),
        probe=ProbeSpec(file.probe.jmx.every_ms, tuple(file.probe.jmx.metrics or ())),
        chroot=file.zookeeper.chroot if file.zookeeper else "",
        metadata_version=file.metadata_version,
        dynamic_quorum=file.quorum == "dynamic",
    )


def _security(file: TopologyFile, nodes: Iterable[NodeSpec]) -> Security:
    """What each listener comes to, so that it makes no difference in which way a file writes it."""
    table, own, common = file.security, file.security.listeners, file.security.protocol
    authorizer = table.authorizer if _all_are_of(table.authorizer_since, nodes) else False
    return Security(
        internal=own.internal or common,
        client=own.client or common,
        controller=own.controller or common,
        authorizer=bool(authorizer),
        authorizer_class=authorizer if isinstance(authorizer, str) else None,
        extra=dict(table.extra_listeners),
        client_auth=table.client_auth == "required",
        control_plane=table.control_plane,
        controller_scram=table.controller_login != "PLAIN",
        zookeeper_login=table.zookeeper == "SASL",
        zookeeper_tls=table.zookeeper == "SSL",
        zookeeper_acls=table.zookeeper_acls,
    )


def _all_are_of(release: str | None, nodes: Iterable[NodeSpec]) -> bool:
    """Whether each broker and controller is of this release or later; so is a path that leads nowhere."""
    first = version_of(release) if release else None
    found = (version_of(node.kafka) for node in nodes if node.role is not Role.ZOOKEEPER)
    return first is None or all(version is None or version >= first for version in found)


def _node(file: TopologyFile, role: Role, table: NumberedTable, node_id: int, folder: Path) -> NodeSpec:
    name = f"{role}-{node_id}"
    own = next((node for node in file.node if node.name == name), NodeTable(name=name))
    modes = {Role.BROKER: own.mode or default_mode(file), Role.COMBINED: BrokerMode.KRAFT}
    return NodeSpec(
        name=name,
        role=role,
        node_id=node_id,
        kafka=own.kafka or table.kafka or file.kafka,
        mode=BrokerMode(modes[role]) if role in modes else None,
        start=start_of(file, role, own),
        properties={**table.properties, **own.properties},
        jvm=(*table.jvm, *own.jvm),
        heap_mb=own.heap_mb or table.heap_mb,
        log_dirs=log_dirs_of(table, own),
        metadata_disk=isinstance(table, CombinedTable | ControllerTable) and table.metadata_disk,
        jars=jars_at((*table.jars, *own.jars), folder),
    )
