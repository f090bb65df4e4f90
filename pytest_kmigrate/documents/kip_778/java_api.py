"""What classes of a release say about levels and about the admin client's requests, in words a test compares."""

import re
from collections.abc import Mapping

from pytest_kmigrate.distributions.class_files import JavaClass

LEVELS = "org.apache.kafka.server.common.MetadataVersion"
UPDATE = "org.apache.kafka.clients.admin.FeatureUpdate"
TYPES = (f"{UPDATE}$DowngradeType", f"{UPDATE}$UpgradeType")
"""Of an update: the document's name and Kafka's."""
OPTIONS = "org.apache.kafka.clients.admin.UpdateFeaturesOptions"
_LATEST = "LATEST_PRODUCTION"
_LEVEL = re.compile(r"IBP_(\d+)_(\d+)_IV(\d+)")
_TYPES: Mapping[str, str] = {"S": "short", "Z": "boolean"}


def levels_not_yet_stable(levels: JavaClass) -> list[str]:
    """The names of levels above the highest one that is meant for production; none where a release names no such."""
    latest = next((level for each in levels.methods for name, level in each.sets_static if name == _LATEST), None)
    above = levels.constants[levels.constants.index(latest) + 1 :] if latest in levels.constants else []
    return [_LEVEL.sub(r"\1.\2-IV\3", each) for each in above]


def constructors(of: JavaClass) -> dict[str, str]:
    """By parameters, such as ``short, boolean``, whether a public constructor is ``deprecated`` or ``kept``."""
    public = of.public("<init>").items()
    return {_parameters(each): "deprecated" if member.is_deprecated else "kept" for each, member in public}


def types_of_old_constructor(update: JavaClass) -> list[str]:
    """The types that the constructor with a boolean makes of true and false, sorted; none where it is gone."""
    found = update.public("<init>").get("(SZ)V")
    return sorted(set(found.reads)) if found else []


def switches_off_by_default(options: JavaClass) -> list[str]:
    """The booleans that the constructor without parameters sets to false, and that public methods read and set."""
    new = options.public("<init>").get("()V")
    kinds = {name: "".join(options.public(name)) for name in _names(options)}
    is_whole = [name for name, kind in kinds.items() if "()Z" in kind and "(Z)" in kind]
    return sorted(is_whole) if new is not None and new.falsifies else []


def _names(of: JavaClass) -> set[str]:
    return {each.name for each in of.methods if each.is_public and not each.name.startswith("<")}


def _parameters(descriptor: str) -> str:
    inside = descriptor[1 : descriptor.index(")")]
    found = re.findall(r"\[*(?:L[^;]+;|[A-Z])", inside)
    return ", ".join(_TYPES.get(each) or re.split(r"[/$]", each.rstrip(";"))[-1] for each in found)
