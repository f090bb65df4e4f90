"""Tests on a cluster that an operator runs, whose script does what they ask for: restarts, kills, cuts, records."""

import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.reading import read_events, read_header
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.real.attach.operating import SCRIPT, hands_of
from tests.real.attach.standing import JOLOKIA, Operator, attach_file, operated
from tests.real.attach.test_attaching import seen

ALLOWED = 'allow = ["start", "kill", "reconfigure", "cut", "traffic"]\n'
HOOKS = ("start", "stop", "kill", "reconfigure", "cut", "heal", "arrived")
THEIRS = """
from pytest_kmigrate import Cut, Kill, checks, targets

BROKER = targets.node("broker-1")

def test_killed_and_back(inject, verify):
    with inject(Kill(BROKER)) as injection:
        injection.await_bitten()
    verify(checks.one_active_controller_per_epoch())

def test_cut_off(inject, verify):
    with inject(Cut(BROKER, targets.node("broker-0"))) as injection:
        injection.await_bitten()
    verify(checks.one_active_controller_per_epoch())

def test_reconfigured(cluster, verify):
    node = cluster.node("broker-1")
    node.stop()
    node.reconfigure({"log.retention.hours": "7"})
    node.start()
    cluster.await_serving()
    verify(checks.one_active_controller_per_epoch())

def test_records(workload, cluster, verify):
    workload.await_acked(50)
    workload.await_consumed(50)
    verify(checks.no_acked_record_lost(), checks.no_phantom_record())

def test_too_many_down(cluster):
    cluster.node("broker-1").stop()
    try:
        cluster.node("broker-2").stop()
    finally:
        cluster.node("broker-1").start()
        cluster.await_serving()
"""
LEFT_BY_CLIENTS = "__consumer_offsets"
"""Clients cannot avoid to leave it where there was none; it is named by ``--check``."""
CONFIGS = ("/config/topics/", "/config/brokers/", "/config/users/", "/config/clients/", "/config/ips/", "/kafka-acl")


@pytest.mark.nightly
def test_hooks_do_what_is_allowed_and_what_is_ours_is_removed(tmp_path: Path) -> None:
    """Each action by the operator's script; nothing that was there before has changed, and no topic of ours is left."""
    with operated("zk1-broker3", tmp_path) as operator, hands_of(operator.cluster) as (hands, commands):
        limits = "[limits]\nnodes_down_at_once = 1\nrecords_per_s = 40\n"
        before = kept(operator)
        ran = tested(hooked(operator, tmp_path, commands, limits), THEIRS)
        assert "4 passed" in ran.stdout, ran.stdout
        assert "1 failed" in ran.stdout, ran.stdout
        assert (
            "limits.nodes_down_at_once: expected no more than 1; broker-1 is down before stopping broker-2"
            in ran.stdout
        )
        assert {"kill broker-1", "start broker-1", "stop broker-1", "cut broker-0 broker-1"} <= {
            each.partition(" /")[0] for each in hands.done
        }
        assert "stop broker-2" not in hands.done
        assert [hands.done.count(f"{action} broker-0 broker-1") for action in ("cut", "heal")] == [1, 1]
        changed = operator.cluster.node("broker-1").properties["log.retention.hours"]
        assert (changed, kept(operator)) == ("7", before)
    folders = {read_header(each).test_id.rpartition("::")[2]: each for each in runs_in(tmp_path)}
    (bitten,) = [each for each in read_events(folders["test_cut_off"]) if each.kind is EventKind.FAULT_WITNESSED]
    assert "bytes arrived on 1 of 1 links under cut" in str(bitten.data)
    acked = [each.data for each in read_events(folders["test_records"]) if each.kind is EventKind.WORKLOAD_BEGAN]
    assert [(each["topics"], each["group"], each["per_s"]) for each in acked] == [
        (["kmigrate-orders"], "kmigrate-kmigrate", 40)
    ]


@pytest.mark.nightly
def test_a_hook_that_fails_or_hangs_says_nothing_of_kafka(tmp_path: Path) -> None:
    """One sentence each, and a run that is INCONCLUSIVE; the cluster is as it was."""
    killing = "def test_killed(cluster, verify):\n    cluster.node('broker-0').kill()\n    verify()\n"
    with operated("zk1-broker1", tmp_path) as operator:
        fails = {**dict.fromkeys(HOOKS, '["true"]'), "kill": '["sh", "-c", "echo no such host >&2; exit 7"]'}
        ran = tested(hooked(operator, tmp_path, fails), killing)
        assert "hooks.kill of broker-0: expected sh to end with 0; got 7: no such host" in ran.stdout, ran.stdout
        hangs = {**fails, "kill": '["sleep", "100"]'}
        ran = tested(hooked(operator, tmp_path, hangs, within_s=2), killing)
        assert "hooks.kill of broker-0: expected an end within 2 s (hooks.within_s); got none" in ran.stdout, ran.stdout
        assert operator.cluster.node("broker-0").alive
    again = [judge_again(folder.path) for folder in runs_in(tmp_path)]
    assert [each.outcome for each in again] == [Outcome.INCONCLUSIVE] * 2


