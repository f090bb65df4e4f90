"""Topology files of any content: a topology or a TopologyError, never anything else."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology import loading as topology_file
from pytest_kmigrate.topology.format import (
    BrokerTable,
    CombinedTable,
    LinkTable,
    ListenersTable,
    SecurityTable,
    TopologyFile,
    keys_of,
)

KEYS = st.sampled_from(
    [
        *keys_of(TopologyFile),
        *keys_of(BrokerTable),
        *keys_of(CombinedTable),
        *keys_of(LinkTable),
        *keys_of(SecurityTable),
        *keys_of(ListenersTable),
        "start",
        "chroot",
        "log.dirs",
        "jmx",
        "default.replication.factor",
        "inter.broker.protocol.version",
        "min.insync.replicas",
        "listeners",
        "odd",
    ]
)
SCALARS = st.one_of(
    st.sampled_from(
        ["3.9.1", "4.0.0", "kraft", "zookeeper", "broker", "broker-1", "at-once", "x", "3", "", "/kafka", "SASL"]
    ),
    st.integers(-3, 4000),
    st.booleans(),
    st.floats(),
    st.text(max_size=5),
)
VALUES: st.SearchStrategy[object] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=30
)


def as_toml(value: object) -> str:
    """A value as inline TOML."""
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(as_toml, value)) + "]"
        case str():
            return json.dumps(value)
        case _:
            return str(value)


def with_odd_values(changes: dict[tuple[str, str], object]) -> dict[str, object]:
    """A good document with some keys of its tables changed."""
    document: dict[str, dict[str, object]] = {
        "zookeeper": {"count": 1},
        "broker": {"count": 3},
        "controller": {"count": 1},
        "combined": {"count": 1},
        "security": {},
    }
    for (table, key), value in changes.items():
        document[table][key] = value
    changed = {table for table, _ in changes}
    document.pop("zookeeper" if "combined" in changed else "combined")  # a cluster has one or the other
    return {"name": "x", "kafka": "3.9.1", **document}


TABLES = st.sampled_from(["zookeeper", "broker", "combined", "controller", "security"])
NEARLY_GOOD = st.dictionaries(st.tuples(TABLES, KEYS), VALUES, max_size=4).map(with_odd_values)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all examples: each writes its file anew."""
    return tmp_path_factory.mktemp("any")


@settings(max_examples=300)
@given(document=st.dictionaries(KEYS, VALUES, max_size=8) | NEARLY_GOOD)
@pytest.mark.slow
def test_any_document_loads_or_is_refused_by_name(document: dict[str, object], folder: Path) -> None:
    """Whatever the keys and values, the loader gives a topology or a TopologyError, nothing else."""
    file = folder / "shape.toml"
    file.write_text("\n".join(f"{json.dumps(key)} = {as_toml(value)}" for key, value in document.items()))
    with contextlib.suppress(TopologyError):
        topology_file.load(file)


@settings(max_examples=200)
@given(content=st.binary(max_size=200))
def test_any_bytes_load_or_are_refused_by_name(content: bytes, folder: Path) -> None:
    """Whatever bytes a file holds, the loader gives nothing but a TopologyError."""
    file = folder / "shape.toml"
    file.write_bytes(content)
    with pytest.raises(TopologyError):
        topology_file.load(file)
