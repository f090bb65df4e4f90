"""Compares the topology of a run with the one that this release ships under its name."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from pytest_kmigrate.distributions.releases import SHAPE, known_releases
from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.judging.coherence.header import name_under_test
from pytest_kmigrate.judging.planning.plan import PlannedTest
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.disagreement import Disagreement


def another_topology(header: RunHeader, planned: PlannedTest) -> Iterator[Disagreement]:
    """A topology of another name, or one of the same name in which anything differs, such as what its nodes run."""
    if header.topology != planned.topology:
        yield Disagreement(f"the plan has the topology {planned.topology}", f"the run had {header.topology}")
        return
    name = name_under_test(header)
    if name is None or header.circumstances.topology_digest != _digest_of(planned.topology, name, header.kafka):
        yield Disagreement(
            f"the plan has the topology {planned.topology} as this release ships it", "the run had another of that name"
        )


@cache
def _digest_of(topology: str, name: str, version: str) -> str | None:
    """The digest of a shipped topology with this Kafka in it; None if that cannot run it.

    A build goes by its path or image, which need not be here: a release holds its place while the file is read.
    """
    from pytest_kmigrate.topology import loading  # noqa: PLC0415 - it brings pydantic, and judges need none

    is_build = SHAPE.fullmatch(name) is None
    try:
        file = loading.find(topology)
        read = loading.load(file, kafka=_of_its_line(version) if is_build else name)
    except WrongUseError:
        return None
    if not is_build:
        return read.digest()
    ours = loading.under_test(file)
    nodes = tuple(replace(node, kafka=name) if node.name in ours else node for node in read.nodes)
    return replace(read, kafka=name, nodes=nodes).digest()


def _of_its_line(version: str) -> str | None:
    """The last release of the line that a build is of, as a topology may differ by lines; None: there is none."""
    line = numbers_of(version).release[:2]
    return next((each for each in reversed(known_releases()) if numbers_of(each).release[:2] == line), None)
