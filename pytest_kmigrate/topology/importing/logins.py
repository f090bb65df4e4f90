"""The logins of a draft: which mechanisms a topology can have, and why it leaves others."""

from collections.abc import Iterator
from typing import Any

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing import names
from pytest_kmigrate.topology.importing.draft import Draft
from pytest_kmigrate.topology.importing.found import FoundNode, Setting
from pytest_kmigrate.topology.importing.names import parts
from pytest_kmigrate.topology.importing.versions import numbers

_SCRAM, _PLAIN = "SCRAM-SHA-512", "PLAIN"
_SCRAM_AT_CONTROLLERS_FROM = (3, 5)
_KAFKA = (Role.BROKER, Role.COMBINED, Role.CONTROLLER)
_VOTERS = (Role.COMBINED, Role.CONTROLLER)
_KEY = "controller_login"


def logins(draft: Draft, table: dict[str, Any]) -> None:
    """Write how brokers log in at controllers, if not as usual, and note mechanisms that are not taken over."""
    by_scram = _controllers_log_in_by_scram(draft, table)
    if by_scram:
        table[_KEY] = _SCRAM
        draft.take(f"security.{_KEY}", *by_scram)
    for node in draft.found.of(*_KAFKA):
        for setting, is_of_controllers in _mechanisms(node):
            ours = _SCRAM if by_scram or not is_of_controllers else _PLAIN
            others = [each for each in parts(setting.value) if each != ours]
            place = "controllers" if is_of_controllers else "brokers"
            if others:
                draft.notes.leave(setting.origin, f"{', '.join(others)}: logins at {place} are by {ours} here")


def _controllers_log_in_by_scram(draft: Draft, table: dict[str, Any]) -> list[Setting]:
    """The settings by which they do; none where a topology cannot: several have no log that holds the credentials."""
    protocol = table.get("listeners", {}).get("controller", table.get("protocol", ""))
    voters = sum(_count(draft.document[role]) for role in _VOTERS if role in draft.document)
    releases = [str(draft.document["kafka"]), *(str(each.get("kafka", "")) for each in draft.document.get("node", []))]
    is_too_old = any(() < numbers(each) < _SCRAM_AT_CONTROLLERS_FROM for each in releases)
    if "zookeeper" in draft.document or voters != 1 or is_too_old or not protocol.startswith("SASL"):
        return []
    found = [setting for node in draft.found.of(*_KAFKA) for setting, is_one in _mechanisms(node) if is_one]
    named = {each for setting in found for each in parts(setting.value)}
    return [each for each in found if _SCRAM in parts(each.value)] if _PLAIN not in named else []


def _count(table: dict[str, Any]) -> int:
    return len(table["ids"]) if "ids" in table else int(table["count"])


def _mechanisms(node: FoundNode) -> Iterator[tuple[Setting, bool]]:
    """The settings of mechanisms, and whether each is of the controllers' listener."""
    named = node.properties.get(names.CONTROLLER_LISTENERS)
    of_controllers = [each.lower() for each in parts(named.value)] if named else []
    for name, setting in node.properties.items():
        listener = name.removeprefix("listener.name.").partition(".")[0] if name.startswith("listener.name.") else ""
        if name.endswith((names.MECHANISMS, names.MECHANISM_OF_BROKERS)):
            yield setting, listener in of_controllers
        elif name == names.MECHANISM_OF_CONTROLLERS:
            yield setting, True