IN_PYTHON = """
import subprocess, sys

class Hooks:
    def __getattr__(self, action):
        def asked(node):
            subprocess.run([sys.executable, "-I", "{script}", "{url}", action, node], check=True)
        return asked
"""
PAUSING = """
from pytest_kmigrate import Pause, checks, targets

def test_paused_and_back(inject, verify):
    with inject(Pause(targets.node("broker-1"))) as injection:
        injection.await_bitten()
    verify(checks.one_active_controller_per_epoch())
"""


@pytest.mark.nightly
def test_a_class_in_python_pauses_nodes_in_its_hours(tmp_path: Path) -> None:
    """Out of hours it is not called, and the test ends with the sentence that says so."""
    with operated("zk1-broker3", tmp_path) as operator, hands_of(operator.cluster) as (hands, _):
        (tmp_path / "theirs.py").write_text(IN_PYTHON.format(script=SCRIPT, url=hands.url))
        ran = tested(in_python(operator, tmp_path, hours(-1, 2)), PAUSING)
        assert "1 passed" in ran.stdout, ran.stdout
        assert hands.done == ["pause broker-1", "resume broker-1"]
        ran = tested(in_python(operator, tmp_path, hours(2, 3)), PAUSING)
        assert re.search(r"limits\.within: expected pausing broker-1 at .* UTC; got .* UTC: wait for it", ran.stdout)
        assert hands.done.count("pause broker-1") == 1  # what heals is called at any hour
        assert operator.cluster.node("broker-1").alive
    outcomes = {judge_again(folder.path).outcome for folder in runs_in(tmp_path)}
    assert outcomes == {Outcome.CONFORMS, Outcome.INCONCLUSIVE}


def hours(begin: int, end: int) -> str:
    """A window that begins and ends so many hours from now."""
    at = [datetime.now(UTC) + timedelta(hours=each) for each in (begin, end)]
    return f'[limits]\nwithin = "{at[0]:%H:%M}-{at[1]:%H:%M} UTC"\n'


def in_python(operator: Operator, folder: Path, more: str) -> Path:
    """An attach file with a class of hooks."""
    hooks = '[hooks]\npython = "theirs:Hooks"\n'
    return attach_file(operator.cluster, folder, JOLOKIA + more + hooks, head='allow = ["pause"]\n')


def kept(operator: Operator) -> Mapping[str, object]:
    """What only the operator changes: who leads and who is in sync comes and goes with nodes."""
    everything = dict(seen(operator))
    partitions, znodes = everything.pop("partitions"), everything.pop("znodes")
    assert isinstance(partitions, Mapping)
    assert isinstance(znodes, Mapping)
    of_brokers = {family: _without_theirs(entries) for family, entries in everything.items()}
    replicas = {name: each["replicas"] for name, each in _without_theirs(partitions).items()}
    configs = {path: data for path, data in _without_theirs(znodes).items() if path.startswith(CONFIGS)}
    return {**of_brokers, "replicas": replicas, "configs": configs}


def _without_theirs(entries: object) -> dict[str, Any]:
    """Without what clients of any kind leave behind."""
    assert isinstance(entries, Mapping)
    return {str(key): value for key, value in entries.items() if LEFT_BY_CLIENTS not in str(key)}


def hooked(operator: Operator, folder: Path, commands: Mapping[str, str], more: str = "", within_s: int = 120) -> Path:
    """An attach file with these hooks."""
    lines = [f"{action} = {commands[action]}" for action in HOOKS]
    hooks = "\n".join(["[hooks]", f"within_s = {within_s}", *lines, ""])
    return attach_file(operator.cluster, folder, JOLOKIA + more + hooks, head=ALLOWED)


def tested(file: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """What pytest makes of tests on the cluster of an attach file."""
    theirs = file.parent / "test_theirs.py"
    theirs.write_text(tests)
    chosen = ["--kmigrate-provider", "attach", "--kmigrate-topology", str(file)]
    kept_in = ["--kmigrate-runs", str(file.parent / "runs"), "-p", "no:cacheprovider", "-rs"]
    command = [sys.executable, "-m", "pytest", str(theirs), *chosen, *kept_in]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, cwd=file.parent)


def runs_in(folder: Path) -> list[RunFolder]:
    """The run folders of these tests."""
    return [RunFolder(each.parent) for each in (folder / "runs").glob("*/run.json")]
