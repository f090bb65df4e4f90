"""Tests that share a cluster, by a pytest of their own on the fake provider."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_kmigrate.model.provider import NOTHING_LOADED
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.plugin import living
from pytest_kmigrate.providers.fake import FakeCluster, FakeProvider
from pytest_kmigrate.recording.sessions import SESSIONS, recorded_sessions

pytest_plugins = ["pytester"]
Scene = Callable[..., pytest.RunResult]


class CountingProvider(FakeProvider):
    """Keeps every cluster it made; replicas are in sync."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[FakeCluster] = []

    @contextmanager
    def provision(self, topology: Topology, *arguments: object, **options: object) -> Iterator[FakeCluster]:
        """As always."""
        with super().provision(topology, *arguments, **options) as cluster:  # type: ignore[arg-type]
            for broker in cluster.nodes(Role.BROKER):
                cluster.reported[broker.name] = {"UnderReplicatedPartitions": 0}
            self.made.append(cluster)
            yield cluster


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> CountingProvider:
    """What every run of an inner pytest gets its cluster from."""
    made = CountingProvider()
    monkeypatch.setattr(living, "provider_of", lambda *_: made)
    monkeypatch.setattr(living, "plan_here", lambda _topology: None)
    monkeypatch.setattr(living, "write_run_reports", lambda _folder: None)
    return made


@pytest.fixture
def scene(pytester: pytest.Pytester, provider: CountingProvider) -> Scene:
    """Runs a module of these tests, marked as a scene, in an inner pytest."""

    def run(tests: str, *options: str, header: str = "pytestmark = pytest.mark.scene") -> pytest.RunResult:
        pytester.makepyfile(test_scene=f"import pytest\n{header}\n{tests}")
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)

    return run


def module_of(*bodies: str) -> str:
    """A test for each body: ``test_1``, ``test_2``, ..."""
    return "\n".join(
        f"def test_{number}(kmigrate_run, verify, inject):\n    {body}\n    verify()\n"
        for number, body in enumerate(bodies, 1)
    )


def runs(pytester: pytest.Pytester) -> list[Path]:
    """The run folders, in the order of their tests' names."""
    return sorted(pytester.path.glob("reports/runs/*/"), key=lambda folder: folder.name.partition("-")[2])


@pytest.mark.slow
def test_tests_of_a_scene_share_one_cluster_and_have_a_folder_each(
    pytester: pytest.Pytester, scene: Scene, provider: CountingProvider
) -> None:
    """Each is judged by itself: its history begins with the nodes that stand, and its logs with its own lines."""
    said = "kmigrate_run.cluster.node('broker-0')._say('line of {}')"
    scene(module_of(*(said.format(number) for number in (1, 2, 3)))).assert_outcomes(passed=3)
    assert len(provider.made) == 1
    assert not any(node.alive for node in provider.made[0].nodes())
    histories = [(folder / "history.jsonl").read_text().splitlines() for folder in runs(pytester)]
    started = [
        [event["data"].get("inherited") for event in map(json.loads, lines) if event["kind"] == "node-started"]
        for lines in histories
    ]
    assert started == [[None] * 4, [True] * 4, [True] * 4]
    logs = [(folder / "logs/broker-0/server.log").read_text() for folder in runs(pytester)]
    assert logs == ["broker-0 started\nbroker-0 line of 1\n", "broker-0 line of 2\n", "broker-0 line of 3\n"]
    headers = [json.loads((folder / "run.json").read_text())["extra"]["scene"] for folder in runs(pytester)]
    assert [header and header["place"] for header in headers] == [None, 2, 3]
    assert not (pytester.path / "reports/runs/.scenes").exists()
    assert all((folder / "manifest.json").exists() for folder in runs(pytester))


@pytest.mark.slow
def test_a_run_is_judged_with_its_logs(pytester: pytest.Pytester, scene: Scene, provider: CountingProvider) -> None:
    """Known bugs are recognized by what nodes logged, of which each run of a scene has its own part."""
    tests = """
@pytest.mark.parametrize("number", [1, 2])
def test_it(kmigrate_run, verify, number):
    kmigrate_run.cluster.node("broker-0")._say(f"line of {number}")
    verify()
    assert (kmigrate_run.folder.logs / "broker-0/server.log").read_text().endswith(f"line of {number}\\n")
"""
    scene(tests).assert_outcomes(passed=2)
    assert len(provider.made) == 1


