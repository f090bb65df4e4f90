"""The security of a draft: protocols of listeners, the authorizer, and ZooKeeper's logins and ACLs."""

from typing import Any

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing import names
from pytest_kmigrate.topology.importing.draft import Draft
from pytest_kmigrate.topology.importing.found import Found, FoundNode, Setting
from pytest_kmigrate.topology.importing.listeners import (
    REQUIRED,
    Listeners,
    certificates_in,
    controller_in,
    listeners_in,
)
from pytest_kmigrate.topology.importing.logins import logins
from pytest_kmigrate.topology.importing.versions import numbers

_AUTHORIZED_FROM = "3.5.0"
"""A broker of an earlier release refuses to migrate with an authorizer."""
_PLAINTEXT = "PLAINTEXT"


def protect(draft: Draft, *, has_zookeeper: bool) -> None:
    """Write ``[security]``, unless it would say what holds anyway."""
    brokers = draft.found.of(Role.BROKER, Role.COMBINED)
    table: dict[str, Any] = {}
    _listeners(draft, listeners_in(brokers[0], draft.notes), table)
    _note_others(draft, brokers)
    logins(draft, table)
    _certificates(draft, table)
    _authorizer(draft, table)
    if has_zookeeper:
        _zookeeper(draft, table)
    if table:
        draft.document["security"] = table


def _listeners(draft: Draft, found: Listeners, table: dict[str, Any]) -> None:
    controllers = [controller_in(node.properties) for node in draft.found.of(Role.CONTROLLER)]
    controller = next((each for each in controllers if each), None) or found.controller
    internal = found.internal.value
    client = found.client.value if found.client else internal
    has_controllers = Role.CONTROLLER in draft.document or Role.COMBINED in draft.document
    if has_controllers and controller is None and internal != _PLAINTEXT:
        draft.notes.assume("security.listeners.controller", "controllers are protected as brokers are among themselves")
    of_controllers = (controller.value if controller else internal) if has_controllers else client
    if client != _PLAINTEXT or internal != _PLAINTEXT or of_controllers != _PLAINTEXT:
        table["protocol"] = client
    own = {"internal": internal, "controller": of_controllers}
    different = {key: value for key, value in own.items() if value != client}
    if different:
        table["listeners"] = different
    if found.extra:
        table["extra_listeners"] = {name: each.value for name, each in found.extra.items()}
    draft.take("[security]", *dict.fromkeys((found.internal, found.client, controller)))
    _control_plane(draft, found.plane, table)


def _control_plane(draft: Draft, plane: Setting | None, table: dict[str, Any]) -> None:
    planes = draft.found.settings(names.CONTROL_PLANE)
    if plane and "zookeeper" in draft.document:
        table["control_plane"] = plane.value
        draft.take("security.control_plane", *planes)
        return
    why = "the first broker, whose listeners all have, has none" if plane is None else "nodes in KRaft mode refuse it"
    for each in planes:
        draft.notes.leave(each.origin, why)


def _certificates(draft: Draft, table: dict[str, Any]) -> None:
    """Write whether clients show certificates: listeners of a topology do not differ in it."""
    nodes = draft.found.of(Role.BROKER, Role.COMBINED, Role.CONTROLLER)
    found = [certificates_in(node, draft.notes) for node in nodes]
    required = [setting for each in found for setting in each.required]
    protocols = [
        table.get("protocol", ""),
        *table.get("listeners", {}).values(),
        *table.get("extra_listeners", {}).values(),
    ]
    if not any("SSL" in each for each in protocols):
        for setting in required:
            draft.notes.leave(setting.origin, "no listener with TLS is among those that are taken over")
        return
    if not required:
        return
    table["client_auth"] = REQUIRED
    draft.take("security.client_auth", *required)
    silent = list(dict.fromkeys(name for each in found for name in each.silent))
    if silent:
        text = f"all listeners with TLS require certificates, as some do; {', '.join(silent)} would not"
        draft.notes.assume("security.client_auth", text)


def _note_others(draft: Draft, brokers: tuple[FoundNode, ...]) -> None:
    """Note brokers whose listeners differ from those of the first."""
    first = brokers[0].properties.get(names.PROTOCOLS)
    for node in brokers[1:]:
        own = node.properties.get(names.PROTOCOLS)
        if own and first and own.value != first.value:
            draft.notes.leave(own.origin, f"all brokers here have the listeners of one, {brokers[0].origin}")


def _authorizer(draft: Draft, table: dict[str, Any]) -> None:
    classes = [each for each in draft.found.settings(names.AUTHORIZER) if each.value]
    if not classes:
        return
    table["authorizer"] = True
    foreign = [each for each in classes if each.value not in names.KAFKA_AUTHORIZERS]
    for each in foreign:
        draft.notes.leave(each.origin, "a class of jars that are not here")
        draft.notes.assume("security.authorizer", "Kafka's own authorizer takes the place of one that is not here")
    draft.take("security.authorizer", *(each for each in classes if each not in foreign))
    release = numbers(str(draft.document["kafka"]))
    if "zookeeper" in draft.document and release and release < numbers(_AUTHORIZED_FROM):
        table["authorizer_since"] = _AUTHORIZED_FROM
        text = f"before {_AUTHORIZED_FROM} a broker with an authorizer refuses to migrate: left out there"
        draft.notes.assume("security.authorizer_since", text)


def _zookeeper(draft: Draft, table: dict[str, Any]) -> None:
    tls = _set(draft.found, names.ZOOKEEPER_TLS)
    acls = _set(draft.found, names.ZOOKEEPER_ACLS)
    logins = [
        setting
        for node in draft.found.of(Role.ZOOKEEPER)
        for name, setting in node.properties.items()
        if name.startswith("authProvider.") and ("sasl" in name.lower() or "sasl" in setting.value.lower())
    ]
    if tls:
        table["zookeeper"] = "SSL"
        draft.take("security.zookeeper", *tls)
    elif logins or acls:
        table["zookeeper"] = "SASL"
        draft.take("security.zookeeper", *logins)
        if not logins:
            draft.notes.assume("security.zookeeper", "ACLs on znodes name a login: SASL is taken")
    if acls:
        table["zookeeper_acls"] = True
        draft.take("security.zookeeper_acls", *acls)


def _set(found: Found, name: str) -> list[Setting]:
    """The settings of a truth that are true."""
    return [each for each in found.settings(name) if each.value.lower() == "true"]
