"""Clusters that somebody else runs: looked at without a trace, and watched while their operator migrates them."""

import json
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.probes.broker_images import image_of_brokers
from pytest_kmigrate.providers.owned.network.addresses import ANSWERS_AT
from pytest_kmigrate.topology.loading import find, load
from tests.real.attach.standing import JOLOKIA, Operator, Watching, attach_file, kmigrate, operated
from tests.real.protected import leaks

OFFERED = ("metrics", "requests", "znodes")
CONFORM = ["CONFORMS"] * 3
_OF_TLS = ("security.protocol", "ssl.ca.location", "ssl.endpoint.identification.algorithm")
_LOGIN = ("sasl.mechanism", "sasl.username")
MUTUAL = "MUTUAL"


@pytest.mark.nightly
def test_looking_leaves_no_trace_and_an_epoch_that_is_put_back_is_red(tmp_path: Path) -> None:
    """No znode and nothing that brokers answer is another one; then a Ctrl-C has judged what the operator did."""
    with operated("zk1-broker1", tmp_path) as operator:
        file, before = attach_file(operator.cluster, tmp_path), seen(operator)
        assert offered_by(file) == OFFERED
        watching = Watching(file, tmp_path / "runs")
        watching.await_images("zookeeper")
        assert seen(operator) == before
        operator.zookeeper.set("/controller_epoch", b"0")
        watching.await_znode("/controller_epoch", "0")
        watching.process.send_signal(signal.SIGINT)
        status, printed = watching.ended()
    assert status == ExitStatus.VIOLATED, printed
    assert outcomes(printed)["controller_epoch_never_falls"] == "VIOLATES"
    assert outcomes(printed)["metadata_equivalent"] == "CONFORMS"


@pytest.mark.nightly
def test_a_migration_of_an_operator_is_watched_and_conforms(tmp_path: Path) -> None:
    """From ZOOKEEPER to FINALIZED, by another process that only reads."""
    with operated("zk1-broker3-controller3", tmp_path) as operator:
        printed = Watching(attach_file(operator.cluster, tmp_path), tmp_path / "runs").of_a_migration(operator)
    assert outcomes(printed)["phase_reached"] == "CONFORMS"
    assert outcomes(printed)["no_unexpected_death"] == "NOT_APPLICABLE"


@pytest.mark.nightly
def test_logs_and_metadata_logs_show_a_migration(tmp_path: Path) -> None:
    """By file and command; the log is the third side that is compared."""
    with operated("zk1-broker1-controller3", tmp_path) as operator:
        file = attach_file(operator.cluster, tmp_path, JOLOKIA + read_by_path(operator))
        assert offered_by(file) == ("logs", "metadata-log", *OFFERED)
        watching = Watching(file, tmp_path / "runs")
        judged = outcomes(watching.of_a_migration(operator))
    assert [judged[each] for each in ("phase_reached", "metadata_equivalent", "copy_is_one_transaction")] == CONFORM
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "logs" / "broker-0" / "server.log").stat().st_size > 0
    assert any(line["data"].get("images") for line in watching.lines("history.jsonl") if "settled" in line["kind"])


@pytest.mark.nightly
def test_a_zookeeper_that_asks_for_a_certificate_is_looked_at(tmp_path: Path) -> None:
    """By TLS and the login that its ACLs need; without the certificate its znodes are withheld, with the reason."""
    with operated("zk1-broker1-controller1-zookeeper-tls", tmp_path) as operator:
        file = zookeeper_tls_file(operator, tmp_path)
        assert offered_by(file) == OFFERED
        watching = Watching(file, tmp_path / "runs")
        watching.await_images("zookeeper")
        watching.process.send_signal(signal.SIGINT)
        _, printed = watching.ended()
        assert outcomes(printed)["metadata_equivalent"] == "CONFORMS"
        plain = zookeeper_tls_file(operator, tmp_path, certificate=False)
        refused = kmigrate("attach", plain, "--check")
    assert refused.returncode == 0, refused.stderr
    assert offered(refused.stdout) == ("metrics", "requests")