BROKER = "kmigrate_run.cluster.node('broker-1')"
HEADER = """
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultWitnessed

pytestmark = pytest.mark.scene
"""
FAULT = """(
    FaultBegan('kill(broker-1)', 'fault-1', 'kill', 'now'),
    FaultApplied('fault-1', ['broker-1'], began=0),
    FaultWitnessed('fault-1', 'it is gone', {}),
)"""
CHANGES = {
    "a node is down": (f"{BROKER}.stop()", "broker-1 was found as NodeState(is_up=True, "),
    "a node stands still": (f"{BROKER}.pause()", "left as NodeState(is_up=True, is_paused=True"),
    "a property changed": (f"{BROKER}.reconfigure({{'a.b': '1'}})", "properties a.b"),
    "a replica lags": (
        "kmigrate_run.cluster.reported['broker-1']['UnderReplicatedPartitions'] = 2",
        "'broker-1': 2",
    ),
    "a fault is in force": (
        f"[kmigrate_run.recorder.record(each) for each in {FAULT}]",
        "a fault is still in force",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.slow
def test_a_cluster_that_is_not_as_it_was_found_is_not_used_again(
    scene: Scene,
    provider: CountingProvider,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    change: str,
) -> None:
    """The next test gets a new one, and a line says why; the test after it shares that one."""
    monkeypatch.setattr("pytest_kmigrate.running.standing._SETTLED_WITHIN_S", 0)
    body, reported = CHANGES[change]
    scene(module_of(body, "pass", "pass"), header=HEADER).assert_outcomes(passed=3)
    assert len(provider.made) == 2
    (line,) = [line for line in capfd.readouterr().out.splitlines() if "with a cluster that is new" in line]
    assert reported in line


def test_what_happens_between_two_tests_counts_too(
    pytester: pytest.Pytester, scene: Scene, provider: CountingProvider
) -> None:
    """A node that ends after its test was judged."""
    pytester.makeconftest(
        """
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_teardown(item):
            cluster = item.funcargs["kmigrate_run"].cluster
            yield
            if item.name == "test_1":
                cluster.node("broker-1").stop()
                cluster.node("broker-1").start()
        """
    )
    scene(module_of("pass", "pass")).assert_outcomes(passed=2)
    assert len(provider.made) == 2


@pytest.mark.parametrize(
    ("first", "outcomes", "clusters"),
    [
        ("kmigrate_run.verify(None); assert False", {"failed": 1, "passed": 2}, 2),
        ("assert False", {"failed": 1, "passed": 2}, 2),
        ("pytest.skip()", {"skipped": 1, "passed": 2}, 2),
        ("pass", {"passed": 3}, 1),
    ],
)
@pytest.mark.slow
def test_a_test_that_did_not_pass_gives_the_next_one_a_new_cluster(
    scene: Scene, provider: CountingProvider, first: str, outcomes: dict[str, int], clusters: int
) -> None:
    """What it did to its cluster is unknown."""
    scene(module_of(first, "pass", "pass")).assert_outcomes(**outcomes)
    assert len(provider.made) == clusters


@pytest.mark.slow
def test_a_test_may_say_that_it_spoils_the_cluster(scene: Scene, provider: CountingProvider) -> None:
    """Those after it share another one."""
    tests = module_of("pass", "pass", "pass", "pass").replace("def test_2", "@pytest.mark.spoils\ndef test_2")
    scene(tests).assert_outcomes(passed=4)
    assert len(provider.made) == 2


@pytest.mark.slow
def test_tests_of_another_topology_share_no_cluster(scene: Scene, provider: CountingProvider) -> None:
    """Nor do those that begin in another state; each group has one."""
    small = '@pytest.mark.topology("zk1-broker3-controller1")\n'
    tests = module_of("pass", "pass", "pass", "pass")
    for number in (3, 4):
        tests = tests.replace(f"def test_{number}", f"{small}def test_{number}")
    scene(tests).assert_outcomes(passed=4)
    assert [cluster.topology.name for cluster in provider.made] == [
        "zk1-broker3-controller3",
        "zk1-broker3-controller1",
    ]


@pytest.mark.slow
def test_a_class_is_a_scene_of_its_own(scene: Scene, provider: CountingProvider) -> None:
    """Tests outside have clusters of their own."""
    tests = """
def test_before(kmigrate_run, verify): verify()

@pytest.mark.scene
class TestIt:
    def test_1(self, kmigrate_run, verify): verify()
    def test_2(self, kmigrate_run, verify): verify()

def test_after(kmigrate_run, verify): verify()
"""
    scene(tests, header="").assert_outcomes(passed=4)
    assert len(provider.made) == 3


@pytest.mark.parametrize(
    ("options", "outcomes", "clusters"),
    [
        (["-k", "test_2 or test_4"], {"passed": 2, "deselected": 2}, 1),
        (["-x"], {"passed": 2, "failed": 1}, 1),
        (["--kmigrate-keep"], {"passed": 3, "failed": 1}, 2),
    ],
)
@pytest.mark.slow
def test_options_of_pytest_mean_what_they_mean(
    scene: Scene, provider: CountingProvider, options: list[str], outcomes: dict[str, int], clusters: int
) -> None:
    """What is selected shares a cluster; the first failure ends it all; and every cluster ends unless it is kept."""
    scene(module_of("pass", "pass", "assert False", "pass"), *options).assert_outcomes(**outcomes)
    assert len(provider.made) == clusters
    assert {node.alive for node in provider.made[-1].nodes(Role.BROKER)} == {"--kmigrate-keep" in options}


@pytest.mark.slow
def test_the_last_failed_are_run_again_on_one_cluster(
    pytester: pytest.Pytester, scene: Scene, provider: CountingProvider
) -> None:
    """``--lf`` knows the tests by their names."""
    tests = module_of("pass", "assert False", "assert False")
    pytester.makepyfile(test_scene=f"import pytest\npytestmark = pytest.mark.scene\n{tests}")
    pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=2)
    pytester.runpytest_inprocess("--lf").assert_outcomes(failed=2)


@pytest.mark.slow
def test_a_resumed_scene_runs_the_rest_on_one_cluster(
    pytester: pytest.Pytester, scene: Scene, provider: CountingProvider
) -> None:
    """Tests that have a complete run need no cluster; those that failed do."""
    tests = module_of("pass", "assert False", "pass")
    scene(tests).assert_outcomes(passed=2, failed=1)
    scene(tests, "--kmigrate-resume").assert_outcomes(skipped=2, failed=1)
    assert len(provider.made) == 3


def test_a_mutant_has_a_cluster_for_each_test(
    pytester: pytest.Pytester, scene: Scene, provider: CountingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its rules did is counted since the nodes started."""
    (pytester.path / "rules.btm").write_text("RULE x\nCLASS Y\nMETHOD z\nENDRULE\n")
    provision = CountingProvider.provision
    monkeypatch.setattr(
        CountingProvider,
        "provision",
        lambda *given, **options: provision(*given, **{**options, "instruments": NOTHING_LOADED}),
    )
    scene(module_of("pass", "pass"), "--kmigrate-byteman", "rules.btm")
    assert len(provider.made) == 2


@pytest.mark.parametrize("header", ["pytestmark = pytest.mark.scene('HYBRID')", "pytestmark = pytest.mark.scene(a=1)"])
def test_a_wrong_marker_is_told(scene: Scene, header: str) -> None:
    """At collection, with how to write it."""
    result = scene(module_of("pass"), header=header)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_1: marker scene: expected on a module or a class, and nothing in it; write *"])


def test_a_marker_on_one_test_is_told(scene: Scene) -> None:
    """One test alone shares no cluster."""
    result = scene("@pytest.mark.scene\ndef test_1(kmigrate_run): pass", header="")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_1: marker scene: expected on a module or a class*"])


def test_the_folder_of_runs_notes_the_session(pytester: pytest.Pytester, scene: Scene) -> None:
    """All collected tests, each run with its manifest, and the end of pytest; runs name their session."""
    scene(module_of("pass", "assert False"))
    runs = pytester.path / "reports" / "runs"
    (session,) = recorded_sessions((runs / SESSIONS).read_bytes(), SESSIONS)
    assert [each.rpartition("::")[2] for each in session.tests] == ["test_1", "test_2"]
    assert session.is_ended
    for run in session.runs:
        content = (runs / run.run_id / "manifest.json").read_bytes()
        assert hashlib.sha256(content).hexdigest() == run.manifest
        assert json.loads((runs / run.run_id / "run.json").read_text())["extra"]["session"] == session.id
    assert len(session.runs) == 2
