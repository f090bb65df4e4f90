"""Conditions that a user names: ``system=property:os.name``, ``system=hostname``, ``system=folder:test-results-{}``."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.analysis.schemas.columns import UNKNOWN
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.redaction import nameless, shown

OWN = ("profile", "provider", "kafka", "topology", "fault", "phase")
"""Names of conditions that have a column of their own; any other label stands in the column ``topology``."""

_NAME = re.compile(r"[A-Za-z][\w.-]*")
_PROPERTY, _HOSTNAME, _FOLDER = "property:", "hostname", "folder:"
_VALUE = "{}"
_MOST_NAMES = 10


@dataclass(frozen=True)
class Label:
    """Where the value of one condition of foreign results comes from."""

    name: str
    source: str

    def value(self, folder: str, host: str, properties: Mapping[str, str]) -> str:
        """The value for a result in a file of this folder (below the given one); empty if it has none."""
        if self.source == _HOSTNAME:
            return host
        if self.source.startswith(_PROPERTY):
            key = self.source.removeprefix(_PROPERTY)
            return shown(key, properties.get(key, ""), nameless)
        found = _pattern(self.source.removeprefix(_FOLDER)).search(f"/{folder}/")
        return found[1] if found else ""


def labels_of(given: Sequence[str]) -> tuple[Label, ...]:
    """The labels of ``--label NAME=SOURCE``; WrongUseError for one that is none, or named twice."""
    labels = tuple(_label(each) for each in given)
    names = [each.name for each in labels]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise WrongUseError(f"--label: expected each name once, got {twice} twice; give the second another name")
    return labels


def require_found(labels: Sequence[Label], found: Collection[str], properties: Collection[str]) -> None:
    """WrongUseError for a label that no result has; ``properties`` are the names that results do have."""
    for label in labels:
        if label.name not in found:
            there = ", ".join(sorted(properties)[:_MOST_NAMES]) or "none"
            raise WrongUseError(
                f"--label {label.name}={label.source}: no result of another tool has it; "
                f"properties that results have: {there}"
            )


def labelled(conditions: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Conditions with the values of labels, of which an empty one is unknown."""
    reported = {name: value for name, value in values.items() if name in OWN and value}
    others = [f"{name}={value or UNKNOWN}" for name, value in values.items() if name not in OWN]
    merged = {**conditions, **reported}
    where = [*([merged["topology"]] if "topology" in merged else []), *others]
    return {**merged, "topology": ", ".join(where)} if where else merged


def _label(given: str) -> Label:
    name, _, source = given.partition("=")
    is_known = (
        source == _HOSTNAME
        or (source.startswith(_PROPERTY) and source != _PROPERTY)
        or (source.startswith(_FOLDER) and source.count(_VALUE) == 1)
    )
    if not _NAME.fullmatch(name) or not is_known:
        raise WrongUseError(
            f"--label: expected NAME=property:KEY, NAME=hostname or NAME=folder:PATTERN with one {_VALUE} in it, "
            f"got {given}; for example --label system=property:os.name or --label system=folder:results-{_VALUE}"
        )
    return Label(name, source)


def _pattern(text: str) -> re.Pattern[str]:
    """Folders one below the other, anywhere in a path: ``*`` is any part of a name, ``{}`` the value."""
    parts = re.split(r"(\*|\{\})", text.strip("/"))
    forms = {"*": "[^/]*", _VALUE: "([^/]+)"}
    return re.compile("/" + "".join(forms.get(part, re.escape(part)) for part in parts) + "/")
