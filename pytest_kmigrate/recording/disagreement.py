"""Disagreements: two facts of one piece of evidence that cannot both be true."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Disagreement:
    """Two facts that exclude each other, each a clause with the place it comes from."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first}, but {self.second}"
