"""Changes: what a sequence of metadata changes leaves admissible, subject by subject."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import SnapshotTaken
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.redaction import HIDDEN, shown

Slot = tuple[str, str, str]
"""One thing that holds one value: family, key, and the part of it ("" for its existence)."""


PRESENT = "present"
"""The value of what has none but its existence."""

_TOKENS = "delegation_tokens"
_TOKEN_PARTS = ("owner", "renewers", "expires_ms")


@dataclass(frozen=True)
class Effect:
    """What one change makes of one slot; None: absent."""

    slot: Slot
    value: object


@dataclass
class State:
    """What may hold of one slot after all changes: what was acknowledged last, and what may have come about."""

    slot: Slot
    last: Recorded[MetadataChanged]
    acknowledged: list[tuple[object, Recorded[MetadataChanged]]] = field(default_factory=list)
    indefinite: list[object] = field(default_factory=list)

    @property
    def family(self) -> str:
        """The family of metadata it belongs to."""
        return self.slot[0]

    @property
    def topic(self) -> str:
        """The topic that it belongs to; "" for what belongs to no topic."""
        family, key, _ = self.slot
        if family == "configs":
            return key.removeprefix("topic:") if key.startswith("topic:") else ""
        return key if family in {"topics", "partitions"} else ""

    @property
    def subject(self) -> str:
        """Such as "topics orders" or "configs topic:orders retention.ms"."""
        return " ".join(part for part in self.slot if part)

    @property
    def is_acknowledged(self) -> bool:
        """Whether some change of it was acknowledged, so that something must hold."""
        return bool(self.acknowledged)

    @property
    def admissible(self) -> list[object]:
        """Every value that may hold."""
        return [*(value for value, _ in self.acknowledged), *self.indefinite]

    def admits(self, observed: object) -> bool:
        """Whether what an image holds may be; a secret that its source does not show may be any that was set."""
        if observed == HIDDEN:
            return any(value is not None for value in self.admissible)
        return observed in self.admissible

    @property
    def expected(self) -> str:
        """The admissible values in words."""
        return " or ".join(dict.fromkeys(self.reported(value) for value in self.admissible))

    def reported(self, value: object) -> str:
        """One value in words."""
        if value is None:
            return "absent"
        return PRESENT if value is PRESENT else repr(value)

    def observed_in(self, image: MetadataImage) -> object:
        """What an image holds of it."""
        family, key, part = self.slot
        return _OBSERVED[family](image, key, part)

    def add(self, effect: Effect, event: Recorded[MetadataChanged]) -> None:
        """Take one more change in; changes come in the order of their ends."""
        if event.what.outcome == "indefinite":
            self.indefinite.append(effect.value)
            return
        overlapping = [(value, other) for value, other in self.acknowledged if other.at_ns > began_ns(event)]
        self.acknowledged = [*overlapping, (effect.value, event)]
        self.last = event


def began_ns(event: Recorded[MetadataChanged | SnapshotTaken]) -> int:
    """When a change was requested, or taking an image began."""
    return event.what.began_ns


def has_failed(event: Recorded[MetadataChanged]) -> bool:
    """Whether a change was definitely refused."""
    return event.what.outcome == "failed"


def slots_of(event: Recorded[MetadataChanged]) -> set[Slot]:
    """What a change is about."""
    return {effect.slot for effect in _effects(event, {})}


def families_of(event: Recorded[MetadataChanged]) -> set[str]:
    """The families of metadata that a change is about."""
    return {family for family, _, _ in slots_of(event)}


def refusals(events: Iterable[Recorded[MetadataChanged]]) -> dict[str, str]:
    """Every family that changes were tried of: the last error when each was refused, "" when one may have been done."""
    reported: dict[str, str] = {}
    for event in events:
        for family in families_of(event):
            is_refused = has_failed(event) and reported.get(family) != ""
            reported[family] = event.what.error if is_refused else ""
    return reported


def admissible_states(events: Iterable[Recorded[MetadataChanged]]) -> list[State]:
    """The state of every slot that the changes touched; failed ones change nothing."""
    states: dict[Slot, State] = {}
    for event in events:
        if has_failed(event):
            continue
        for effect in _effects(event, states):
            states.setdefault(effect.slot, State(effect.slot, event)).add(effect, event)
    return list(states.values())


def _effects(event: Recorded[MetadataChanged], states: Mapping[Slot, State]) -> Iterator[Effect]:
    change, subject, values = event.what.change, event.what.subject, event.what.wanted
    if change not in _EFFECTS:
        raise WrongUseError(f"event {event.seq}: expected a change out of {', '.join(_EFFECTS)}, got {change!r}")
    yield from _EFFECTS[change](subject, values)
    if change == "delete-topic":
        # Whatever else was said of the topic went with it.
        said = [slot for slot, state in states.items() if state.topic == subject and slot[2]]
        gone = dict.fromkeys([("partitions", subject, "count"), *said])
        yield from (Effect(slot, None) for slot in gone)


def _create_topic(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect(("topics", subject, ""), PRESENT)
    for part in ("partitions", "replication"):
        asked = wanted.get(part)
        if isinstance(asked, int) and asked > 0:
            yield Effect(("partitions", subject, "count" if part == "partitions" else part), asked)


def _delete_topic(subject: str, _: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect(("topics", subject, ""), None)


def _add_partitions(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect(("partitions", subject, "count"), wanted.get("partitions"))


def _alter_config(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    for key, value in wanted.items():
        yield Effect(("configs", subject, key), None if value is None else shown(key, str(value)))


def _set_acl(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect(("acls", subject, str(wanted.get("binding"))), PRESENT)


def _remove_acl(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect(("acls", subject, str(wanted.get("binding"))), None)


def _set_quota(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    for key, value in wanted.items():
        yield Effect(("quotas", subject, key), float(str(value)) if value is not None else None)


def _set_scram(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect(("scram", subject, ""), wanted.get("iterations"))


def _remove_scram(subject: str, _: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect(("scram", subject, ""), None)


def _set_token(subject: str, wanted: Mapping[str, object]) -> Iterator[Effect]:
    yield Effect((_TOKENS, subject, ""), PRESENT)
    yield from (Effect((_TOKENS, subject, part), wanted[part]) for part in _TOKEN_PARTS if part in wanted)


def _remove_token(subject: str, _: Mapping[str, object]) -> Iterator[Effect]:
    yield from (Effect((_TOKENS, subject, part), None) for part in ("", *_TOKEN_PARTS))


_EFFECTS: dict[str, Callable[[str, Mapping[str, object]], Iterator[Effect]]] = {
    "create-topic": _create_topic,
    "delete-topic": _delete_topic,
    "add-partitions": _add_partitions,
    "alter-config": _alter_config,
    "set-acl": _set_acl,
    "remove-acl": _remove_acl,
    "set-quota": _set_quota,
    "set-scram": _set_scram,
    "remove-scram": _remove_scram,
    "create-token": _set_token,
    "renew-token": _set_token,
    "remove-token": _remove_token,
}


def _topic_in(image: MetadataImage, key: str, _: str) -> object:
    """Brokers that do not agree are named by the id."""
    held = image.topics.get(key)
    if held is None:
        return None
    topic_id = held.get("id")
    return topic_id if isinstance(topic_id, Mapping) else PRESENT


def _partitions_in(image: MetadataImage, key: str, part: str) -> object:
    """Of partitions on which brokers disagree the replicas are listed by broker, and count for none."""
    of_topic = [
        value
        for name, value in image.partitions.items()
        if name.rpartition("-")[0] == key and not isinstance(value.get("replicas"), Mapping)
    ]
    if part == "count" or not of_topic:
        return len(of_topic) or None
    sizes = {_settled_replicas(value) for value in of_topic}
    return sizes.pop() if len(sizes) == 1 else f"unequal: {sorted(sizes)}"


def _settled_replicas(partition: Mapping[str, object]) -> int:
    """How many replicas a partition has apart from those that a reassignment is still adding."""
    replicas, adding = partition.get("replicas"), partition.get("adding")
    held = set(replicas) if isinstance(replicas, list | tuple) else set()
    return len(held - (set(adding) if isinstance(adding, list | tuple) else set()))


def _config_in(image: MetadataImage, key: str, part: str) -> object:
    return image.configs.get(key, {}).get(part)


def _acl_in(image: MetadataImage, key: str, part: str) -> object:
    """Brokers that do not agree about an entry are named; they may agree about others of the same resource."""
    held = image.acls.get(key, [])
    if not isinstance(held, Mapping):
        return PRESENT if part in held else None
    reported = {broker: PRESENT if part in (entries or ()) else None for broker, entries in held.items()}
    return reported if len(set(reported.values())) > 1 else next(iter(reported.values()))


def _quota_in(image: MetadataImage, key: str, part: str) -> object:
    held: object = image.quotas.get(key, {}).get(part)
    return float(held) if isinstance(held, int | float) else held


def _scram_in(image: MetadataImage, key: str, _: str) -> object:
    held = image.scram.get(key)
    return None if held is None else held.get("iterations")


def _token_in(image: MetadataImage, key: str, part: str) -> object:
    held = image.delegation_tokens.get(key)
    return held if held is None else held.get(part) if part else PRESENT


_OBSERVED: dict[str, Callable[[MetadataImage, str, str], object]] = {
    "topics": _topic_in,
    "partitions": _partitions_in,
    "configs": _config_in,
    "acls": _acl_in,
    "quotas": _quota_in,
    "scram": _scram_in,
    _TOKENS: _token_in,
}
