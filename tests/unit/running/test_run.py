"""A run from its header to its manifest, on clusters of the fake provider."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_kmigrate.documents.kip_866.document import DOCUMENT
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.targets import node
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging.judge import judge_folder
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checkpoint import Frozen, Start, Znode
from pytest_kmigrate.model.errors import (
    AwaitTimeoutError,
    ClusterError,
    EnvironmentLackError,
    NodeDiedError,
    NotApplicableError,
    WrongUseError,
)
from pytest_kmigrate.model.event import EventKind, Recorder
from pytest_kmigrate.model.events.evidence import RunEnded
from pytest_kmigrate.model.history import RunHeader, Transaction
from pytest_kmigrate.model.provider import Mutant
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.providers.fake import FakeCluster, FakeNode, FakeProvider
from pytest_kmigrate.providers.fake.provider import CAPABILITIES
from pytest_kmigrate.recording.mutants import CLASS_FILE
from pytest_kmigrate.recording.reading import read_history, verify_manifest
from pytest_kmigrate.recording.run_folder import RunFolder, run_folders
from pytest_kmigrate.running import Checkpoints, Claim, Run, RunSettings, open_run
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint, Content, Key
from pytest_kmigrate.running.run import _finish
from pytest_kmigrate.waiting import until
from tests.unit.fakes import FakeZnodes, topology

CLAIMED = "K866-FAIL-crash-in-migration"
SHAPE = topology(brokers=1, controllers=1)
METRIC = DOCUMENT.metrics[0]


@contextmanager
def opened(runs: Path, provider: FakeProvider | None = None, *, keep: bool = False) -> Iterator[Run]:
    """A run of one broker, which has started; its controller has not."""
    settings, claim = RunSettings(runs, seed=7, keep=keep), Claim("t.py::test_it", (CLAIMED,))
    with open_run(settings, provider or FakeProvider(), SHAPE, claim, lambda _folder: None) as run:
        yield run


def test_a_run_leaves_a_folder_that_tells_all_of_it(tmp_path: Path) -> None:
    """Header, events, samples and verdicts, all vouched for by the manifest; judged again it comes out the same."""
    with opened(tmp_path) as run:
        run.cluster.reported["broker-0"] = {METRIC: 3}
        with inject(run.scene, Kill(node("broker-0"))):
            pass
        until(lambda: f'"{METRIC}": 3' in run.folder.metrics.read_text(), awaited="a sample", within_s=60)
        judgement = run.verify([checks.every_fault_was_witnessed()])
    history = read_history(RunFolder(run.folder.path))
    assert (history.header.provider, history.header.kafka) == ("fake", "3.9.1")
    assert history.header.extra["capabilities"] == sorted(CAPABILITIES)
    assert history.header.extra["distribution_digests"] == {"3.9.1": "fake-3.9.1"}
    assert [event.node for event in history.of(EventKind.NODE_STARTED)] == ["zookeeper-1", "broker-0", "broker-0"]
    assert [event.data["targets"] for event in history.of(EventKind.FAULT_APPLIED)] == [["broker-0"]]
    assert ("broker-0", 3) in {(each.node, each.values.get(METRIC)) for each in history.samples}
    verify_manifest(run.folder)
    assert judge_folder(run.folder).verdicts == judgement.verdicts
    witnessed = next(verdict for verdict in judgement.verdicts if verdict.check == "every_fault_was_witnessed")
    assert witnessed.outcome is Outcome.CONFORMS


def test_start_conditions_are_made_and_recorded(tmp_path: Path) -> None:
    """A znode with data, and one without; neither is a fault."""
    with opened(tmp_path, FakeProvider(CAPABILITIES | {Capability.ZNODE_WRITES})) as run:
        znodes = FakeZnodes()
        run.scene = replace(run.scene, znodes=znodes)
        run.meet([Znode("/migration"), Znode("/x", "y")])
        assert znodes.tree == {"/migration": b"", "/x": b"y"}
    made = read_history(RunFolder(run.folder.path)).of(EventKind.START_CONDITION)
    assert [each.data for each in made] == [{"path": "/migration", "data": None}, {"path": "/x", "data": "y"}]


def test_a_start_condition_that_the_provider_cannot_make_is_not_applicable(tmp_path: Path) -> None:
    """The run ends before its test begins, with the capability that lacks."""
    claim = Claim("t.py::test_it", (CLAIMED,), conditions=(Znode("/migration"),))
    settings = RunSettings(tmp_path, seed=7)
    with (
        pytest.raises(NotApplicableError, match="znode-writes"),
        open_run(settings, FakeProvider(), SHAPE, claim, lambda _folder: None),
    ):
        pytest.fail("the test must not begin")


class Planted(FakeProvider):
    """Takes mutants, though its nodes run no code."""

    def provision(
        self, topology: Topology, recorder: Recorder, logs: Path, **_: Any
    ) -> AbstractContextManager[FakeCluster]:
        """Without what is planted."""
        return super().provision(topology, recorder, logs)


@pytest.mark.parametrize("is_planted", [True, False])
@pytest.mark.parametrize("error", [NodeDiedError("controller-3000", 1, "no level"), KeyboardInterrupt()])
def test_a_cluster_that_does_not_come_up_with_a_mutant_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, *, is_planted: bool
) -> None:
    """By what its nodes did until then; without one it is a matter of the machine, and no test has begun."""

    def does_not_come_up(run: Run) -> None:
        run.cluster.start_initial()
        raise error

    monkeypatch.setattr(Run, "begin", does_not_come_up)
    (tmp_path / CLASS_FILE).write_bytes(b"changed")
    mutant = Mutant("m", "org.acme.A", tmp_path / CLASS_FILE) if is_planted else None
    settings = RunSettings(tmp_path / "runs", seed=7, mutant=mutant)
    with (
        pytest.raises(type(error)),
        open_run(settings, Planted(), SHAPE, Claim("t.py::test_it"), lambda _folder: None),
    ):
        pytest.fail("the test must not begin")
    (folder,) = run_folders(tmp_path / "runs")
    assert folder.verdicts.is_file() is is_planted
    assert [each.what.test for each in read_history(folder).of(RunEnded)] == [None]


def test_nothing_is_left_of_a_run_unless_it_is_kept(tmp_path: Path) -> None:
    """Its nodes end with the block; kept ones go on."""
    for keep in (False, True):
        with opened(tmp_path, keep=keep) as run:
            assert [each.name for each in run.cluster.nodes() if each.alive] == ["zookeeper-1", "broker-0"]
        assert run.cluster.node("broker-0").alive is keep


def test_a_workload_is_not_applicable_where_nobody_serves_clients(tmp_path: Path) -> None:
    """So is all that its test claims, by the capability that lacks; the folder says so wherever it is judged."""
    with opened(tmp_path) as run:
        with pytest.raises(NotApplicableError, match=r"workload clients needs what .* does not offer: traffic$"):
            run.traffic.start()
        judgement = run.verify(None)
    (verdict,) = judgement.verdicts
    assert (verdict.outcome, verdict.requirements) == (Outcome.NOT_APPLICABLE, (CLAIMED,))
    assert verdict.summary.endswith("does not offer: traffic")
    assert judge_folder(run.folder).verdicts == judgement.verdicts


@pytest.mark.parametrize(
    ("act", "lacking"),
    [
        (lambda run: run.metadata.fill(), "change"),
        (lambda run: run.metadata.change(), "change"),
        (lambda run: run.metadata.seen("zookeeper"), "znodes"),
        (lambda run: run.metadata.settle("after", ("log", "zookeeper")), "znodes"),
        (lambda run: run.scene.znodes.get("/controller"), "znodes"),
        (lambda run: run.driver.advance_to(Phase.HYBRID), "znodes"),
    ],
    ids=["fill", "change", "seen", "settle", "znode", "migration"],
)
def test_what_else_lacks_is_named(tmp_path: Path, act: object, lacking: str) -> None:
    """Whatever a test asks for: nothing of it is done, and the capability stands in the history."""
    assert callable(act)
    with opened(tmp_path) as run:
        with pytest.raises(NotApplicableError, match=f"does not offer: {lacking}$"):
            act(run)
        assert [event.data["lacking"] for event in run.recorder.events if event.kind is EventKind.NOT_OFFERED] == [
            [lacking]
        ]


def test_a_log_that_cannot_be_read_is_not_applicable(tmp_path: Path) -> None:
    """Both that lack are named: metrics show whose log it would be."""
    provider = FakeProvider(CAPABILITIES - {Capability.METADATA_LOG, Capability.METRICS})
    with opened(tmp_path, provider) as run, pytest.raises(NotApplicableError, match=r"offer: metadata-log, metrics$"):
        run.metadata.seen("log")
    assert not run.folder.metrics.exists() or not run.folder.metrics.read_text()


def test_the_metadata_log_is_read_from_the_leader(tmp_path: Path) -> None:
    """An image of what the provider decodes, with the records it was made of."""
    with opened(tmp_path) as run:
        run.cluster.node("controller-3000").start()
        run.cluster.reported["controller-3000"] = {"ActiveControllerCount": 1}
        image = run.metadata.seen("log")
    assert image.read_from == run.cluster.records


class _Observer:
    """Stands for a client of ZooKeeper that had one session."""

    sessions_had = frozenset({5})

    def close(self) -> None:
        """Nothing is open."""


OURS, THEIRS, EARLIER = (Transaction(9, zxid, session, is_multi=True) for zxid, session in ((8, 5), (9, 6), (2, 6)))


def test_what_zookeeper_logged_of_others_in_the_run_is_stored(tmp_path: Path) -> None:
    """Neither what the harness wrote itself, nor what was there when the run began."""
    with opened(tmp_path) as run:
        run.zookeeper = cast("ZookeeperClient", _Observer())
        run._header = replace(run._header, extra={"scene": {"log_offset": 7, "zxid": 3}})
        run.cluster.transactions = [EARLIER, OURS, THEIRS]
        run.verify([])
    assert read_history(run.folder).transactions == (THEIRS,)


def test_a_log_of_zookeeper_that_cannot_be_read_is_trouble_of_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no verdict of ours; if the provider reads none, it is not asked for."""

    def damaged(_: object, after_zxid: int) -> list[Transaction]:
        raise ClusterError(f"damaged after {after_zxid}")

    monkeypatch.setattr(FakeCluster, "zookeeper_log", damaged)
    with opened(tmp_path / "a") as run:
        run.zookeeper = cast("ZookeeperClient", _Observer())
        run.verify([])
    (trouble,) = read_history(run.folder).of(EventKind.HARNESS_TROUBLE)
    assert trouble.data == {"what": "reading ZooKeeper's log", "error": "damaged after -1"}
    with opened(tmp_path / "b", FakeProvider(CAPABILITIES - {Capability.ZOOKEEPER_LOG})) as run:
        run.zookeeper = cast("ZookeeperClient", _Observer())
        run.verify([])
    assert not read_history(run.folder).of(EventKind.HARNESS_TROUBLE)


