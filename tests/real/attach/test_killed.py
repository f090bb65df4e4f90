"""A pytest that is killed in the midst leaves nothing paused, cut or made in the cluster of an operator."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_kmigrate.waiting import NotYet, until
from tests.real.attach.operating import Hands, hands_of
from tests.real.attach.standing import JOLOKIA, Operator, attach_file, kmigrate, operated
from tests.real.attach.test_attaching import seen
from tests.real.attach.test_hooks import tested

HOOKS = ("start", "stop", "kill", "pause", "resume", "cut", "heal", "arrived")
UNTIL_KILLED = """
from pytest_kmigrate import Cut, Pause, targets

def test_until_killed(workload, inject):
    workload.await_acked(50)
    with inject(Cut(targets.node("broker-2"), targets.node("broker-0"))), inject(Pause(targets.node("broker-1"))):
        while True:
            workload.await_acked(1)
"""
AFTERWARDS = """
def test_afterwards(workload, cluster):
    cluster.await_serving()
    workload.await_acked(50)
"""
DONE = ["cut broker-0 broker-2", "pause broker-1"]
UNDONE = ["heal broker-0 broker-2", "resume broker-1"]
WITHIN_S = 200


@pytest.mark.nightly
def test_what_a_killed_run_did_is_undone(tmp_path: Path) -> None:
    """By the command, and by the next run before it asks the cluster anything."""
    with operated("zk1-broker3", tmp_path) as operator, hands_of(operator.cluster) as (hands, commands):
        lines = "\n".join(f"{action} = {commands[action]}" for action in HOOKS)
        head = 'allow = ["start", "kill", "pause", "cut", "traffic"]\n'
        file = attach_file(operator.cluster, tmp_path, f"{JOLOKIA}[hooks]\n{lines}\n", head=head)

        kill_in_the_midst(file, hands)
        assert operator.cluster.node("broker-1").stands_still
        assert "left by a run that was killed: resume broker-1; " in kmigrate("attach", file, "--check").stdout
        healed = kmigrate("attach", file, "--heal")
        assert (healed.returncode, healed.stderr) == (0, "")
        assert [each.rpartition(": ")[2] for each in healed.stdout.splitlines()][:2] == [
            "resume broker-1",
            "heal broker-0 from broker-2",
        ]
        require_nothing_left(operator, hands, file)
        assert "nothing to undo" in kmigrate("attach", file, "--heal").stdout

        hands.done.clear()
        kill_in_the_midst(file, hands)
        ran = tested(file, AFTERWARDS)
        assert "1 passed" in ran.stdout, ran.stdout
        require_nothing_left(operator, hands, file)


def kill_in_the_midst(file: Path, hands: Hands) -> None:
    """SIGKILL of a pytest that has cut a link and paused a broker."""
    (file.parent / "test_theirs.py").write_text(UNTIL_KILLED)
    chosen = ["--kmigrate-provider", "attach", "--kmigrate-topology", str(file), "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "test_theirs.py", *chosen, "--kmigrate-runs", "runs"]
    with subprocess.Popen(command, cwd=file.parent, stdout=subprocess.PIPE, text=True) as inner:
        try:
            until(
                lambda: set(DONE) <= set(hands.done) or NotYet(hands.done),
                awaited="a cut and a pause",
                within_s=WITHIN_S,
                abort=lambda: require_running(inner),
            )
        finally:
            inner.send_signal(signal.SIGKILL)
    assert inner.returncode == -signal.SIGKILL


def require_running(inner: "subprocess.Popen[str]") -> None:
    """The test waits to be killed."""
    assert inner.poll() is None, inner.stdout.read() if inner.stdout else ""


def require_nothing_left(operator: Operator, hands: Hands, file: Path) -> None:
    """No node stands still, no link is cut, no topic and no journal is there."""
    assert set(UNDONE) <= set(hands.done)
    assert not operator.cluster.node("broker-1").stands_still
    assert "kmigrate-orders" not in str(seen(operator))
    assert not list(file.parent.glob("*.harm.*"))
