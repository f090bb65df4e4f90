"""What is derived from an instance is derived once, and never for another one."""

from dataclasses import dataclass, replace

from pytest_kmigrate.model.keeping import kept

asked: list[tuple[int, int]] = []


@dataclass(frozen=True)
class Thing:
    """A value."""

    size: int


@kept
def times(thing: Thing, factor: int) -> int:
    """A product that is noted."""
    asked.append((thing.size, factor))
    return thing.size * factor


def test_each_question_is_answered_once_for_each_instance() -> None:
    """An instance that differs in a field has nothing of the one that it was made of."""
    asked.clear()
    three = Thing(3)
    assert [times(three, 2), times(three, 5), times(three, 2)] == [6, 15, 6]
    assert times(replace(three, size=4), 2) == 8
    assert asked == [(3, 2), (3, 5), (4, 2)]
    assert three == Thing(3)
