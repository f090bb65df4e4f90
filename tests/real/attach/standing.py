"""Clusters that an operator runs, here: this very process, past whom others attach by a file of addresses."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_kmigrate.documents import document
from pytest_kmigrate.model.document import Driver
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.network.addresses import ANSWERS_AT
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running.scene import driver_of, scene_of, zookeeper_client
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.waiting import NotYet, until
from pytest_kmigrate.workloads.metadata.filling import FillingPlan, fill
from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin

JOLOKIA = '[metrics]\nkind = "jolokia"\nurl = "http://{host}:8778/jolokia"\n'
_BEGUN_WITHIN_S = 120
_ENDED_WITHIN_S = 240


@dataclass(frozen=True)
class Operator:
    """Somebody who has a cluster and migrates it."""

    cluster: OwnedCluster
    scene: Scene
    driver: Driver
    zookeeper: ZookeeperClient


@contextmanager
def operated(topology: str | Topology, folder: Path) -> Iterator[Operator]:
    """A started cluster with metadata of every family, and an operator who writes nothing down."""
    recorder = MemoryRecorder()
    wish = load(find(topology)) if isinstance(topology, str) else topology
    with ProcessProvider(print).provision(wish, recorder, folder / "operator") as cluster, ExitStack() as ending:
        cluster.start_initial()
        cluster.await_serving()
        zookeeper = zookeeper_client(cluster)
        assert zookeeper is not None
        ending.enter_context(closing(zookeeper))
        brokers = tuple(node.spec.node_id for node in cluster.nodes(Role.BROKER))
        filling = fill(MetadataAdmin(cluster.client_connection()), recorder, FillingPlan(1, brokers, len(brokers)))
        assert not filling.failed
        of = document("kip-866")
        scene = scene_of(of, cluster, zookeeper, recorder)
        yield Operator(cluster, scene, driver_of(of, scene), zookeeper)


def attach_file(cluster: OwnedCluster, folder: Path, more: str = JOLOKIA, head: str = "", login: str = "") -> Path:
    """The file by which somebody else finds the cluster; ``login`` is added to what it has of ZooKeeper."""
    tables = [
        f'[[{role}]]\nid = {node.spec.node_id}\n{key} = "{node.address}:{ANSWERS_AT[role]}"\n'
        for role, key in ((Role.BROKER, "client"), (Role.CONTROLLER, "controller"))
        for node in cluster.nodes(role)
    ]
    file = folder / "attach.toml"
    text = f'name = "theirs"\nkafka = "{cluster.topology.kafka}"\n{head}'
    text += f"bootstrap = {json.dumps(cluster.bootstrap_servers().split(','))}\n"
    text += f'[zookeeper]\nconnect = "{cluster.zookeeper_servers}"\n{login}'
    file.write_text("\n".join([text, more, *tables]))
    return file


def kmigrate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The console command, to its end."""
    command = [sys.executable, "-m", "pytest_kmigrate.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=_ENDED_WITHIN_S, check=False)


class Watching:
    """``kmigrate attach FILE --observe`` in a process of its own."""

    def __init__(self, file: Path, runs: Path, words: Sequence[str] = ()) -> None:
        command = [sys.executable, "-m", "pytest_kmigrate.cli", "attach", str(file), "--observe", "--runs", str(runs)]
        self.process = subprocess.Popen(
            [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
        )
        self._runs = runs

    def await_phase(self, phase: str) -> None:
        """Return when it has recorded this phase."""
        self._await(phase, lambda: [each["data"]["state"] for each in self.lines("history.jsonl") if _is_phase(each)])

    def await_images(self, label: str) -> None:
        """Return when it has compared what every side holds at a phase."""
        settled = "settled"
        self._await(
            label, lambda: [each["data"]["label"] for each in self.lines("history.jsonl") if each["kind"] == settled]
        )

    def await_znode(self, path: str, data: str) -> None:
        """Return when it has recorded that a znode holds this."""
        self._await(data, lambda: [each["data"] for each in self.lines("znodes/*.jsonl") if each["path"] == path])

    def lines(self, pattern: str) -> list[dict[str, Any]]:
        """What it has written so far into such files of its run folder; the last line may be under way."""
        texts = [file.read_text() for file in self._runs.glob(f"*/{pattern}")]
        return [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def _await(self, value: object, found: Callable[[], list[object]]) -> None:
        until(
            lambda: value in found() or NotYet(found()),
            awaited=f"{value} in the observed run",
            within_s=_BEGUN_WITHIN_S,
            abort=self._still_runs,
        )

    def of_a_migration(self, operator: Operator) -> str:
        """What was printed, with status 0, of a migration that the operator made from here to its end."""
        self.await_images("zookeeper")
        operator.driver.advance_to("FINALIZED")
        status, printed = self.ended()
        assert status == 0, printed
        return printed

    def ended(self) -> tuple[int, str]:
        """Exit status, and what was printed."""
        out, err = self.process.communicate(timeout=_ENDED_WITHIN_S)
        return self.process.returncode, f"{out}\n{err}"

    def _still_runs(self) -> None:
        assert self.process.poll() is None, self.ended()


def _is_phase(event: dict[str, Any]) -> bool:
    return bool(event["data"].get("of") == "phase")
