"""Checks of metadata: two views of it are equal, and what was acknowledged is in a view."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.checkers.changes import State, admissible_states, began_ns, has_failed
from pytest_kmigrate.checkers.findings import violation_at
from pytest_kmigrate.checkers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.migration_znode import is_given_up_at
from pytest_kmigrate.checkers.moments import when
from pytest_kmigrate.checkers.wording import counted, listed
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import FAMILIES, MetadataImage
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates
from pytest_kmigrate.redaction import HIDDEN

PARTITION_FIELDS = ("replicas", "isr", "leader", "leader_epoch", "adding", "removing")
"""What is compared of a partition unless told otherwise. Not ``partition_epoch``: each side counts its own writes."""

_UNORDERED = frozenset({"isr", "adding", "removing"})
"""Partition fields that are sets by their meaning; the order of ``replicas`` names the preferred leader."""

_FIELDS_MAY_LACK = frozenset({"partitions", "scram", "delegation_tokens"})
"""Families whose entries have fields that one source cannot know.

Clients see no leader epoch and no credential; what a token's password is only brokers tell, nobody stores it.
"""

_EMPTY_MEANS_ABSENT = frozenset({"configs", "acls", "quotas"})
"""Families in which an entity without any value is the same as none."""


@dataclass(frozen=True)
class Difference:
    """One place where two images differ; None: it is not there."""

    family: str
    key: str
    part: str
    """The field that differs; empty when the whole entry does."""
    left: object
    right: object

    @property
    def subject(self) -> str:
        """The place in words."""
        return f"{self.family} {self.key}" + (f" {self.part}" if self.part else "")


def differences(
    left: MetadataImage, right: MetadataImage, partition_fields: Sequence[str] = PARTITION_FIELDS
) -> list[Difference]:
    """Every place where two images differ, in the families that both know."""
    return [
        difference
        for family in FAMILIES
        if family in left.known and family in right.known
        for difference in _family_differences(family, _both_entries(left, right, family), partition_fields)
    ]


def metadata_equivalent(
    history: History,
    left: str,
    right: str,
    families: Sequence[str] | None = None,
    partition_fields: Sequence[str] = PARTITION_FIELDS,
) -> Verdict:
    """Two images are equal value by value in every family that both know (or in those named).

    What is left out is named in the facts, never passed over. A named family that an image cannot know makes it
    inconclusive. Source: K866-DW-full-parity, K866-PROC-copy-topics, -configs, -quotas-scram, -acls, -tokens-pids.
    """
    name = "metadata_equivalent"
    lacking = _missing_images(history, left, right)
    if lacking:
        return inconclusive(name, Kind.HARNESS, lacking)
    one, other = history.images[left], history.images[right]
    chosen = _families(families)
    known = [family for family in chosen if family in one.known and family in other.known]
    left_out = [family for family in chosen if family not in known]
    if families is not None and left_out:
        return inconclusive(name, Kind.VACUOUS, f"{', '.join(left_out)}: not known to both {left} and {right}")
    entries = {family: _both_entries(one, other, family) for family in known}
    sizes = {family: len(ours.keys() | theirs.keys()) for family, (ours, theirs) in entries.items()}
    facts = {"families": sizes, "families_not_compared": left_out, **_fields_facts(entries, partition_fields)}
    if not any(sizes.values()):
        return inconclusive(name, Kind.VACUOUS, f"{left} and {right} hold nothing to compare", **facts)
    unlike = [each for family, both in entries.items() for each in _family_differences(family, both, partition_fields)]
    found = _violations(history, (left, right), unlike)
    text = ", ".join(f"{family} {size}" for family, size in sizes.items() if size)
    if found:
        text = _difference_text(found, left, right)
        signatures = [*_signatures(one, other), *_signatures_of_silence(history, left, right)]
        return violates(name, Kind.SAFETY, found, text, **facts, signatures=signatures)
    return conforms(name, f"{left} and {right} are equal in {text}", **facts)


def acknowledged_metadata_changes_present(history: History, label: str) -> Verdict:
    """Every acknowledged metadata change made before the image was taken holds in it, unless a later one undid it.

    An indefinite change may take effect at any time after it began, so it may hold or not, also after later ones.
    Acknowledged changes that overlap in time may hold in either order. Source: K866-DW-topic-create to K866-DW-acls.
    """
    name = "acknowledged_metadata_changes_present"
    lacking = _missing_images(history, label)
    if lacking:
        return inconclusive(name, Kind.HARNESS, lacking)
    image = history.images[label]
    states = admissible_states(_changes_before(history, label))
    judged = [state for state in states if state.is_acknowledged and state.family in image.known]
    unknown = sorted({state.family for state in states if state.family not in image.known})
    facts = {"judged": len(judged), "families_not_judged": unknown}
    if not judged:
        text = f"no acknowledged metadata change that {label} could show"
        return inconclusive(name, Kind.VACUOUS, text, **facts)
    found = []
    gone = _rightly_gone(states, image)
    for state in judged:
        observed = state.observed_in(image)
        if observed not in state.admissible and not (observed is None and state.topic in gone):
            at, seq = state.last.at_ns, state.last.seq
            expected = f"{state.subject} is {state.expected} (acknowledged {when(history, at)})"
            told = f"{state.told(observed)} in {label}"
            found.append(violation_at(history, expected, told, at, f"event {seq}", f"image {label}"))
    if found:
        names = listed([violation.expected for violation in found], "change", "; ")
        text = f"{len(found)} of {counted(len(judged), 'acknowledged metadata change')} not in {label}: {names}"
        signatures = [*_signatures(image), *_signatures_of_loss(history, label, found)]
        signatures += _signatures_of_silence(history, label)
        return violates(name, Kind.SAFETY, found, text, **facts, signatures=signatures)
    return conforms(name, f"{counted(len(judged), 'acknowledged metadata change')} hold in {label}", **facts)


def _signatures(*images: MetadataImage) -> list[str]:
    """What known bugs look like here: partitions that have replicas, but no state yet."""
    is_stateless = any(value.get("isr") is None for image in images for value in image.partitions.values())
    return ["new-partitions-block-the-full-sync"] if is_stateless else []


def _signatures_of_loss(history: History, label: str, lost: Sequence[Violation]) -> list[str]:
    """What a known bug looks like here: all that is lost was acknowledged by a quorum that is deprovisioned since."""
    taken, starts_ns = _snapshot(history, label), life_starts_ns(history)
    since = life_at(starts_ns, taken.at_ns) if taken else 0
    is_of_former_life = all(life_at(starts_ns, each.at_ns or 0) < since for each in lost)
    return ["dual-write-backlog-dropped-at-shutdown"] if is_of_former_life else []


def _signatures_of_silence(history: History, *labels: str) -> list[str]:
    """What a known bug looks like in ZooKeeper: the controller that is active does not write to it any more."""
    taken = [_snapshot(history, label) for label in labels if history.images[label].source == "zookeeper"]
    is_given_up = any(each is not None and is_given_up_at(history, each.at_ns) for each in taken)
    return ["answer-of-zookeeper-lost"] if is_given_up else []


def _missing_images(history: History, *labels: str) -> str:
    missing = [label for label in labels if label not in history.images]
    taken = ", ".join(sorted(history.images)) or "none"
    return f"no image named {' or '.join(missing)} was taken; there are: {taken}" if missing else ""


def _rightly_gone(states: Sequence[State], image: MetadataImage) -> set[str]:
    """Topics that are absent and may be: what was said of them otherwise need not hold either."""
    absent = [state for state in states if state.family == "topics" and state.observed_in(image) is None]
    return {state.topic for state in absent if None in state.admissible}


def _families(families: Sequence[str] | None) -> Sequence[str]:
    if families is None:
        return FAMILIES
    strange = [family for family in families if family not in FAMILIES]
    if strange:
        raise WrongUseError(f"families: expected some of {', '.join(FAMILIES)}, got {', '.join(strange)}")
    return families


def _entries(image: MetadataImage, family: str) -> Mapping[str, object]:
    entries: Mapping[str, object] = getattr(image, family)
    if family in _EMPTY_MEANS_ABSENT:
        return {key: value for key, value in entries.items() if value}
    return entries


def _both_entries(
    one: MetadataImage, other: MetadataImage, family: str
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    return _entries(one, family), _entries(other, family)


def _compared_fields(
    family: str, entries: tuple[Mapping[str, object], Mapping[str, object]], partition_fields: Sequence[str]
) -> tuple[str, ...] | None:
    """The fields both sides know in some entry; None: every entry is compared whole."""
    if family not in _FIELDS_MAY_LACK:
        return None
    ours, theirs = (
        {field for value in side.values() if isinstance(value, Mapping) for field in value} for side in entries
    )
    wanted = partition_fields if family == "partitions" else sorted(ours | theirs)
    return tuple(field for field in wanted if field in ours and field in theirs)


def _fields_facts(
    entries: Mapping[str, tuple[Mapping[str, object], Mapping[str, object]]], fields: Sequence[str]
) -> dict[str, object]:
    sides = entries.get("partitions", ({}, {}))
    present = {field for side in sides for value in side.values() if isinstance(value, Mapping) for field in value}
    compared = _compared_fields("partitions", sides, fields) or ()
    return {"partition_fields": list(compared), "partition_fields_not_compared": sorted(present - set(compared))}


def _family_differences(
    family: str, entries: tuple[Mapping[str, object], Mapping[str, object]], partition_fields: Sequence[str]
) -> list[Difference]:
    ours, theirs = entries
    fields = _compared_fields(family, entries, partition_fields)
    return [
        Difference(family, key, part, one, other)
        for key in sorted(ours.keys() | theirs.keys())
        for part, one, other in _parts(ours.get(key), theirs.get(key), fields)
    ]


def _violations(history: History, labels: tuple[str, str], unlike: Sequence[Difference]) -> list[Violation]:
    left, right = labels
    taken = _snapshot(history, right)
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


def _parts(one: object, other: object, fields: tuple[str, ...] | None) -> list[tuple[str, object, object]]:
    """The unequal parts of two entries: field by field where both have fields, else the whole."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return [] if _equal("", one, other) else [("", one, other)]
    keys = fields if fields is not None else sorted(one.keys() | other.keys())
    parts = [(key, one.get(key), other.get(key)) for key in keys]
    return [(key, mine, its) for key, mine, its in parts if not _equal(key, mine, its)]


