"""Facts about schedules against the harness itself: every part is hit, and each line comes back as it was."""

from pytest_kmigrate.faults.processes import Kill, Pause
from tests.real.harness.schedules import PARTS, drawn, read


def test_a_hundred_seeds_are_about_every_part_and_kind() -> None:
    """Each part is killed and stopped."""
    happenings = [each for seed in range(100) for each in drawn(seed).happenings]
    assert {(type(each.fault), str(each.fault.target)) for each in happenings} == {
        (kind, part) for kind in (Kill, Pause) for part in PARTS
    }


def test_a_seed_is_a_line_that_comes_back_as_it_was() -> None:
    """The same each time."""
    for seed in range(100):
        assert read(drawn(seed).line).line == drawn(seed).line