@pytest.mark.nightly
def test_a_protected_cluster_lets_in_who_knows_where_the_secrets_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its migration is watched by SCRAM over TLS; no file of ours has the password, and a guessed one opens nothing."""
    with operated("zk1-broker3-controller3-sasl", tmp_path) as operator:
        client = operator.cluster.peer(operator.cluster.nodes(Role.BROKER)[0].name).security
        monkeypatch.setenv("THEIR_PASSWORD", client["sasl.password"])
        file = protected_file(operator, tmp_path, client)
        assert offered_by(file) == OFFERED
        printed = Watching(file, tmp_path / "runs").of_a_migration(operator)
        assert outcomes(printed)["metadata_equivalent"] == "CONFORMS"
        assert leaks(tmp_path / "runs", [client["sasl.password"]]) == []
        monkeypatch.setenv("THEIR_PASSWORD", "guessed")
        refused = kmigrate("attach", file, "--check")
    assert refused.returncode == ExitStatus.OPEN
    assert refused.stderr.startswith(f"{file}: bootstrap: expected a broker that lets us in; got: ")
    assert "guessed" not in refused.stderr


@pytest.mark.nightly
def test_a_zookeeper_of_sasl_is_looked_at_by_its_superuser(tmp_path: Path) -> None:
    """Kafka's own login there is by SASL, which we do not speak; without the other one its znodes are withheld."""
    wish = load(find("zk1-broker1-controller1-zookeeper-tls"))
    by_sasl = replace(wish.security, zookeeper_tls=False, zookeeper_login=True)
    with operated(replace(wish, security=by_sasl), tmp_path) as operator:
        user, _, password = (operator.cluster.zookeeper_superuser or "").partition(":")
        (tmp_path / "zookeeper.secret").write_text(password)
        login = f'login = {{ user = "{user}", password = {{ file = "zookeeper.secret" }} }}\n'
        checked = kmigrate("attach", attach_file(operator.cluster, tmp_path, login=login), "--check")
        assert offered(checked.stdout) == OFFERED, checked.stderr
        hidden = kmigrate("attach", attach_file(operator.cluster, tmp_path), "--check")
    assert offered(hidden.stdout) == ("metrics", "requests")
    assert "ACLs hide /config/users" in hidden.stdout


@pytest.mark.nightly
def test_brokers_that_ask_for_a_certificate_are_watched(tmp_path: Path) -> None:
    """By a listener of mutual TLS, from the bootstrap on; without a certificate nothing of them is seen."""
    with operated(asking_for_certificates(), tmp_path) as operator:
        file = mutual_tls_file(operator, tmp_path)
        assert offered_by(file) == OFFERED
        printed = Watching(file, tmp_path / "runs").of_a_migration(operator)
        assert outcomes(printed)["metadata_equivalent"] == "CONFORMS"
        refused = kmigrate("attach", mutual_tls_file(operator, tmp_path, certificate=False), "--check")
    assert refused.returncode == ExitStatus.OPEN
    assert refused.stderr.startswith(f"{file}: bootstrap: expected a broker that lets us in; got: ")


def asking_for_certificates() -> Topology:
    """A cluster to migrate whose brokers have a further listener, of mutual TLS."""
    wish = load(find("zk1-broker1-controller3"))
    asks = {f"listener.name.{MUTUAL.lower()}.ssl.client.auth": "required"}
    nodes = [
        replace(node, properties={**node.properties, **asks}) if node.role is Role.BROKER else node
        for node in wish.nodes
    ]
    return replace(wish, nodes=tuple(nodes), security=replace(wish.security, extra={MUTUAL: "SSL"}))


