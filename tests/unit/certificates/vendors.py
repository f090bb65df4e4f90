"""A vendor with a folder of three honest runs of one planned test, and what a forger does to it."""

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.certificates.certifying import Order, certify, conclusion
from pytest_kmigrate.certificates.envelope import opened, sealed
from pytest_kmigrate.certificates.grading import following
from pytest_kmigrate.certificates.keys import SigningKey, new_key, signing_key
from pytest_kmigrate.certificates.statement import Claims, Implementation, Statement
from pytest_kmigrate.certificates.verifying import Verified, verify
from pytest_kmigrate.cli import main
from pytest_kmigrate.judging.planning import plan as plans
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.run_folder import EVIDENCE, RunFolder, run_id_of
from pytest_kmigrate.recording.sessions import (
    SESSIONS,
    Session,
    begin_session,
    digest_of_line,
    end_session,
    note_end_of_run,
    note_run,
)
from pytest_kmigrate.recording.sources import harness_digest
from pytest_kmigrate.topology.loading import find, load
from tests.unit.judging.coherence.honest_runs import CHECKS, Line, change_lines, honest_run
from tests.unit.reports.recorded_runs import HEADER

PROFILE = "kip-866"
ROW = "K866-TEST-controller-failures"
TEST = "pytest_kmigrate.suites.kip_866.test_live_migration::test_takes_over"
PLANNED: Line = {
    "test": TEST,
    "requirements": [ROW],
    "topology": "zk1-broker3-controller3",
    "starts_at": None,
    "needs": ["kill", "start"],
    "checks": list(CHECKS),
    "faults": [{"effect": "kill", "fault": "kill(active-controller)"}],
    "phases": ["HYBRID"],
    "ends": False,
    "runs": 3,
}
VENDOR = Implementation(organization="Acme", product="Acme Stream", url="")


def plan_these(monkeypatch: Any, folder: Path, *tests: Line) -> None:
    """Let the plan of the profile be these tests."""
    folder.mkdir(exist_ok=True)
    (folder / f"{PROFILE}.json").write_text(json.dumps({"profile": PROFILE, "tests": list(tests)}))
    monkeypatch.setattr(plans, "PLANS", folder)
    plans.plan.cache_clear()


def header_of(seed: int, **more: Any) -> RunHeader:
    """The header of a run of the planned test."""
    started = datetime(2026, 3, 1, 10, tzinfo=UTC) + timedelta(minutes=seed % 10**4)
    source = plans.plan(PROFILE).tests[TEST].source_digest
    header = replace(
        HEADER,
        run_id=run_id_of(TEST, seed, started),
        test_id=TEST,
        seed=seed,
        started_at=started.isoformat(),
        extra={
            "session": "s1",
            "source_digest": source,
            "topology_digest": shipped_with(HEADER.kafka),
            "harness_digest": harness_digest(),
            "pytest_kmigrate": "0.1.0",
            "evidence": EVIDENCE,
            "capabilities": sorted(Capability),
        },
    )
    return replace(header, **{"extra": header.extra, **more})


def shipped_with(kafka: str, called: str | None = None) -> str:
    """The digest of the planned topology with this release in it, or with a build of it that is called otherwise."""
    read = load(find(PLANNED["topology"]), kafka=kafka)
    name = called or kafka
    return replace(read, kafka=name, nodes=tuple(replace(node, kafka=name) for node in read.nodes)).digest()


def make_run(runs: Path, header: RunHeader, checks: Any = CHECKS) -> RunFolder:
    """One run, noted by its session."""
    note_run(runs, header)
    made = honest_run(runs, header, checks)
    folder = RunFolder(made.path.rename(runs / header.run_id))
    note_end_of_run(folder, header)
    return folder


def make_runs(runs: Path, *seeds: int) -> list[RunFolder]:
    """A session with a run for each seed."""
    session = Session("s1", "", [TEST])
    begin_session(runs, session)
    made = [make_run(runs, header_of(seed)) for seed in seeds]
    end_session(runs, session, 0)
    return made


def key_of(folder: Path, name: str = "vendor") -> SigningKey:
    """A key, made once."""
    file = folder / f"{name}.key"
    return signing_key(file) if file.exists() else new_key(file)


def certified(runs: Path, out: Path, *witnesses: SigningKey, nonce: str | None = None) -> Statement:
    """The certificate of these runs, by the vendor's key beside it."""
    order = Order(runs, PROFILE, out, VENDOR, nonce=nonce)
    return certify(order, key_of(out.parent), witnesses, lambda *_: None)


def verified(out: Path, **more: Any) -> Verified:
    """What a reader finds who trusts the vendor's key."""
    public = hashlib.sha256(key_of(out.parent).public).hexdigest()
    options: dict[str, Any] = {"evidence": None, "key": public, "nonce": None, "sample": None, **more}
    return verify(out, progress=lambda *_: None, **options)


def graded_anew(statement: dict[str, Any]) -> None:
    """Let what follows from the rows of a statement follow from them as they are."""
    claims = Claims.model_validate(statement["predicate"]["claims"])
    graded = claims.model_copy(update=following(claims))
    statement["predicate"] |= {"claims": graded.model_dump(), "conclusion": conclusion(graded)}


def sign_anew(out: Path, change: Callable[[dict[str, Any]], None], *keys: SigningKey) -> None:
    """What a vendor can do who owns the key: change the statement, and sign it again."""
    statement = json.loads(opened(out).payload)
    change(statement)
    out.write_bytes(sealed(statement, keys or [key_of(out.parent)]))


def noted_anew(runs: Path, change: Callable[[list[Line]], list[Line]] = lambda lines: lines) -> None:
    """What a forger does to the sessions: change lines, set the manifests as they are, and chain them again."""
    file, previous, lines = runs / SESSIONS, "", []
    for line in change([json.loads(text) for text in file.read_text().splitlines()]):
        manifest = runs / str(line.get("run")) / "manifest.json"
        noted = {"manifest": hashlib.sha256(manifest.read_bytes()).hexdigest()} if manifest.is_file() else {}
        whole = {**line, **(noted if "manifest" in line else {}), "previous": previous}
        lines.append(json.dumps(whole).encode())
        previous = digest_of_line(lines[-1])
    file.write_bytes(b"".join(line + b"\n" for line in lines))


def change_events(folder: RunFolder, change: Callable[[Line], Line | None]) -> None:
    """Rewrite or leave out events, and number them anew."""

    def changed(lines: list[Line]) -> list[Line]:
        kept = [line for line in map(change, lines) if line is not None]
        return [{**line, "seq": seq} for seq, line in enumerate(kept)]

    change_lines(folder.history, changed)


def runs_of(out: Path) -> Path:
    """The runs behind a certificate."""
    return out.parent / "runs"


def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: object) -> tuple[int, str]:
    """Status and output of ``kmigrate`` with these words."""
    monkeypatch.setattr(sys, "argv", ["kmigrate", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capfd.readouterr()
    return int(ended.value.code or 0), printed.out + printed.err
