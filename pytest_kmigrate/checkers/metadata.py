"""Check of metadata: two views of it are equal."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.checkers.acknowledged import looked_for
from pytest_kmigrate.checkers.changes import refusals
from pytest_kmigrate.checkers.differences import (
    PARTITION_FIELDS,
    Difference,
    Entries,
    both_entries,
    compared_fields,
    family_differences,
)
from pytest_kmigrate.checkers.quotas_left import signatures_of_quotas
from pytest_kmigrate.checkers.snapshots import changes_before, missing_images, snapshot
from pytest_kmigrate.checkers.wording import counted
from pytest_kmigrate.checkers.zookeeper_behind import signatures_of_zookeeper
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import FAMILIES
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


def metadata_equivalent(
    history: History,
    left: str,
    right: str,
    families: Sequence[str] | None = None,
    partition_fields: Sequence[str] = PARTITION_FIELDS,
) -> Verdict:
    """Two images are equal value by value in every family that both know (or in those named).

    What is left out is named in the facts, what both hold nothing of in the summary; nothing is passed over. A named
    family that an image cannot know makes it inconclusive; so does one that is empty in both and never was filled.
    Source: K866-DW-full-parity, K866-PROC-copy-topics, -configs, -quotas-scram, -acls, -tokens-pids.
    """
    name = "metadata_equivalent"
    lacking = missing_images(history, left, right)
    if lacking:
        return inconclusive(name, Kind.HARNESS, lacking)
    one, other = history.images[left], history.images[right]
    chosen = _families(families)
    known = [family for family in chosen if family in one.known and family in other.known]
    left_out = [family for family in chosen if family not in known]
    if families is not None and left_out:
        return inconclusive(name, Kind.VACUOUS, f"{', '.join(left_out)}: not known to both {left} and {right}")
    entries = {family: both_entries(one, other, family) for family in known}
    sizes = {family: len(ours.keys() | theirs.keys()) for family, (ours, theirs) in entries.items()}
    facts = {"families": sizes, "families_not_compared": left_out, **_fields_facts(entries, partition_fields)}
    if not any(sizes.values()):
        return inconclusive(name, Kind.VACUOUS, f"{left} and {right} hold nothing to compare", **facts)
    unlike = [each for family, both in entries.items() for each in family_differences(family, both, partition_fields)]
    found = _violations(history, (left, right), unlike)
    text = ", ".join(f"{family} {size}" for family, size in sizes.items() if size)
    if found:
        text = _difference_text(found, left, right)
        return violates(name, Kind.SAFETY, found, text, **facts, signatures=_signatures(history, (left, right), unlike))
    errors = refusals(changes_before(history, right))
    nothing = [family for family, size in sizes.items() if not size]
    vacuous = [family for family in nothing if errors.get(family) != ""] if families is not None else []
    silent = sorted(one.silent | other.silent) if "configs" in known else []
    if silent or vacuous:
        text = f"{left} and {right} both hold nothing of {_told(vacuous, errors)}, and no change of it was accepted"
        text = f"{', '.join(silent)} did not tell its configs; {left} and {right} are equal else" if silent else text
        return inconclusive(name, Kind.INFRA if silent else Kind.VACUOUS, text, **facts)
    text += f"; both hold nothing of {_told(nothing, errors)}" if nothing else ""
    return conforms(name, f"{left} and {right} are equal in {text}", **facts)


def _told(families: Sequence[str], errors: Mapping[str, str]) -> str:
    """Families, each with why Kafka has no room for it, if it said so."""
    return ", ".join(f"{each} (refused: {errors[each]})" if errors.get(each) else each for each in families)


def _signatures(history: History, labels: tuple[str, str], unlike: Sequence[Difference]) -> list[str]:
    """What known bugs of dual write look like, unless the other side lacks something acknowledged, too."""
    others = [label for label in labels if history.images[label].source != "zookeeper"]
    if any(looked_for(history, label).lost for label in others):
        return []
    keys = {each.key for each in unlike}
    return [*signatures_of_zookeeper(history, *labels), *signatures_of_quotas(history, keys, *labels)]


def _families(families: Sequence[str] | None) -> Sequence[str]:
    if families is None:
        return FAMILIES
    strange = [family for family in families if family not in FAMILIES]
    if strange:
        raise WrongUseError(f"families: expected some of {', '.join(FAMILIES)}, got {', '.join(strange)}")
    return families


def _fields_facts(entries: Mapping[str, tuple[Entries, Entries]], fields: Sequence[str]) -> dict[str, object]:
    sides = entries.get("partitions", ({}, {}))
    present = {field for side in sides for value in side.values() if isinstance(value, Mapping) for field in value}
    compared = compared_fields("partitions", sides, fields) or ()
    return {"partition_fields": list(compared), "partition_fields_not_compared": sorted(present - set(compared))}


def _violations(history: History, labels: tuple[str, str], unlike: Sequence[Difference]) -> list[Violation]:
    left, right = labels
    taken = snapshot(history, right)
    evidence = [f"image {label}" for label in labels] + ([f"event {taken.seq}"] if taken else [])
    return [
        Violation(
            f"{each.subject} is {_value(each.left)}, as in {left}",
            f"{each.subject} is {_value(each.right)} in {right}",
            taken.at_ns if taken else None,
            tuple(evidence),
        )
        for each in unlike
    ]


def _value(value: object) -> str:
    return "absent" if value is None else repr(value)


def _difference_text(found: list[Violation], left: str, right: str) -> str:
    first = f"expected {found[0].expected}; observed {found[0].observed}"
    return f"{counted(len(found), 'difference')} between {left} and {right}, first: {first}"