def mutual_tls_file(operator: Operator, folder: Path, *, certificate: bool = True) -> Path:
    """The file of that listener, with a certificate that its brokers trust or with none."""
    cluster, security = operator.cluster, operator.cluster.scratch / "security"
    port = cluster.addresses.client_ports[MUTUAL]
    client = {"security.protocol": "SSL", "ssl.ca.location": str(security / "authority.pem")}
    if certificate:
        client |= dict.fromkeys(("ssl.certificate.location", "ssl.key.location"), str(security / "broker-0.pem"))
    more = ["[client]", *(f'"{key}" = "{value}"' for key, value in client.items())]
    file = attach_file(cluster, folder, JOLOKIA + "\n".join(more) + "\n")
    text = file.read_text().replace(f'"{cluster.bootstrap_servers()}"', f'"{cluster.bootstrap_servers(MUTUAL)}"')
    for node in cluster.nodes(Role.BROKER):
        text = text.replace(f'"{node.address}:{ANSWERS_AT[Role.BROKER]}"', f'"{node.address}:{port}"')
    file.write_text(text)
    return file


def read_by_path(operator: Operator) -> str:
    """Where logs and metadata logs of the operator's nodes lie."""
    node = operator.cluster.nodes(Role.BROKER)[0]
    log, disk = (str(path).replace(node.name, "{name}") for path in (node.log, node.metadata_dir))
    command = ["tar", "-C", f"{disk}/__cluster_metadata-0", "-cf", "-", "."]
    return f'[logs]\nfile = "{log}"\n[metadata_log]\ncommand = {json.dumps(command)}\n'


def zookeeper_tls_file(operator: Operator, folder: Path, *, certificate: bool = True) -> Path:
    """The file of a cluster whose ZooKeeper is reached by TLS, with or without a certificate of ours."""
    cluster = operator.cluster
    (server,) = cluster.nodes(Role.ZOOKEEPER)
    properties = dict(line.split("=", 1) for line in server.properties_file.read_text().splitlines() if "=" in line)
    own = f'certificate = "{properties["ssl.keyStore.location"]}"\n' if certificate else ""
    tls = f'[zookeeper.tls]\nca = "{properties["ssl.trustStore.location"]}"\n{own}'
    user, _, password = (cluster.zookeeper_superuser or "").partition(":")
    (folder / "zookeeper.secret").write_text(password)
    login = f'login = {{ user = "{user}", password = {{ file = "zookeeper.secret" }} }}\n'
    file = attach_file(cluster, folder, tls + JOLOKIA, login=login)
    port = properties["secureClientPort"]
    file.write_text(file.read_text().replace(f'"{cluster.zookeeper_servers}"', f'"{server.address}:{port}"'))
    return file


def seen(operator: Operator) -> Mapping[str, object]:
    """Everything that ZooKeeper and the brokers hold."""
    tree, image = operator.zookeeper.snapshot(), image_of_brokers(operator.cluster)
    return {"znodes": tree, **{family: getattr(image, family) for family in image.known}}


def protected_file(operator: Operator, folder: Path, client: Mapping[str, str]) -> Path:
    """The file of a cluster that is protected, the password by reference."""
    lines = [f'"{key}" = "{client[key]}"' for key in (*_OF_TLS, *_LOGIN) if key in client]
    of_quorum = [line for line in lines if not line.startswith('"sasl.')]
    more = ["[client]", *lines, '"sasl.password" = { env = "THEIR_PASSWORD" }', "[quorum]", *of_quorum]
    return attach_file(operator.cluster, folder, "\n".join([JOLOKIA, *more]) + "\n")


def offered_by(file: Path) -> tuple[str, ...]:
    """The capabilities that ``--check`` offers, which ends with 0."""
    checked = kmigrate("attach", file, "--check")
    assert checked.returncode == 0, checked.stderr
    return offered(checked.stdout)


def offered(table: str) -> tuple[str, ...]:
    """The capabilities that a table of ``--check`` has with a yes, sorted."""
    rows = [[cell.strip() for cell in line.split("│")] for line in table.splitlines() if line.count("│") > 2]
    return tuple(sorted(row[1] for row in rows if row[2] == "yes"))


def outcomes(table: str) -> dict[str, str]:
    """The outcome of each check in a table of verdicts."""
    rows = [[cell.strip() for cell in line.split("│")] for line in table.splitlines() if line.count("│") > 3]
    return {row[3]: row[1] for row in rows if row[3]}
