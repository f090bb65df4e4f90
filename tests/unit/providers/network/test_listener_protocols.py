"""Listeners of one cluster with different protocols: each gets what its own needs, and nothing of another's."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from pytest_kmigrate.model.topology import BrokerMode, Role, Security, SecurityProtocol, Topology
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.properties import node_properties
from pytest_kmigrate.providers.owned.protection.security import Protection, client_file, protect
from tests.unit.fakes import topology

PLAIN: SecurityProtocol = "PLAINTEXT"
PROTOCOLS: tuple[SecurityProtocol, ...] = get_args(SecurityProtocol)
EVERY_SECURITY = [Security(*protocols, authorizer=True) for protocols in product(PROTOCOLS, repeat=3)]
EVERY_MODE = [("broker-0", BrokerMode.ZOOKEEPER), ("broker-0", BrokerMode.KRAFT), ("controller-3000", None)]


def shaped(security: Security) -> Topology:
    """A small cluster with this security."""
    return replace(topology(), security=security)


def protected(security: Security, folder: Path) -> Protection:
    """The protection of such a cluster, its files made."""
    return protect(Addresses(shaped(security), 7), folder)


def nodes(security: Security) -> list[dict[str, str]]:
    """What a broker in each mode and a controller start with."""
    shape = shaped(security)
    protection = Protection(security, Path("security"))
    return [
        node_properties(Addresses(shape, 7), protection, shape.node(name), mode, Path("disk"), {})
        for name, mode in EVERY_MODE
    ]


def test_whoever_dials_a_listener_gets_what_its_protocol_needs() -> None:
    """In all 64 combinations a listener's login is configured where it has one, and TLS where any listener has it."""
    for security in EVERY_SECURITY:
        for made in nodes(security):
            reported = dict(each.split(":") for each in made["listener.security.protocol.map"].split(","))
            assert reported == {listener.value: protocol for listener, protocol in security.protocols.items()}
            for listener, protocol in security.protocols.items():
                logins = [key for key in made if key.startswith(f"listener.name.{listener.lower()}.") and "jaas" in key]
                assert len(logins) == ("SASL" in protocol)
            assert ("ssl.keystore.location" in made) == ("ssl.truststore.location" in made)
            assert ("ssl.keystore.location" in made) == bool({"SSL", "SASL_SSL"} & set(reported.values()))


@pytest.mark.parametrize(
    ("security", "mechanisms"),
    [
        (Security(internal="SASL_PLAINTEXT"), {"sasl.mechanism.inter.broker.protocol", "sasl.enabled.mechanisms"}),
        (Security(client="SASL_SSL"), {"sasl.enabled.mechanisms"}),
        (
            Security(controller="SASL_SSL"),
            {"sasl.mechanism.controller.protocol", "listener.name.controller.sasl.enabled.mechanisms"},
        ),
    ],
)
def test_mechanisms_are_named_for_whoever_logs_in_there(security: Security, mechanisms: set[str]) -> None:
    """SCRAM between brokers and for clients, PLAIN at controllers, each without the other."""
    for made in nodes(security):
        assert {key for key in made if "mechanism" in key} == mechanisms


@pytest.mark.parametrize(
    ("security", "superusers"),
    [
        (Security(), "User:ANONYMOUS"),
        (Security("SSL", "SSL", "SSL"), "User:ANONYMOUS"),
        (Security("SASL_SSL", "SASL_PLAINTEXT", "SASL_SSL"), "User:admin"),
        (Security(client="SASL_SSL"), "User:ANONYMOUS;User:admin"),
        (Security("SASL_SSL", "SASL_SSL", PLAIN), "User:ANONYMOUS;User:admin"),
        (Security("SSL", PLAIN, "SASL_PLAINTEXT"), "User:ANONYMOUS;User:admin"),
    ],
)
def test_a_node_is_a_superuser_under_every_name_it_comes_by(security: Security, superusers: str) -> None:
    """Who need not log in is anonymous, TLS or not; ACLs must let a node in at each listener that it dials."""
    assert {made["super.users"] for made in nodes(replace(security, authorizer=True))} == {superusers}


@pytest.mark.slow
def test_files_are_made_where_they_are_needed(tmp_path: Path) -> None:
    """Certificates where a listener speaks TLS; the first credential where brokers or clients log in by SCRAM."""
    for number, security in enumerate(EVERY_SECURITY):
        folder = tmp_path / str(number)
        protection = protected(security, folder)
        arguments = [protection.format_arguments(), protection.scram_in_zookeeper("127.7.0.1:2181")]
        assert [bool(each) for each in arguments] == ["SASL" in security.internal + security.client] * 2
        protocols = set(security.protocols.values())
        assert (folder / "broker-0.pem").exists() == bool({"SSL", "SASL_SSL"} & protocols)
        assert folder.exists() == (protocols != {PLAIN})


@pytest.mark.parametrize("client", PROTOCOLS)
def test_tokens_are_signed_where_clients_log_in(tmp_path: Path, client: SecurityProtocol) -> None:
    """An anonymous client can have no token, whatever the nodes among themselves do."""
    others: SecurityProtocol = PLAIN if "SASL" in client else "SASL_SSL"
    protection = protected(Security(others, client, others), tmp_path / "security")
    made = protection.node_properties(topology().of_role(Role.BROKER)[0])
    assert ("delegation.token.secret.key" in made) == ("SASL" in client)


@pytest.mark.parametrize(
    ("client", "clients", "tools"),
    [
        (PLAIN, set(), set()),
        (
            "SSL",
            {"ssl.ca.location", "ssl.endpoint.identification.algorithm"},
            {"ssl.truststore.type", "ssl.truststore.location"},
        ),
        (
            "SASL_PLAINTEXT",
            {"sasl.mechanism", "sasl.username", "sasl.password"},
            {"sasl.mechanism", "sasl.jaas.config"},
        ),
    ],
)
def test_clients_and_tools_go_by_their_own_listener(
    tmp_path: Path, client: SecurityProtocol, clients: set[str], tools: set[str]
) -> None:
    """Trust without a login, a login without trust, or neither, whatever nodes speak among themselves."""
    protection = protected(Security("SASL_SSL", client, "SASL_SSL"), tmp_path / "security")
    for reported, more in ((protection.client_properties(), clients), (protection.tool_properties(), tools)):
        assert reported.get("security.protocol", PLAIN) == client
        assert set(reported) - {"security.protocol"} == more
    assert (client_file(protection, tmp_path) is None) == (client == PLAIN)
