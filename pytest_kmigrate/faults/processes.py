"""Faults of processes: killed, stopped in a controlled way, or made to stand still."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from pytest_kmigrate.faults.effect import Applied
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.events.faults import NOTHING
from pytest_kmigrate.model.protocols import Member, Node, Scene
from pytest_kmigrate.procedures.restarts import await_session_over, has_started

_P = TypeVar("_P", bound=Node | Member)


@dataclass(frozen=True)
class Kill:
    """SIGKILL; healed by starting the process again."""

    target: Target
    needs = frozenset({Capability.KILL, Capability.START})

    def __str__(self) -> str:
        return f"kill({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Kill every node meant, or member of a group."""
        processes = [_process(scene, name) for name in self.target.nodes(scene)]
        try:
            yield _gone(processes, "killed by signal 9", lambda each: each.kill())
        finally:
            _start_again(scene, [each.name for each in processes])


@dataclass(frozen=True)
class Stop:
    """Controlled shutdown; healed by starting the process again."""

    target: Target
    needs = frozenset({Capability.START})

    def __str__(self) -> str:
        return f"stop({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Stop every node meant, one after the other."""
        nodes = [scene.cluster.node(name) for name in self.target.nodes(scene)]
        try:
            yield _gone(nodes, "stopped", lambda node: node.stop())
        finally:
            _start_again(scene, [node.name for node in nodes])


@dataclass(frozen=True)
class Pause:
    """SIGSTOP: the process stops running, its connections stay open; healed by SIGCONT."""

    target: Target
    needs = frozenset({Capability.PAUSE})

    def __str__(self) -> str:
        return f"pause({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Pause every node meant, or member of a group."""
        nodes = [_process(scene, name) for name in self.target.nodes(scene)]
        try:
            for node in nodes:
                node.pause()
            names = tuple(node.name for node in nodes)
            yield Applied(names, "the process in state T (stopped)", lambda: _standing_still(nodes), takes=NOTHING)
        finally:
            for node in nodes:
                node.resume()


def _process(scene: Scene, name: str) -> Node | Member:
    return scene.members[name] if name in scene.members else scene.cluster.node(name)


def _gone(nodes: Sequence[_P], how: str, end: Callable[[_P], None]) -> Applied:
    """End processes, witnessed when each was seen to be gone, and there was one: what had ended before lost nothing.

    While the last of several is waited for, a roll may have started the first again.
    """
    names = tuple(node.name for node in nodes)
    lived = any(node.alive for node in nodes)
    gone = set[str]()
    for node in nodes:
        end(node)
        gone |= _ended(nodes)

    def witness() -> str | None:
        gone.update(_ended(nodes))
        return f"{', '.join(names)}: process gone, {how}" if lived and gone.issuperset(names) else None

    return Applied(names, "the process, which lived until then, gone", witness, takes=NOTHING)


def _ended(nodes: Sequence[Node | Member]) -> set[str]:
    return {node.name for node in nodes if not node.alive}


def _start_again(scene: Scene, names: Sequence[str]) -> None:
    """Heal; a test, or a roll, may have started a process itself, also while its session was waited for.

    What another fault ends as it starts is left to that one's heal.
    """
    members = [scene.members[name] for name in names if name in scene.members]
    for member in members:
        if not member.alive:
            member.start()
    nodes = [scene.cluster.node(name) for name in names if name not in scene.members]
    with scene.turns.of([node.name for node in nodes]):
        for node in nodes:
            if not node.alive:
                await_session_over(scene, node)
        down = [node for node in nodes if not node.alive]
        has_started(scene, partial(scene.cluster.start_together, down), is_heal=True)


def _standing_still(nodes: Sequence[Node | Member]) -> str | None:
    paused = [node for node in nodes if node.alive]
    still = bool(paused) and all(node.stands_still for node in paused)
    return f"{', '.join(node.name for node in paused)}: process in state T" if still else None
