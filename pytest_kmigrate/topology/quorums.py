"""Rules of quorums and of logins and certificates, which only some clusters and releases can have."""

from collections.abc import Iterator

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.format import TopologyFile
from pytest_kmigrate.topology.mistakes import Mistake, shown
from pytest_kmigrate.topology.nodes import node_names, release_of
from pytest_kmigrate.topology.values import version_of

_DYNAMIC_SINCE = (3, 9, 0)
_SCRAM_SINCE = (3, 5, 0)
_KAFKA = (Role.BROKER, Role.COMBINED, Role.CONTROLLER)
_VOTERS = (Role.COMBINED, Role.CONTROLLER)


def dynamic_quorums_can_be(file: TopologyFile) -> Iterator[Mistake]:
    """Every node knows KIP-853, and no migration is to find fixed voters."""
    if file.quorum != "dynamic":
        return
    if file.zookeeper is not None:
        text = "expected a cluster without [zookeeper], as a migration names its voters in every node's properties"
        yield Mistake(("quorum",), f'{text}, got "dynamic": write quorum = "fixed", or leave it out')
    elif not node_names(file, *_VOTERS):
        yield Mistake(("quorum",), "expected a [controller] or [combined] table, whose quorum it is, got neither")
    yield from _too_old(file, ("quorum",), _DYNAMIC_SINCE, "dynamic quorums (KIP-853)", *_KAFKA)


def controller_logins_can_be(file: TopologyFile) -> Iterator[Mistake]:
    """Controllers that elect a leader cannot read the credentials that only a leader's log has."""
    security, path = file.security, ("security", "controller_login")
    if security.controller_login == "PLAIN":
        return
    protocol = security.listeners.controller or security.protocol
    if not protocol.startswith("SASL"):
        yield Mistake(path, f"expected a listener of controllers with SASL, got {protocol}: leave this out")
    voters = node_names(file, *_VOTERS)
    if file.zookeeper is not None or len(voters) > 1:
        got = "a [zookeeper] table" if file.zookeeper is not None else f"{len(voters)} controllers"
        text = (
            "expected a quorum of one that was born in KRaft mode, because its log holds the credentials, and several "
        )
        text += f"controllers log in at each other before they have a log (KAFKA-15513); got {got}: "
        yield Mistake(path, f'{text}write controller_login = "PLAIN"')
    yield from _too_old(file, path, _SCRAM_SINCE, "credentials when disks are formatted", *_KAFKA)


def certificates_have_listeners(file: TopologyFile) -> Iterator[Mistake]:
    """A certificate is asked for where TLS is spoken."""
    security = file.security
    own = security.listeners
    protocols = [own.internal, own.client, own.controller, *security.extra_listeners.values()]
    if security.client_auth == "required" and not any("SSL" in (each or security.protocol) for each in protocols):
        text = 'expected a listener with TLS beside it (protocol = "SSL" or "SASL_SSL"), got none'
        yield Mistake(("security", "client_auth"), text)


def control_planes_have_zookeeper(file: TopologyFile) -> Iterator[Mistake]:
    """KRaft knows no such listener."""
    if file.security.control_plane is not None and file.zookeeper is None:
        text = "expected a [zookeeper] table beside it, as nodes in KRaft mode refuse control.plane.listener.name"
        yield Mistake(("security", "control_plane"), f"{text}, got {shown(file.security.control_plane)}: leave it out")


def _too_old(
    file: TopologyFile, path: tuple[str, ...], since: tuple[int, int, int], what: str, *roles: Role
) -> Iterator[Mistake]:
    for name in node_names(file, *roles):
        kafka = release_of(file, name)
        version = version_of(kafka)
        if version is not None and version < since:
            text = f"expected every node to run {'.'.join(map(str, since))} or later, the first with {what}; "
            yield Mistake(path, f"{text}{name} runs {shown(kafka)}: take a later release, or leave this out")
            return
