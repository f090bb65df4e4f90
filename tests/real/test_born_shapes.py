"""Shapes that only some clusters have, each by a real start with traffic: certificates, dynamic quorums, own disks."""

from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.running import Run
from pytest_kmigrate.wire.describing import features_at
from tests.real.protected import ran, refused

pytestmark = pytest.mark.nightly

BORN = """
name = "born"
kafka = "3.9.1"
{top}
[broker]
count = 1
mode = "kraft"
[controller]
count = {controllers}
first_id = 3000
start = "at-once"
{controller}
[security]
{security}
"""
MIGRATED = """
name = "migrated"
kafka = "3.9.1"
[zookeeper]
count = 1
[broker]
count = 2
[controller]
count = 1
first_id = 3000
{controller}
[security]
{security}
"""


def shape(tmp_path: Path, text: str, **parts: object) -> Path:
    """A topology file of these parts."""
    file = tmp_path / "shape.toml"
    file.write_text(text.format(**{"top": "", "controllers": 1, "controller": "", "security": "", **parts}))
    return file


def test_who_shows_no_certificate_is_not_let_in(tmp_path: Path) -> None:
    """TLS alone: brokers, controllers and clients are known by their certificates, and ACLs by their names."""

    def act(run: Run) -> None:
        assert refused(run, **{"ssl.certificate.location": "", "ssl.key.location": ""})
        assert run.cluster.node("broker-0").properties["ssl.client.auth"] == "required"
        assert "User:broker-0" in run.cluster.node("controller-3000").properties["super.users"]

    file = shape(tmp_path, BORN, security='protocol = "SSL"\nclient_auth = "required"\nauthorizer = true')
    ran(file, tmp_path, act, [])


def test_certificates_open_a_migration(tmp_path: Path) -> None:
    """Brokers in either mode and controllers let each other in."""
    file = shape(tmp_path, MIGRATED, security='protocol = "SSL"\nclient_auth = "required"\nauthorizer = true')
    reached = checks.phase_reached(Phase.ALL_KRAFT)
    ran(file, tmp_path, lambda run: run.driver.advance_to(Phase.ALL_KRAFT), [reached])


def test_a_dynamic_quorum_has_its_voters_in_its_log(tmp_path: Path) -> None:
    """Of three, at kraft.version 1; a controller that is killed is missed by no client."""

    def act(run: Run) -> None:
        names = [node.name for node in run.cluster.nodes(Role.CONTROLLER)]
        assert all("controller.quorum.voters" not in run.cluster.node(name).properties for name in names)
        assert features_at(run.cluster.peer(names[0]))["kraft.version"] == 1
        run.cluster.node(run.view.quorum_leader() or names[0]).kill()
        run.traffic.await_acked(200)

    ran(shape(tmp_path, BORN, top='quorum = "dynamic"', controllers=3), tmp_path, act, [])


@pytest.mark.parametrize("text", [BORN, MIGRATED], ids=["born", "migrated"])
def test_controllers_have_disks_of_their_own(tmp_path: Path, text: str) -> None:
    """Several log directories, and one for the metadata log, also when a migration formats them."""

    def act(run: Run) -> None:
        if text == MIGRATED:
            run.driver.advance_to(Phase.HYBRID)
        node = run.cluster.node("controller-3000")
        assert node.properties["metadata.log.dir"].endswith("/metadata")
        assert node.properties["log.dirs"].count(",") == 1
        assert run.cluster.metadata_log("controller-3000")

    ran(shape(tmp_path, text, controller="log_dirs = 2\nmetadata_disk = true"), tmp_path, act, [])


def test_brokers_log_in_at_a_controller_by_scram(tmp_path: Path) -> None:
    """One that was born in KRaft mode, whose log has the credentials from the start."""

    def act(run: Run) -> None:
        assert features_at(run.cluster.peer("controller-3000"))["metadata.version"] > 0

    security = 'protocol = "SASL_SSL"\ncontroller_login = "SCRAM-SHA-512"\nauthorizer = true'
    ran(shape(tmp_path, BORN, security=security), tmp_path, act, [])


def test_a_cluster_with_a_control_plane_migrates(tmp_path: Path) -> None:
    """Brokers in ZooKeeper mode have it, and leave it behind in KRaft mode, which knows none."""

    def act(run: Run) -> None:
        key = "control.plane.listener.name"
        assert run.cluster.node("broker-0").properties[key] == "CONTROL_PLANE"
        run.driver.advance_to(Phase.ALL_KRAFT)
        assert key not in run.cluster.node("broker-0").properties

    file = shape(tmp_path, MIGRATED, security='control_plane = "PLAINTEXT"')
    ran(file, tmp_path, act, [checks.phase_reached(Phase.ALL_KRAFT)])
