"""Differences: the places where two images of metadata are not equal, value by value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.model.image import FAMILIES, MetadataImage
from pytest_kmigrate.redaction import HIDDEN

Entries = Mapping[str, object]
"""What an image holds of one family."""

PARTITION_FIELDS = ("replicas", "isr", "leader", "leader_epoch", "adding", "removing")
"""What is compared of a partition by default. Not ``partition_epoch``: each side counts its own writes."""

_UNORDERED = frozenset({"isr", "adding", "removing"})
"""Partition fields that are sets by their meaning; the order of ``replicas`` names the preferred leader."""

_FIELDS_MAY_LACK = frozenset({"partitions", "scram", "delegation_tokens"})
"""Families whose entries have fields that one source cannot know.

Clients see no leader epoch and no credential; what a token's password is only brokers report, and no side stores it.
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
        for difference in family_differences(family, both_entries(left, right, family), partition_fields)
    ]


def family_differences(
    family: str, entries: tuple[Entries, Entries], partition_fields: Sequence[str]
) -> list[Difference]:
    """Every place of one family where its entries on two sides differ."""
    ours, theirs = entries
    fields = compared_fields(family, entries, partition_fields)
    return [
        Difference(family, key, part, one, other)
        for key in sorted(ours.keys() | theirs.keys())
        for part, one, other in _parts(ours.get(key), theirs.get(key), fields)
    ]


def both_entries(one: MetadataImage, other: MetadataImage, family: str) -> tuple[Entries, Entries]:
    """What two images hold of one family, without the configs of brokers that did not report them to both."""
    if family == "producer_ids":
        return _next_ids(one, other), _next_ids(other, one)
    silent = one.silent | other.silent if family == "configs" else frozenset()
    return _entries(one, family, silent), _entries(other, family, silent)


def _next_ids(image: MetadataImage, against: MetadataImage) -> Entries:
    """A block in ZooKeeper that no broker took ends where the other side goes on: no id is lost or given twice there.

    A controller writes the block that begins at the next id. A broker in ZooKeeper mode, a copy, and the full sync of a
    controller read such a block as taken, and go on at its end.
    """
    end = image.of_zookeeper.get("producer_ids_end")
    return {"next": end} if end is not None and against.producer_ids.get("next") == end else image.producer_ids


def untold_configs(image: MetadataImage, against: MetadataImage) -> list[str]:
    """Brokers whose configs are in only one of the two images."""
    return sorted(each for each in image.silent if against.configs.get(each))


def compared_fields(
    family: str, entries: tuple[Entries, Entries], partition_fields: Sequence[str]
) -> tuple[str, ...] | None:
    """The fields both sides know in some entry; None: every entry is compared whole."""
    if family not in _FIELDS_MAY_LACK:
        return None
    ours, theirs = (
        {field for value in side.values() if isinstance(value, Mapping) for field in value} for side in entries
    )
    wanted = partition_fields if family == "partitions" else sorted(ours | theirs)
    return tuple(field for field in wanted if field in ours and field in theirs)


def _entries(image: MetadataImage, family: str, left_out: frozenset[str]) -> Entries:
    entries: Entries = getattr(image, family)
    if family in _EMPTY_MEANS_ABSENT:
        return {key: value for key, value in entries.items() if value and key not in left_out}
    return entries


def _parts(one: object, other: object, fields: tuple[str, ...] | None) -> list[tuple[str, object, object]]:
    """The unequal parts of two entries: field by field where both have fields, else the whole."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return [] if _equal("", one, other) else [("", one, other)]
    keys = fields if fields is not None else sorted(one.keys() | other.keys())
    parts = [(key, one.get(key), other.get(key)) for key in keys]
    return [(key, mine, its) for key, mine, its in parts if not _equal(key, mine, its)]


def _equal(field: str, one: object, other: object) -> bool:
    """A secret that a broker does not report may be any: that it is set is all there is to compare."""
    if HIDDEN in (one, other):
        return one is not None and other is not None
    return _plain(field, one) == _plain(field, other)


def _plain(field: str, value: object) -> object:
    if isinstance(value, list | tuple):
        return sorted(value) if field in _UNORDERED else list(value)
    return value
