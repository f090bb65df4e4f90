"""What the seed of a run draws: anyone can draw it again."""

from collections.abc import Sequence
from random import Random

from pytest_kmigrate.model.topology import Role


def drawn(seed: int, role: Role, names: Sequence[str]) -> str:
    """The node of this role that the seed draws among these."""
    return Random(f"{seed}-{role}").choice(names)
