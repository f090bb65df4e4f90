"""Shipped topologies with the Kafka of a run in them."""

from functools import cache

from pytest_kmigrate.distributions.releases import SHAPE, known_releases
from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.topology import Topology


@cache
def read_with(topology: str, name: str, version: str) -> tuple[Topology, frozenset[str]] | None:
    """A shipped topology with this Kafka in it, and the nodes that run it; None if it cannot.

    A build goes by its path or image, which need not be here: a release holds its place while the file is read.
    """
    from pytest_kmigrate.topology import loading  # noqa: PLC0415 - it brings pydantic, and judges need none

    is_build = SHAPE.fullmatch(name) is None
    try:
        file = loading.find(topology)
        return loading.load(file, kafka=_of_its_line(version) if is_build else name), loading.under_test(file)
    except WrongUseError:
        return None


def _of_its_line(version: str) -> str | None:
    """The last release of the line that a build is of, as a topology may differ by lines; None: there is none."""
    line = numbers_of(version).release[:2]
    return next((each for each in reversed(known_releases()) if numbers_of(each).release[:2] == line), None)
