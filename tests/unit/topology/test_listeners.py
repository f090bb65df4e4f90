"""Listeners in topology files: each may have a protocol of its own, ``protocol`` is that of the others."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Listener, Security, Topology
from pytest_kmigrate.topology import loading as topology_file

WITHOUT_CONTROLLERS = 'name = "x"\npurpose = "Why."\nkafka = "3.9.1"\n[zookeeper]\ncount = 1\n[broker]\ncount = 3\n'
MIGRATABLE = WITHOUT_CONTROLLERS + "[controller]\ncount = 1\n"
NOBODYS = "expected a [controller] table, whose listener this is, got none: leave it out"
LISTENERS = "internal, client, controller"
PROTOCOLS = '"PLAINTEXT", "SSL", "SASL_PLAINTEXT" or "SASL_SSL"'


def loaded(folder: Path, text: str) -> Topology:
    """The topology of a file with this text."""
    file = folder / "shape.toml"
    file.write_text(text)
    return topology_file.load(file)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", Security()),
        ('[security]\nprotocol = "SSL"\n', Security("SSL", "SSL", "SSL")),
        ('[security.listeners]\nclient = "SASL_SSL"\n', Security(client="SASL_SSL")),
        (
            '[security]\nprotocol = "SASL_SSL"\nlisteners = { internal = "PLAINTEXT", controller = "SSL" }\n',
            Security("PLAINTEXT", "SASL_SSL", "SSL"),
        ),
    ],
)
def test_a_listener_without_a_protocol_of_its_own_has_that_of_all(
    tmp_path: Path, table: str, expected: Security
) -> None:
    """Each key is of one listener, and none of them touches another."""
    assert loaded(tmp_path, MIGRATABLE + table).security == expected


def test_protocols_are_told_by_the_names_that_kafka_knows() -> None:
    """Each listener's protocol stands under that listener's name, in the order of the keys."""
    protocols = Security("SSL", "SASL_SSL", "SASL_PLAINTEXT").protocols
    assert list(protocols.items()) == [
        (Listener.INTERNAL, "SSL"),
        (Listener.CLIENT, "SASL_SSL"),
        (Listener.CONTROLLER, "SASL_PLAINTEXT"),
    ]


def test_the_digest_is_that_of_what_it_comes_to(tmp_path: Path) -> None:
    """Two ways to say the same are one topology; another protocol of any one listener is another."""
    one = loaded(tmp_path, MIGRATABLE + '[security.listeners]\nclient = "SASL_SSL"\n')
    tables = [
        '[security]\nprotocol = "SASL_SSL"\n[security.listeners]\ninternal = "PLAINTEXT"\ncontroller = "PLAINTEXT"\n',
        "",
        '[security]\nprotocol = "SASL_SSL"\n',
        *(f'[security.listeners]\nclient = "SASL_SSL"\n{other} = "SASL_SSL"\n' for other in ("internal", "controller")),
    ]
    same, *others = (loaded(tmp_path, MIGRATABLE + table).digest() for table in tables)
    assert one.digest() == same
    assert len({same, *others}) == 5


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            MIGRATABLE + '[security]\nprotocol = "sasl-ssl"\n',
            f'security.protocol: expected {PROTOCOLS}, got "sasl-ssl"; did you mean "SASL_SSL"?',
        ),
        (
            MIGRATABLE + '[security.listeners]\ncontroller = "TLS"\n',
            f'security.listeners.controller: expected {PROTOCOLS}, got "TLS"',
        ),
        (
            MIGRATABLE + '[security.listeners]\nCLIENTS = "SSL"\n',
            f'security.listeners.CLIENTS: expected one of {LISTENERS}; got an unknown key; did you mean "client"?',
        ),
        (MIGRATABLE + '[security]\nlisteners = "SSL"\n', 'security.listeners: expected a table, got "SSL"'),
        (
            WITHOUT_CONTROLLERS + '[security.listeners]\ncontroller = "SSL"\n',
            f"security.listeners.controller: {NOBODYS}",
        ),
    ],
)
def test_a_mistake_is_told_once_in_these_words(tmp_path: Path, text: str, problem: str) -> None:
    """The key, what was expected, what was found and what was probably meant, small letters or not."""
    with pytest.raises(TopologyError) as raised:
        loaded(tmp_path, text)
    assert raised.value.problems == (problem,)