def test_a_run_is_judged_once(tmp_path: Path) -> None:
    """What comes later would be part of no verdict."""
    with opened(tmp_path) as run:
        run.verify([])
        with pytest.raises(WrongUseError, match="verify was called already"):
            run.verify([])


def test_a_cluster_that_does_not_start_is_told_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says where the evidence is and how to do it again; threads are dumped, and the folder is closed."""

    def never_ready(_: FakeNode, within_s: float = 0) -> None:
        raise AwaitTimeoutError("zookeeper-1 ready", within_s, "no answer yet")

    monkeypatch.setattr(FakeNode, "await_ready", never_ready)
    with pytest.raises(AwaitTimeoutError) as raised, opened(tmp_path):
        pytest.fail("began all the same")
    (folder,) = map(RunFolder, tmp_path.iterdir())
    again = "pytest t.py::test_it --kmigrate-kafka 3.9.1 --kmigrate-seed 7 --kmigrate-profile kip-866"
    assert raised.value.__notes__ == [f"evidence: {folder.path}\nagain: {again}"]
    assert "thread dump" in (folder.logs / "zookeeper-1" / "server.log").read_text()
    verify_manifest(folder)


def test_reports_that_cannot_be_written_do_not_hide_what_ended_the_run(tmp_path: Path) -> None:
    """The first error stays the one that is reported; that there are no reports is a note to it."""
    (tmp_path / "file").touch()
    folder, header = RunFolder(tmp_path / "file" / "gone"), RunHeader("gone", "t.py::test_it", 7, "3.9.1", "small")
    with pytest.raises(ZeroDivisionError) as caught:  # noqa: PT012 - what is tested runs while it is on its way
        try:
            raise ZeroDivisionError
        finally:
            _finish(folder, header, lambda _folder: None, is_kept=False, is_hidden=False)
    (note,) = caught.value.__notes__
    assert "the reports cannot be written" in note
    with pytest.raises(EnvironmentLackError, match="make room and judge it again"):
        _finish(folder, header, lambda _folder: None, is_kept=False, is_hidden=False)


def test_a_run_begins_from_a_checkpoint_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held until its nodes are up; run.json names it, and there is nowhere to walk to any more."""
    done: list[object] = []
    key = Key("fake", {}, "shape", "kip-866", "HYBRID", (), "ours")
    checkpoint = Checkpoint(key, Content(Frozen({}, 474, 1138), datetime(2026, 11, 26, tzinfo=UTC)), tmp_path)

    class OneCheckpoint:
        @contextmanager
        def held(self, shape: Topology, start: Start) -> Iterator[Checkpoint]:
            done.append((shape.name, start))
            yield checkpoint
            done.append("free")

    monkeypatch.setattr("pytest_kmigrate.running.run.resume", lambda of, document, *_: done.append((of, document.id)))
    settings = RunSettings(tmp_path, seed=7, checkpoints=cast("Checkpoints", OneCheckpoint()))
    claim = Claim("t.py::test_it", starts_at=Start("HYBRID"))
    with open_run(settings, FakeProvider(), SHAPE, claim, lambda _folder: None) as run:
        run.walk_to(Start("HYBRID"))
        assert not any(each.alive for each in run.cluster.nodes())
        assert done == [(SHAPE.name, Start("HYBRID")), (checkpoint, "kip-866"), "free"]
        run.verify(None)
    assert read_history(run.folder).header.inherited_offset == 474


