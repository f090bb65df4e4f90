"""Which of a cluster's nodes is meant: what is the same in every provider."""

from collections.abc import Sequence
from typing import TypeVar

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.protocols import Node
from pytest_kmigrate.model.topology import Role

Some = TypeVar("Some", bound=Node)


def playing(nodes: Sequence[Some], role: Role | None) -> Sequence[Some]:
    """Those that play a role, or all."""
    return [node for node in nodes if role is None or node.spec.plays(role)]


def named(nodes: Sequence[Some], name: str) -> Some:
    """The one of this name; WrongUseError says which names there are."""
    for node in nodes:
        if node.name == name:
            return node
    raise WrongUseError(f"node: expected one of {', '.join(each.name for each in nodes)}; got {name!r}")
