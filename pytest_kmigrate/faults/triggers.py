"""Triggers: when a fault begins. A trigger is armed when the block is entered, and fires at most once."""

import enum
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass

from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability, Needs
from pytest_kmigrate.model.document import check_state, name_of
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.model.protocols import CrashPoint, Scene
from pytest_kmigrate.model.topology import Role

Fired = Callable[[], bool]


@dataclass(frozen=True)
class Trigger:
    """A name for reports, and how to arm it in a scene: the callable then says whether it has fired."""

    name: str
    armed: Callable[[Scene], AbstractContextManager[Fired]]
    needs: Needs = frozenset()
    """What the provider must be able to do."""

    def __str__(self) -> str:
        return self.name


def _watching(name: str, fired: Callable[[Scene], bool]) -> Trigger:
    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        yield lambda: fired(scene)

    return Trigger(name, armed)


def _seen(is_so: Callable[[], bool]) -> Fired:
    """Nothing is seen while those that are asked do not answer: another fault may keep them from it for long."""

    def fired() -> bool:
        with suppress(ClusterError):
            return is_so()
        return False

    return fired


def now() -> Trigger:
    """At once."""
    return _watching("now", lambda _scene: True)


def when(name: str, is_so: Callable[[], bool]) -> Trigger:
    """When ``is_so`` returns True; ``name`` is how reports call it."""
    return _watching(name, lambda _scene: is_so())


def first_of(*triggers: Trigger) -> Trigger:
    """When any of them fires; all are armed when the block is entered."""

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        with ExitStack() as stack:
            fired = [stack.enter_context(each.armed(scene)) for each in triggers]
            yield lambda: any(each() for each in fired)

    needs = frozenset(need for each in triggers for need in each.needs)
    return Trigger(" or ".join(str(each) for each in triggers), armed, needs)


def after_s(seconds: float) -> Trigger:
    """So many seconds after it was armed: the latest end of a fault, not a moment to begin at."""

    @contextmanager
    def armed(_scene: Scene) -> Iterator[Fired]:
        at = time.monotonic() + seconds
        yield lambda: time.monotonic() >= at

    return Trigger(f"after({seconds:g} s)", armed)


def on_state(name: str, value: str | enum.Enum) -> Trigger:
    """When a state of the document has this value, or if it has it already: ``on_state("phase", Phase.HYBRID)``."""
    wanted = name_of(value)

    def reached(scene: Scene) -> bool:
        reading = scene.view.state(name)
        return reading is not None and reading.value == wanted

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        check_state(name, scene.view.states)
        yield _seen(lambda: reached(scene))

    return Trigger(f"on-state({name} {wanted})", armed)


def on_event(kind: EventKind, node: str | None = None) -> Trigger:
    """On the next event of this kind, of this node if one is named."""

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        first = len(scene.recorder.events)

        def matches(event: Event) -> bool:
            return event.kind is kind and (node is None or event.node == node)

        yield lambda: any(matches(event) for event in scene.recorder.events[first:])

    return Trigger(f"on-event({kind.value}{f' {node}' if node else ''})", armed)


def on_znode_change(path: str) -> Trigger:
    """When a znode's data, or the names of its children, have changed since the block was entered."""

    def seen(scene: Scene) -> object:
        return scene.znodes.get(path), scene.znodes.children(path)

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        before = seen(scene)
        yield _seen(lambda: seen(scene) != before)

    return Trigger(f"on-znode({path})", armed, frozenset({Capability.ZNODES}))


def on_metric(target: Target, metric: str, at_least: float) -> Trigger:
    """When a metric of a target reaches a value."""

    def reached(scene: Scene) -> bool:
        return any((scene.view.metric(name, metric) or 0) >= at_least for name in target.resolve(scene))

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        check_metric(metric)
        yield _seen(lambda: reached(scene))

    return Trigger(f"on-metric({target} {metric}>={at_least:g})", armed, frozenset({Capability.METRICS}))


def after_operations(count: int) -> Trigger:
    """After this many further acknowledged writes."""

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        wanted = scene.view.acked_operations() + count
        yield lambda: scene.view.acked_operations() >= wanted

    return Trigger(f"after({count} operations)", armed)


def at_crash_point(point: CrashPoint, role: Role = Role.CONTROLLER) -> Trigger:
    """When a node reaches a place in Kafka's code; it is held there until the fault has been applied."""

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        running = [node for node in scene.cluster.nodes(role) if node.alive]
        with scene.cluster.hold_at(point, running) as held:
            yield lambda: held() is not None

    return Trigger(f"at({point.name})", armed, frozenset({Capability.CRASH_POINTS}))


def in_turn(first: Trigger, second: Trigger) -> Trigger:
    """When ``second`` fires, which is armed only after ``first`` has fired; a node held by ``first`` stays held."""

    @contextmanager
    def armed(scene: Scene) -> Iterator[Fired]:
        with ExitStack() as stack:
            first_fired = stack.enter_context(first.armed(scene))
            second_fired: list[Fired] = []

            def fired() -> bool:
                if not second_fired and first_fired():
                    second_fired.append(stack.enter_context(second.armed(scene)))
                return bool(second_fired) and second_fired[0]()

            yield fired

    return Trigger(f"{first} then {second}", armed, first.needs | second.needs)