@pytest.mark.parametrize(
    ("start", "walk"),
    [(Start("ALL_KRAFT", is_filled=True), ["fill", "ALL_KRAFT"]), (Start("HYBRID"), ["HYBRID"])],
)
def test_a_run_from_scratch_walks_to_where_its_test_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start, walk: list[object]
) -> None:
    """Filled first, if it shall be."""
    walked: list[object] = []
    with opened(tmp_path) as run:
        monkeypatch.setattr(run.metadata, "fill", lambda: walked.append("fill"))
        monkeypatch.setattr(run.driver, "advance_to", walked.append)
        run.walk_to(start)
        run.verify(None)
    assert walked == walk


def test_what_the_machine_lacks_is_recorded_before_the_run_is_judged(tmp_path: Path) -> None:
    """Also where no step failed of it; the run is INCONCLUSIVE, and says why."""
    with opened(tmp_path) as run:
        cast("FakeCluster", run.cluster).lacking = {"broker-0": "No space left on device"}
        judgement = run.verify([checks.no_unexpected_death()])
    [trouble] = read_history(RunFolder(run.folder.path)).of(EventKind.HARNESS_TROUBLE)
    assert (trouble.node, trouble.data["error"], trouble.data["of_machine"]) == (
        "broker-0",
        "No space left on device",
        True,
    )
    [verdict] = [each for each in judgement.verdicts if each.check == "no_unexpected_death"]
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
    assert "No space left on device" in verdict.summary


def test_a_fault_that_was_never_begun_keeps_the_run_from_being_judged(tmp_path: Path) -> None:
    """No checks are recorded: judged again, its folder conforms in nothing."""
    with opened(tmp_path) as run:
        run.inject(Kill(node("broker-0")))
        with pytest.raises(WrongUseError, match=r"inject\(kill\(.*broker-0\)\) in line \d+ of .*: .* never begun"):
            run.verify([checks.no_unexpected_death()])
    assert read_history(RunFolder(run.folder.path)).of(EventKind.CHECKS) == []
    assert judge_folder(run.folder).outcome is not Outcome.CONFORMS
