"""Soundness of metadata images: what in one of them cannot be, and what keeps a comparison from saying anything."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.wording import counted, listed
from pytest_kmigrate.checkers.metadata.differences import untold_configs
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Violation

BROKERS = "admin"
"""The source of an image that brokers reported."""

_TOLD_BY_BROKERS = ("acls", "scram", "delegation_tokens")
"""Families that brokers report unless there can be none of them: without authorizer or a secret to sign tokens."""

_HELD_BY = (
    (re.compile(r"/brokers/topics/[^/]+\Z"), ("topics", "partitions")),
    (re.compile(r"/brokers/topics/.+/state\Z"), ("partitions",)),
    (re.compile(r"/config/(topics|brokers)/"), ("configs",)),
    (re.compile(r"/config/users/[^/]+\Z"), ("quotas", "scram")),
    (re.compile(r"/config/"), ("quotas",)),
    (re.compile(r"/kafka-acl"), ("acls",)),
    (re.compile(r"/delegation_token/"), ("delegation_tokens",)),
    (re.compile(r"/latest_producer_id_block\Z"), ("producer_ids",)),
)
"""Which families a znode holds; the first that fits counts."""


@dataclass(frozen=True)
class Reservation:
    """Why images that are equal in what they hold say nothing."""

    kind: Kind
    text: str


def unsound_logs(history: History, *labels: str) -> list[Violation]:
    """Changes in these metadata logs to what does not exist, and topics that existed already under another id."""
    return [violation for label in labels for violation in _unsound(history, label)]


def _unsound(history: History, label: str) -> Iterator[Violation]:
    taken = snapshot(history, label)
    evidence = (f"image {label}", *([f"event {taken.seq}"] if taken else []))
    for observed in history.images[label].of_log.get("unplaced", ()):
        expected = f"{label} changes only what exists, and no topic has two ids"
        yield Violation(expected, observed, taken.at_ns if taken else None, evidence)


def reservation_about(one: MetadataImage, other: MetadataImage, families: Sequence[str]) -> Reservation | None:
    """The first reason why equality of two images in these families is not proven."""
    sides = ((one, other), (other, one))
    unanswered = [text for image, against in sides for text in _unanswered(image, against, families)]
    if unanswered:
        return Reservation(Kind.INFRA, "; ".join(unanswered))
    untold = [family for image, against in sides for family in _untold(image, against) if family in families]
    if untold:
        return Reservation(Kind.VACUOUS, f"{', '.join(untold)}: brokers reported none, and the other side holds some")
    unread = [
        path
        for image, _ in sides
        for path in image.of_zookeeper.get("unread", ())
        if set(_families_of(path)) & set(families)
    ]
    if unread:
        text = f"{counted(len(unread), 'znode')} could not be understood: {listed(unread, 'znode')}"
        return Reservation(Kind.HARNESS, text)
    return None


def _unanswered(image: MetadataImage, against: MetadataImage, families: Sequence[str]) -> Iterator[str]:
    compared = [family for family in families if family in against.known]
    silent = untold_configs(image, against)
    if silent and "configs" in compared:
        yield f"{', '.join(silent)} did not report its configs"
    for family, brokers in image.of_brokers.get("unanswered", {}).items():
        if family in compared:
            yield f"{', '.join(brokers)} did not answer about {family}"


def _untold(image: MetadataImage, against: MetadataImage) -> list[str]:
    """Families that brokers usually report, that these did not, and of which the other side holds something."""
    if image.source != BROKERS:
        return []
    return [family for family in _TOLD_BY_BROKERS if family not in image.known and getattr(against, family)]


def _families_of(path: str) -> tuple[str, ...]:
    return next((families for pattern, families in _HELD_BY if pattern.match(path)), ())
