"""Check of metadata: two views of it are equal."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.changes import refusals
from pytest_kmigrate.checkers.metadata.differences import (
    PARTITION_FIELDS,
    Difference,
    Entries,
    both_entries,
    compared_fields,
    family_differences,
)
from pytest_kmigrate.checkers.metadata.snapshots import changes_before, missing_images, snapshot
from pytest_kmigrate.checkers.metadata.soundness import reservation_about, unsound_logs
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import FAMILIES
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


@checker()
def metadata_equivalent(
    history: History,
    left: str,
    right: str,
    families: Sequence[str] | None = None,
    partition_fields: Sequence[str] = PARTITION_FIELDS,
) -> Verdict:
    """Two images are equal value by value in every family that both know (or in those named), and each is sound.

    What is left out is named, as is what both hold nothing of; nothing is passed over. Inconclusive: a named family
    that an image cannot know, or that is empty in both and never was filled; one that brokers usually report, did not,
    and the other side holds something of; one that a broker did not answer about, or of which a znode could not be
    understood. A metadata log in which something unknown was changed violates, whatever is compared.
    """
    lacking = missing_images(history, left, right)
    if lacking:
        return inconclusive(Kind.HARNESS, lacking)
    one, other = history.images[left], history.images[right]
    chosen = _families(families)
    known = [family for family in chosen if family in one.known and family in other.known]
    left_out = [family for family in chosen if family not in known]
    if families is not None and left_out:
        return inconclusive(Kind.VACUOUS, f"{', '.join(left_out)}: not known to both {left} and {right}")
    entries = {family: both_entries(one, other, family) for family in known}
    sizes = {family: len(ours.keys() | theirs.keys()) for family, (ours, theirs) in entries.items()}
    of_images: dict[str, object] = {"images": [left, right], "families": sizes, "families_not_compared": left_out}
    facts = of_images | _fields_facts(entries, partition_fields)
    unsound = unsound_logs(history, left, right)
    if not any(sizes.values()) and not unsound:
        return inconclusive(Kind.VACUOUS, f"{left} and {right} hold nothing to compare", **facts)
    unlike = [each for family, both in entries.items() for each in family_differences(family, both, partition_fields)]
    found = [*unsound, *_violations(history, (left, right), unlike)]
    if found:
        text = _difference_text(found, len(unsound), left, right)
        return violates(Kind.SAFETY, found, text, **facts)
    nothing = [family for family, size in sizes.items() if not size]
    errors = refusals(changes_before(history, right))
    vacuous = [family for family in nothing if errors.get(family) != ""] if families is not None else []
    reservation = reservation_about(one, other, chosen)
    if reservation or vacuous:
        text = f"{left} and {right} both hold nothing of {_told(vacuous, errors)}, and no change of it was accepted"
        text = f"{reservation.text}; {left} and {right} are equal else" if reservation else text
        return inconclusive(reservation.kind if reservation else Kind.VACUOUS, text, **facts)
    compared = _compared(sizes, _told(nothing, errors), left_out)
    return conforms(f"{left} and {right} are equal in {compared}", **facts)


def _compared(sizes: Mapping[str, int], nothing: str, left_out: Sequence[str]) -> str:
    """What was compared, each family with its number of entries, and what was not."""
    text = ", ".join(f"{family} {size}" for family, size in sizes.items() if size)
    text += f"; both hold nothing of {nothing}" if nothing else ""
    return text + (f"; not compared: {', '.join(left_out)}" if left_out else "")


def _told(families: Sequence[str], errors: Mapping[str, str]) -> str:
    """Families, each with why Kafka has no room for it, if it said so."""
    return ", ".join(f"{each} (refused: {errors[each]})" if errors.get(each) else each for each in families)


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


def _difference_text(found: list[Violation], unsound: int, left: str, right: str) -> str:
    unlike = len(found) - unsound
    reported = [f"{counted(unlike, 'difference')} between {left} and {right}"] if unlike else []
    reported += [f"{counted(unsound, 'change')} in the log that cannot be"] if unsound else []
    return f"{' and '.join(reported)}, first: expected {found[0].expected}; observed {found[0].observed}"
