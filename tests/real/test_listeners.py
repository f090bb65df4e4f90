"""Listeners with protocols of their own on real Kafka: each speaks its own to everybody, and the cluster migrates."""

from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.topology import Role, SecurityProtocol
from pytest_kmigrate.running import Run
from pytest_kmigrate.running.images import BROKERS, LOG, ZOOKEEPER
from pytest_kmigrate.wire.admin import cluster_at
from pytest_kmigrate.wire.tokens import logged_in_by
from tests.real.protected import known_tokens, ran, refused, spoken

SCRAM = {"INTERNAL": "SCRAM-SHA-512", "CLIENT": "SCRAM-SHA-512", "CONTROLLER": "PLAIN"}
ELSEWHERE = [("SASL_SSL", "PLAINTEXT", "SASL_PLAINTEXT"), ("SSL", "SASL_PLAINTEXT", "SASL_SSL")]
ELSEWHERE += [("SASL_PLAINTEXT", "SSL", "SSL")]
SHIPPED = ("PLAINTEXT", "SASL_SSL", "PLAINTEXT")
"""Those of zk1-broker3-controller3-sasl-clients."""
SMALL = """
name = "zk1-broker2-controller1-listeners"
purpose = "Listeners of different protocols, as few nodes as still talk over each of them."
kafka = "3.9.1"
zookeeper.count = 1
broker.count = 2
controller.count = 1
security.authorizer = true
[security.listeners]
"""


def test_clients_log_in_over_tls_while_nodes_talk_in_plain(tmp_path: Path) -> None:
    """From ZOOKEEPER to FINALIZED: all metadata arrives, and what clients do by a login goes on over plain listeners.

    In dual write brokers hand changes of every family on to the controller, who knows them by no name; in KRaft mode
    everybody who has a token still gets in, and a client without one, or in plain text, does not.
    """

    def migrate(run: Run) -> None:
        run.metadata.fill()
        run.driver.advance_to(Phase.HYBRID)
        assert spoken(run) == expected(SHIPPED)
        run.metadata.settle("copied", (LOG, ZOOKEEPER, BROKERS))
        with run.metadata.changing("changed"):
            run.traffic.await_acked(100)
        run.driver.advance_to(Phase.FINALIZED)
        assert spoken(run) == expected(SHIPPED)
        for node in run.cluster.nodes(Role.BROKER):
            peer, tokens = run.cluster.peer(node.name), known_tokens(run).values()
            assert [cluster_at(logged_in_by(peer, token))[1] for token in tokens] == [{0, 1}] * len(tokens)
            assert tokens
        assert refused(run, **{"sasl.password": "guessed"})
        assert refused(run, **{"security.protocol": "SSL"})
        assert refused(run, **{"security.protocol": "PLAINTEXT"})

    asked = [
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("copied-log", "copied-zookeeper"),
        checks.metadata_equivalent("copied-log", "copied-brokers", ["delegation_tokens", "acls", "scram"]),
        checks.metadata_equivalent("changed-log", "changed-zookeeper"),
        checks.acknowledged_metadata_changes_present("changed-log"),
    ]
    ran(small(tmp_path, SHIPPED), tmp_path, migrate, asked)


@pytest.mark.nightly  # of a login at every listener, and of one at clients' alone, there are other migrations
@pytest.mark.parametrize("protocols", ELSEWHERE, ids="-".join)
def test_every_protocol_carries_a_migration_on_every_listener(tmp_path: Path, protocols: tuple[str, ...]) -> None:
    """With ACLs: every client is a superuser under the name that just this listener gives, before and after."""

    def migrate(run: Run) -> None:
        run.metadata.fill()
        run.driver.advance_to(Phase.HYBRID)
        assert spoken(run) == expected(protocols)
        run.metadata.settle("copied")
        run.driver.advance_to(Phase.FINALIZED)
        assert spoken(run) == expected(protocols)

    asked = [checks.phase_reached(Phase.FINALIZED), checks.metadata_equivalent("copied-log", "copied-zookeeper")]
    ran(small(tmp_path, protocols), tmp_path, migrate, asked)


def test_every_protocol_is_on_every_listener_once() -> None:
    """What a file can say of one listener is in one of these migrations."""
    migrated = {pair for protocols in (SHIPPED, *ELSEWHERE) for pair in zip(SCRAM, protocols, strict=True)}
    assert migrated == set(product(SCRAM, get_args(SecurityProtocol)))


def small(folder: Path, protocols: tuple[str, ...]) -> Path:
    """The file of a small cluster whose listeners have these protocols."""
    file = folder / "small.toml"
    file.write_text(SMALL + "".join(f'{key.lower()} = "{each}"\n' for key, each in zip(SCRAM, protocols, strict=True)))
    return file


def expected(protocols: tuple[str, ...]) -> dict[str, set[str]]:
    """What listeners of these protocols answer to, and to nothing else."""
    reported = zip(SCRAM.items(), protocols, strict=True)
    return {
        listener: {f"{protocol} by {mechanism}" if "SASL" in protocol else protocol}
        for (listener, mechanism), protocol in reported
    }
