"""What containers have mounted: the cluster's folders, agents, and in an empty image the software of this machine."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.owned.software import Software

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ssl", "/etc/alternatives", "/etc/ld.so.cache")
ATTACHED_AT = "/tmp"  # noqa: S108 - of a container; where HotSpot has its attach socket
_JAVA_SETTINGS = "java-*"
"""In /etc, where a JDK of Debian has its own."""


class Mounts:
    """Each folder at its own path, so that every command line is the same inside as outside."""

    def __init__(self, software: Software, topology: Topology, written: Iterable[Path]) -> None:
        self._written = [folder.absolute() for folder in written]
        self._of_every_node = [software.jolokia.parent, software.byteman.parent]
        self._of_every_node += [each.parent for each in (software.jacoco, software.planter) if each]
        self._of_every_node += [Path(jar.path).absolute().parent for node in topology.nodes for jar in node.jars]
        self._read = [Path(each) for each in _SYSTEM if Path(each).exists()]
        self._read += sorted(Path("/etc").glob(_JAVA_SETTINGS))
        self._read += [software.java.parent.parent, software.toxiproxy.parent, *self._of_every_node]
        for distribution in software.distributions.values():
            self.add(distribution)

    def add(self, distribution: Distribution) -> Distribution:
        """Have the files of a distribution from now on; an image has its own."""
        if distribution.image is not None:
            return distribution
        archive = [distribution.cds_archive] if distribution.cds_archive else []
        self._read += [each.parent for each in (*distribution.jars, *distribution.appended, *archive)]
        return distribution

    def options(self, *, has_system: bool = False) -> Mapping[str, Any]:
        """Those of a container's HostConfig; ``has_system``: whether its image has a system and software of its own."""
        folders = self._of_every_node if has_system else self._read
        read = [_mount(folder, read_only=True) for folder in _outermost(folders)]
        return {
            "Mounts": [*read, *(_mount(folder, read_only=False) for folder in self._written)],
            "Tmpfs": {ATTACHED_AT: ""},
        }


def _mount(folder: Path, *, read_only: bool) -> dict[str, object]:
    return {"Type": "bind", "Source": str(folder), "Target": str(folder), "ReadOnly": read_only}


def _outermost(folders: Iterable[Path]) -> list[Path]:
    """Without those that lie in another one."""
    found: list[Path] = []
    for folder in sorted(set(folders)):
        if not any(folder.is_relative_to(each) for each in found):
            found.append(folder)
    return found
