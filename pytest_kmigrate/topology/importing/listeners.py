"""Kafka's listeners as a topology has them: internal, client, controller, and further ones of clients."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from pytest_kmigrate.model.topology import Listener, SecurityProtocol
from pytest_kmigrate.topology.importing import names
from pytest_kmigrate.topology.importing.found import FoundNode, Notes, Properties, Setting
from pytest_kmigrate.topology.importing.names import parts
from pytest_kmigrate.topology.values import MOST_EXTRA_LISTENERS

PROTOCOLS: tuple[str, ...] = get_args(SecurityProtocol)
_PLAINTEXT = "PLAINTEXT"
_LISTENER = re.compile(r"\s*([^:/\s]+)\s*:?/?/?.*", re.DOTALL)
REQUIRED = "required"
"""Of ``ssl.client.auth``."""
_NOT_ASKED = ("none", "")
_IGNORED = "Kafka ignores it without TLS, and, where it names no listener, with a login"
_ONLY_REQUIRED = "certificates of clients are required here, or not asked for"


@dataclass(frozen=True)
class Listeners:
    """The protocols of a cluster's listeners; None for what no file shows."""

    internal: Setting
    client: Setting | None
    controller: Setting | None
    plane: Setting | None
    extra: Mapping[str, Setting]


def listeners_in(node: FoundNode, notes: Notes) -> Listeners:
    """The listeners of a broker, or of a combined node."""
    properties = node.properties
    protocols = dict(_protocols(properties))
    of_controllers = (
        parts(properties[names.CONTROLLER_LISTENERS].value) if names.CONTROLLER_LISTENERS in properties else []
    )
    plane = properties.get(names.CONTROL_PLANE)
    of_plane = plane.value.upper() if plane else ""
    listed = [name for name in _names(properties) if name not in of_controllers and name != of_plane]
    internal = _internal(properties, listed, protocols)
    clients = [name for name in listed if name != internal.value]
    origin = _place(properties).origin
    extra: dict[str, Setting] = {}
    for name in clients[1:]:
        if len(extra) == MOST_EXTRA_LISTENERS:
            notes.leave(origin, f"listener {name}: at most {MOST_EXTRA_LISTENERS} further listeners are offered")
        else:
            extra[_fit(name)] = Setting(_protocol(name, protocols), origin)
    if len(clients) > 1:
        notes.assume("security.listeners.client", f"of several listeners the first, {clients[0]}, is that of clients")
    client = Setting(_protocol(clients[0], protocols), origin) if clients else None
    return Listeners(
        Setting(_protocol(internal.value, protocols), internal.origin),
        client,
        controller_in(properties),
        Setting(_protocol(of_plane, protocols), plane.origin) if plane else None,
        extra,
    )


def controller_in(properties: Properties) -> Setting | None:
    """The protocol of the controllers' listener, if the node names one."""
    named = properties.get(names.CONTROLLER_LISTENERS)
    if named is None or not parts(named.value):
        return None
    return Setting(_protocol(parts(named.value)[0], dict(_protocols(properties))), _place(properties, named).origin)


@dataclass(frozen=True)
class Certificates:
    """How the listeners of a node with TLS treat clients without a certificate.

    ``required``: the settings by which some refuse them. ``silent``: names of listeners that accept them.
    """

    required: tuple[Setting, ...]
    silent: tuple[str, ...]


def certificates_in(node: FoundNode, notes: Notes) -> Certificates:
    """What a node's listeners require of clients; settings that require nothing are noted as left.

    Kafka applies ``ssl.client.auth`` without the name of a listener to listeners without a login only.
    """
    properties, protocols = node.properties, dict(_protocols(node.properties))
    required: list[Setting] = []
    silent: list[str] = []
    for name in _names(properties):
        protocol = _protocol(name, protocols)
        general = properties.get(names.CLIENT_AUTH) if protocol == "SSL" else None
        setting = properties.get(names.of_listener(name, names.CLIENT_AUTH), general)
        if protocol.endswith("SSL"):
            (required.append(setting) if setting and setting.value == REQUIRED else silent.append(name))
    for name, setting in properties.items():
        if not name.endswith(names.CLIENT_AUTH) or setting in required or setting.value in _NOT_ASKED:
            continue
        notes.leave(setting.origin, _IGNORED if setting.value == REQUIRED else _ONLY_REQUIRED)
    return Certificates(tuple(dict.fromkeys(required)), tuple(silent))


def _names(properties: Properties) -> list[str]:
    place = properties.get(names.LISTENERS) or properties.get(names.ADVERTISED)
    found = [match[1].upper() for each in parts(place.value if place else "") if (match := _LISTENER.fullmatch(each))]
    if names.LISTENERS in properties and names.ADVERTISED in properties and not found:
        found = [_PLAINTEXT]
    return list(dict.fromkeys(found)) or [_PLAINTEXT]


def _place(properties: Properties, default: Setting | None = None) -> Setting:
    """Where listeners are described."""
    for name in (names.PROTOCOLS, names.LISTENERS, names.ADVERTISED):
        if name in properties:
            return properties[name]
    return default or next(iter(properties.values()))


def _protocols(properties: Properties) -> Iterator[tuple[str, str]]:
    for each in parts(_value(properties, names.PROTOCOLS)):
        name, _, found = each.partition(":")
        yield name.strip().upper(), found.strip().upper()


def _internal(properties: Properties, listed: list[str], protocols: Mapping[str, str]) -> Setting:
    """The name of the listener that brokers dial each other by."""
    named = properties.get(names.INTER_BROKER)
    if named:
        return Setting(named.value.upper(), named.origin)
    wanted = properties.get(names.INTER_BROKER_PROTOCOL)
    fitting = [
        name for name in listed if _protocol(name, protocols) == (wanted.value.upper() if wanted else _PLAINTEXT)
    ]
    return Setting((fitting or listed or [_PLAINTEXT])[0], (wanted or _place(properties)).origin)


def _protocol(name: str, protocols: Mapping[str, str]) -> str:
    """The protocol of a listener: as mapped, or by its name, as Kafka does."""
    found = protocols.get(name, name)
    return found if found in PROTOCOLS else _PLAINTEXT


def _fit(name: str) -> str:
    """The name as a topology may have it."""
    fit = re.sub(r"[^A-Z0-9_]", "_", name)
    return fit if fit[:1].isalpha() and fit not in tuple(Listener) else f"L_{fit}"


def _value(properties: Properties, name: str) -> str:
    return properties[name].value if name in properties else ""
