"""Hooks: called only where the file allows them; one that fails or hangs is one clear error."""

import threading
from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, NoEffectError, NotApplicableError, TopologyError, WrongUseError
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.providers.attach import node as nodes
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.hooks import Hooks, brought
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.waiting import PATIENCE_S, until
from tests.unit.providers.attach.files import SMALL, cluster_of, written

STARTED = "echo {name} {id} {role} {host} > FOLDER/called"
SET = "cp {file} FOLDER/called"
SLOW = "sleep 60 & echo $! > FOLDER/pid; wait"


class Ours:
    """Hooks in Python."""

    def start(self, node: str) -> None:
        """Fails."""
        raise ZeroDivisionError(node)

    def stop(self, node: str) -> None:
        """Hangs."""
        threading.Event().wait(60)


def hooked(folder: Path, allow: str = "", **commands: str) -> Path:
    """A file with hooks that a shell runs."""
    lines = [f"{action} = ['sh', '-c', '{text.replace('FOLDER', str(folder))}']" for action, text in commands.items()]
    head = f"allow = [{allow}]\n" if allow else ""
    return written(folder, head + SMALL + "\n".join(["[hooks]", "within_s = 1", *lines]) + "\n")


def hooks_of(file: Path) -> Hooks:
    """Its hooks; failures are written down nowhere."""
    return Hooks(site_at(file), MemoryRecorder())


def test_a_hook_is_given_the_node(tmp_path: Path) -> None:
    """By what stands in braces."""
    hooks_of(hooked(tmp_path, start=STARTED)).call("start", "broker-0")
    assert (tmp_path / "called").read_text() == "broker-0 0 broker b0.example\n"


def test_new_properties_come_as_a_file(tmp_path: Path) -> None:
    """A line each, and the key alone to take one away."""
    cluster = cluster_of(hooked(tmp_path, reconfigure=SET), Capability.RECONFIGURE)
    node = cluster.node("broker-0")
    node.reconfigure({"a.b": "c", "d": None, "x.password": "secret"}, BrokerMode.KRAFT)
    assert (tmp_path / "called").read_text() == "a.b=c\nd\nx.password=secret\n"
    assert node.properties == {"a.b": "c", "x.password": "secret"}


def test_a_hook_that_is_not_allowed_is_never_called(tmp_path: Path) -> None:
    """Though the file has it."""
    cluster = cluster_of(hooked(tmp_path, start=STARTED, stop=STARTED, kill=STARTED), Capability.PAUSE)
    for call in (cluster.node("broker-0").start, cluster.node("broker-0").stop, cluster.node("broker-0").kill):
        with pytest.raises(NotApplicableError):
            call()
    assert not (tmp_path / "called").exists()


def test_a_hook_that_fails_is_one_sentence(tmp_path: Path) -> None:
    """With its key, its status and its last words."""
    file = hooked(tmp_path, kill="echo no such host >&2; exit 7")
    with pytest.raises(ClusterError) as raised:
        hooks_of(file).call("kill", "broker-1")
    assert str(raised.value) == f"{file}: hooks.kill of broker-1: expected sh to end with 0; got 7: no such host"


def test_a_hook_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    """After its time."""
    file = hooked(tmp_path, kill=SLOW)
    with pytest.raises(ClusterError, match=r"hooks\.kill of broker-1: expected an end within 1 s \(hooks\.within_s\)"):
        hooks_of(file).call("kill", "broker-1")
    started = int((tmp_path / "pid").read_text())
    until(lambda: not is_running(started), awaited="the end of what it started", within_s=PATIENCE_S)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """As the shell would."""
    file = written(tmp_path, SMALL + "[hooks]\nkill = ['no-such-program']\n")
    with pytest.raises(ClusterError, match="expected a program that is there; got 'no-such-program': No such file"):
        hooks_of(file).call("kill", "broker-1")


def test_hooks_in_python_fail_and_hang_alike(tmp_path: Path) -> None:
    """One sentence each."""
    file = written(tmp_path, SMALL + f'[hooks]\npython = "{__name__}:Ours"\nwithin_s = 1\n')
    assert isinstance(brought(site_at(file)), Ours)
    hooks = hooks_of(file)
    with pytest.raises(ClusterError, match=r"expected .*:Ours to do it; got ZeroDivisionError: broker-0"):
        hooks.call("start", "broker-0")
    with pytest.raises(ClusterError, match="expected an end within 1 s"):
        hooks.call("stop", "broker-0")


@pytest.mark.parametrize("named", ["no_such_module:Hooks", f"{__name__}:Nothing", "nothing"])
def test_a_class_that_cannot_be_had_is_wrong_use(tmp_path: Path, named: str) -> None:
    """Reported before anything is done."""
    file = written(tmp_path, SMALL + f'[hooks]\npython = "{named}"\n')
    with pytest.raises(WrongUseError, match=r"hooks\.python: expected a class .* got "):
        brought(site_at(file))


def test_what_is_allowed_needs_its_hooks(tmp_path: Path) -> None:
    """Or commands would be missed in the midst."""
    with pytest.raises(TopologyError, match=r'allow: expected hooks\.resume for "pause"; got nothing'):
        site_at(hooked(tmp_path, '"pause"', pause="true"))


def test_a_start_by_hook_of_one_that_stays_away_is_noticed(tmp_path: Path) -> None:
    """The hook's word is no evidence that a node is there."""
    node = cluster_of(hooked(tmp_path, start="true"), Capability.START).node("broker-0")
    node.start(wait=False)
    with pytest.raises(ClusterError, match="an answer of broker-0: not within 1 s"):
        node.await_ready(within_s=1)


def is_running(pid: int) -> bool:
    """Whether there is such a process, and no zombie."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("action", ["kill", "pause"])
def test_a_hook_that_reports_success_and_does_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    """It was applied, and had no effect: that is neither a failure of the hook nor evidence of Kafka."""
    monkeypatch.setattr(nodes, "_SEEN_WITHIN_S", 0.1)
    monkeypatch.setattr(nodes.AttachedNode, "alive", True)
    commands = {"kill": "true"} if action == "kill" else {"pause": "true", "resume": "true"}
    file = hooked(tmp_path, allow=f'"{action}"', **commands)
    cluster = cluster_of(file, Capability.KILL, Capability.PAUSE)
    with pytest.raises(NoEffectError, match=rf"^hooks.{action} of broker-0 reported success, and 0.1 s later it "):
        getattr(cluster.node("broker-0"), action)()
    cluster.journal.close()  # it may have its effect yet
