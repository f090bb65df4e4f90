"""SASL_SSL on real Kafka: a migration of a protected cluster, and a protected cluster born in KRaft mode."""

import base64
import json
import stat
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.scanning import must_hold_no_secret
from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.targets import active_controller
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.recording.reading import digests_of
from pytest_kmigrate.recording.run_folder import RunFolder, is_derived
from pytest_kmigrate.running import Run
from pytest_kmigrate.running.images import BROKERS, LOG, ZOOKEEPER
from pytest_kmigrate.wire.admin import cluster_at
from pytest_kmigrate.wire.tokens import logged_in_by
from tests.real.protected import known_tokens, leaks, ran, refused
from tests.unit.redaction.forms import FORMS, traces, written

BORN_KRAFT = """
name = "kraft-broker1-controller1-sasl"
purpose = "The smallest protected cluster that never knew ZooKeeper."
kafka = "3.9.1"
[broker]
count = 1
mode = "kraft"
jvm = ["-Dacme.password=g1ven-by-the-user-1"]
[broker.properties]
"password.encoder.secret" = "g1ven-by-the-user-2"
[controller]
count = 1
first_id = 3000
start = "at-once"
[security]
protocol = "SASL_SSL"
authorizer = true
"""


def test_protected_cluster_migrates_under_traffic(tmp_path: Path) -> None:
    """Served from ZOOKEEPER to ALL_KRAFT over a crash, all metadata arrives, and no secret is in the folder.

    Delegation tokens are what they were before, on every side, and every broker lets those in who have one.
    """
    secrets: list[str] = []

    def migrate(run: Run) -> None:
        run.metadata.fill()
        run.metadata.settle("filled", (ZOOKEEPER, BROKERS))
        secrets.extend(base64.b64encode(token.hmac).decode() for token in known_tokens(run).values())
        run.driver.advance_to(Phase.HYBRID)
        run.metadata.settle("copied", (LOG, ZOOKEEPER, BROKERS))
        assert differences_planted_in_a_token(run) == ["expires_ms", "owner", "renewers"]
        with inject(run.scene, Kill(active_controller())):
            run.driver.await_new_active_controller()
            run.traffic.await_acked(300)
        run.driver.advance_to(Phase.ALL_KRAFT)
        run.metadata.settle("joined", (LOG, BROKERS))
        for node in run.cluster.nodes(Role.BROKER):
            peer = run.cluster.peer(node.name)
            assert [cluster_at(logged_in_by(peer, token))[1] for token in known_tokens(run).values()] == [{0, 1, 2}] * 3
        assert refused(run, **{"sasl.password": "guessed"})
        assert refused(run, **{"security.protocol": "PLAINTEXT"})
        secrets.extend(secrets_of(run))

    tokens = ["delegation_tokens"]
    asked = [
        checks.phase_reached(Phase.ALL_KRAFT),
        checks.metadata_equivalent("copied-log", "copied-zookeeper"),
        checks.metadata_equivalent("copied-log", "copied-brokers", tokens),
        checks.metadata_equivalent("filled-brokers", "joined-brokers", tokens),
        checks.acknowledged_metadata_changes_present("copied-log"),
    ]
    ran("zk1-broker3-controller3-sasl", tmp_path, migrate, asked)
    images = [json.loads(file.read_text()) for file in tmp_path.rglob("metadata/copied-*.json")]
    assert [len(image["delegation_tokens"]) for image in images] == [3] * 3
    assert all("admin:SCRAM-SHA-512" in image["scram"] for image in images)
    assert leaks(tmp_path, secrets) == []
    (tmp_path / "planted.log").write_text(f"x{secrets[0]}y")
    assert leaks(tmp_path, secrets) == ["planted.log"]


def test_protected_cluster_is_born_in_kraft_mode(tmp_path: Path) -> None:
    """The first credential comes with the format of the disks: clients get in although no client could create it.

    What the user handed over stays out of the folder, too, and nothing in there looks like a secret to others.
    """
    file, runs = tmp_path / "kraft-broker1-controller1-sasl.toml", tmp_path / "runs"
    file.write_text(BORN_KRAFT)
    secrets = [f"g1ven-by-the-user-{number}" for number in range(1, 3)]
    forms = {form: f"g1ven-by-the-user-{number}" for number, form in enumerate(FORMS, 3)}

    def act(run: Run) -> None:
        secrets.extend(secrets_of(run))
        for form, secret in forms.items():
            run.recorder.record(HarnessTrouble("a command of the user", written(form, secret), of_machine=False))

    lines = (written(form, secret) for form, secret in forms.items() if "\n" not in FORMS[form])
    with pytest.raises(AssertionError):  # INCONCLUSIVE by the troubles
        ran(file, runs, act, (), commit=" ".join(lines))
    assert leaks(runs, [*secrets, *(trace for secret in forms.values() for trace in traces(secret))]) == []
    (folder,) = (path.parent for path in runs.rglob("run.json"))
    for name in digests_of(RunFolder(folder))[0]:
        if not is_derived(name):
            must_hold_no_secret(folder / name, (folder / name).read_bytes())


def differences_planted_in_a_token(run: Run) -> list[str]:
    """The fields that the comparison finds different while ZooKeeper holds something else of one token."""
    assert run.zookeeper is not None
    path = f"/delegation_token/tokens/{next(iter(known_tokens(run)))}"
    stored = run.zookeeper.get(path) or b""
    planted = {**json.loads(stored), "owner": "User:nobody", "renewers": ["User:nobody"], "expiryTimestamp": 1}
    run.zookeeper.set(path, json.dumps(planted).encode())
    found = differences(run.metadata.seen(LOG), run.metadata.seen(ZOOKEEPER))
    run.zookeeper.set(path, stored)
    return sorted(each.part for each in found)


def secrets_of(run: Run) -> list[str]:
    """Both passwords, what tokens are signed with, every node's private key, the stored credential in every part."""
    assert stat.S_IMODE(run.cluster.scratch.stat().st_mode) == 0o700
    properties = run.cluster.nodes(Role.BROKER)[0].properties
    plain = properties["listener.name.controller.plain.sasl.jaas.config"].split('password="')[1].split('"')[0]
    stores = (run.cluster.scratch / "security").glob("*-*.pem")
    keys = [store.read_text().splitlines()[2] for store in stores]  # the second line of base64: the first is alike
    stored = (run.zookeeper.get("/config/users/admin") or b"").decode() if run.zookeeper else ""
    credential = [part.split("=", 1)[1] for part in stored.split('"') for part in part.split(",") if "key=" in part]
    assert len(keys) == len(run.cluster.nodes(Role.BROKER)) + len(run.cluster.nodes(Role.CONTROLLER))
    assert len(credential) == (2 if run.zookeeper else 0)
    signing = properties["delegation.token.secret.key"]
    return [run.cluster.client_connection()["sasl.password"], plain, signing, *keys, *credential]