def _equal(field: str, one: object, other: object) -> bool:
    """A secret that a broker does not tell may be any: that it is set is all there is to compare."""
    if HIDDEN in (one, other):
        return one is not None and other is not None
    return _plain(field, one) == _plain(field, other)


def _plain(field: str, value: object) -> object:
    if isinstance(value, list | tuple):
        return sorted(value) if field in _UNORDERED else list(value)
    return value


def _value(value: object) -> str:
    return "absent" if value is None else repr(value)


def _difference_text(found: list[Violation], left: str, right: str) -> str:
    first = f"expected {found[0].expected}; observed {found[0].observed}"
    return f"{counted(len(found), 'difference')} between {left} and {right}, first: {first}"


def _snapshot(history: History, label: str) -> Event | None:
    taken = [event for event in history.of(EventKind.SNAPSHOT) if event.data.get("label") == label]
    return taken[-1] if taken else None


def _taking_began_ns(history: History, taken: Event) -> int:
    """The earliest that an image can show: it was recorded when it was whole, and taking it takes time."""
    for settled in history.of(EventKind.SETTLED):
        labels, took_s = settled.data.get("images"), settled.data.get("took_s")
        if isinstance(labels, list | tuple) and taken.data.get("label") in labels and isinstance(took_s, int | float):
            recorded = [each for each in history.of(EventKind.SNAPSHOT) if each.data.get("label") in labels]
            return min(each.at_ns for each in recorded) - int(took_s * 1e9)
    return began_ns(taken)


def _changes_before(history: History, label: str) -> list[Event]:
    """The changes that ended before the image was taken; those in progress at that time count as indefinite."""
    taken = _snapshot(history, label)
    changes = history.of(EventKind.METADATA_CHANGE)
    if taken is None:
        return changes
    taking_began_ns = _taking_began_ns(history, taken)
    before = [event for event in changes if event.at_ns <= taking_began_ns]
    during = [event for event in changes if event.at_ns > taking_began_ns and began_ns(event) < taken.at_ns]
    return before + [replace(e, data={**e.data, "outcome": "indefinite"}) for e in during if not has_failed(e)]
