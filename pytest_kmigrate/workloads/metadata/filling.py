"""Fills a ZooKeeper cluster with every family of metadata before it is migrated: what is not there cannot get lost."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until
from pytest_kmigrate.wire.admin import producer_id_from
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange, topic_created, undoing_of
from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin

FAMILIES = (
    "topics",
    "topic-configs",
    "broker-configs",
    "default-broker-config",
    "quotas",
    "scram",
    "acls",
    "delegation-tokens",
    "producer-ids",
)
"""What can be filled in. ``default-broker-config`` alone ends a controller of 3.5.1 (apache/kafka#14237)."""

IMPOSSIBLE = {
    "SECURITY_DISABLED": "the cluster has no authorizer",
    "DELEGATION_TOKEN_AUTH_DISABLED": "the brokers have no delegation.token.secret.key",
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": "clients are not authenticated",
    "_UNSUPPORTED_FEATURE": "the brokers know no request for it",
}
"""Errors that say that a cluster has no room for a family at all, and why."""

_GONE = "RESOURCE_NOT_FOUND"
"""The answer to taking back a credential that the cluster has lost; a check judges that it is lost."""

RENEWED_FOR_MS = 3 * 3_600_000
RENEWED_AGAIN_FOR_MS = 2 * RENEWED_FOR_MS
_PREFIX = "filled"
"""How the names of all that is put in begin."""
AWKWARD_USER = "CN=al ice,O=x"
"""ZooKeeper holds this name encoded; 3.7.0 and older migrated the encoded name (KAFKA-16222)."""


@dataclass(frozen=True)
class FillingPlan:
    """What is put in: these families, in values that ``seed`` decides."""

    seed: int
    brokers: tuple[int, ...]
    """Ids of the brokers that get dynamic configs of their own."""
    replication: int = 3
    families: tuple[str, ...] = FAMILIES
    needs = frozenset({Capability.CHANGE})

    def __post_init__(self) -> None:
        unknown = sorted(set(self.families) - set(FAMILIES))
        if unknown:
            raise WrongUseError(f"filling: expected families of {', '.join(FAMILIES)}; got {', '.join(unknown)}")


@dataclass(frozen=True)
class Filling:
    """What was put in: changes done by family, what was left out and why, what failed."""

    done: Mapping[str, int]
    left_out: Mapping[str, str]
    failed: tuple[str, ...]


def fill(admin: MetadataAdmin, recorder: Recorder, plan: FillingPlan) -> Filling:
    """Carry out the plan, recording every change.

    What the cluster has no room for is left out, and the result says why.
    """
    filling = _carried_out(admin, recorder, changes(plan), excused=IMPOSSIBLE)
    failed = list(filling.failed)
    ids = _producer_ids(admin.peers, failed) if "producer-ids" in plan.families else ()
    return Filling({**filling.done, "producer-ids": len(ids)}, filling.left_out, tuple(failed))


def take_back(admin: MetadataAdmin, recorder: Recorder, plan: FillingPlan) -> Filling:
    """Undo what ``fill`` did by the same plan and ``admin``, which knows the tokens it made; every change is recorded.

    A cluster that had room for a family has room to take it back, so nothing is left out for whatever error; what it
    has lost meanwhile need not be taken back.
    WrongUseError for ``producer-ids``: Kafka takes none back.
    """
    if "producer-ids" in plan.families:
        raise WrongUseError(f"taking back: expected families of {', '.join(FAMILIES[:-1])}; got producer-ids")
    return _carried_out(admin, recorder, undoing(plan), unneeded=_GONE)


def renew_tokens(admin: MetadataAdmin, recorder: Recorder, plan: FillingPlan) -> Filling:
    """Renew the tokens that ``fill`` left to us by the same plan and ``admin``; every change is recorded."""
    return _carried_out(admin, recorder, renewals(plan))


def _carried_out(
    admin: MetadataAdmin,
    recorder: Recorder,
    wanted: Iterator[tuple[str, MetadataChange]],
    excused: Mapping[str, str] = MappingProxyType({}),
    unneeded: str | None = None,
) -> Filling:
    done: Counter[str] = Counter()
    left_out: dict[str, str] = {}
    failed: list[str] = []
    for family, change in wanted:
        if family in left_out:
            continue
        completion = admin.record(change, recorder)
        if completion.error in excused:
            left_out[family] = excused[completion.error]
        elif completion.outcome is OperationOutcome.OK:
            done[family] += 1
        elif completion.error != unneeded:
            failed.append(f"{change.change} {change.subject}: {completion.error}")
    return Filling(done, left_out, tuple(failed))


def changes(plan: FillingPlan) -> Iterator[tuple[str, MetadataChange]]:
    """All changes of the plan, each with its family, in an order that a cluster accepts."""
    rng = Random(plan.seed)
    of_family = {
        "topics": topics(rng, plan.replication),
        "topic-configs": topic_configs(rng),
        "broker-configs": broker_configs(rng, plan.brokers),
        "default-broker-config": default_broker_config(rng),
        "quotas": quotas(rng),
        "scram": scram_users(rng),
        "acls": acls(),
        "delegation-tokens": delegation_tokens(),
    }
    for family, of_this in of_family.items():
        if family in plan.families:
            yield from ((family, change) for change in of_this)


def undoing(plan: FillingPlan) -> Iterator[tuple[str, MetadataChange]]:
    """All changes that leave nothing of the plan, each with its family; what comes last in it is undone first."""
    planned = list(changes(plan))
    undone = [(family, undoing_of(change)) for family, change in reversed(planned)]
    yield from ((family, undo) for family, undo in undone if undo is not None and (family, undo) not in planned)


def renewals(plan: FillingPlan) -> Iterator[tuple[str, MetadataChange]]:
    """A renewal, unlike that of the plan, of every token of the plan that is ours and not taken back in it."""
    ours = [change.subject for _, change in undoing(plan) if change.change == "remove-token"]
    for name in reversed(ours):
        yield "delegation-tokens", MetadataChange("renew-token", name, {"for_ms": RENEWED_AGAIN_FOR_MS})


def topics(rng: Random, replication: int) -> list[MetadataChange]:
    """One partition and many, replicated and not, one that grew after its creation, one with dots in its name."""
    many = rng.randint(6, 12)
    return [
        topic_created(f"{_PREFIX}-single", 1, 1),
        topic_created(f"{_PREFIX}-replicated", 3, replication),
        topic_created(f"{_PREFIX}-many", many, replication),
        topic_created(f"{_PREFIX}.with.dots", 2, replication),
        topic_created(f"{_PREFIX}-grown", 2, replication),
        MetadataChange("add-partitions", f"{_PREFIX}-grown", {"partitions": 5}),
    ]


def topic_configs(rng: Random) -> list[MetadataChange]:
    """Several configs on one topic, one changed twice, one set and unset again; compaction on another."""

    def on(topic: str, **wanted: str | None) -> MetadataChange:
        return MetadataChange(
            "alter-config", f"topic:{_PREFIX}-{topic}", {key.replace("_", "."): wanted[key] for key in wanted}
        )

    return [
        on("replicated", retention_ms=_large(rng), max_message_bytes="1500000"),
        on("replicated", retention_ms=_large(rng)),
        on("many", cleanup_policy="compact", segment_ms=_large(rng)),
        on("single", retention_bytes=_large(rng), flush_ms=_large(rng)),
        on("single", flush_ms=None),
    ]


def broker_configs(rng: Random, brokers: Sequence[int]) -> list[MetadataChange]:
    """A dynamic config of each broker by itself."""
    return [
        MetadataChange("alter-config", f"broker:{number}", {"log.retention.bytes": _large(rng)}) for number in brokers
    ]


def default_broker_config(rng: Random) -> list[MetadataChange]:
    """A dynamic config of all brokers together."""
    return [MetadataChange("alter-config", "broker:<default>", {"log.retention.ms": _large(rng)})]


def quotas(rng: Random) -> list[MetadataChange]:
    """Every kind of entity a quota can have, the defaults and a name that needs encoding among them."""
    entities = (
        f"user={_PREFIX}-user",
        "user=<default>",
        f"user={AWKWARD_USER}",
        f"user={_PREFIX}-user,client-id={_PREFIX}-client",
        f"user={AWKWARD_USER},client-id=<default>",
        "user=<default>,client-id=<default>",
        f"client-id={_PREFIX}-client",
        "client-id=<default>",
    )
    rates = [
        MetadataChange("set-quota", each, {"producer_byte_rate": float(_large(rng)), "request_percentage": 9000.5})
        for each in entities
    ]
    return [*rates, MetadataChange("set-quota", "ip=127.9.9.9", {"connection_creation_rate": 1000.0})]


def scram_users(rng: Random) -> list[MetadataChange]:
    """A user with both mechanisms, one with an awkward name, one whose credential was taken away again."""
    subjects = (
        f"{_PREFIX}-user:SCRAM-SHA-256",
        f"{_PREFIX}-user:SCRAM-SHA-512",
        f"{AWKWARD_USER}:SCRAM-SHA-512",
        f"{_PREFIX}-gone:SCRAM-SHA-256",
    )
    given = [MetadataChange("set-scram", each, {"iterations": rng.randrange(4096, 8192)}) for each in subjects]
    return [*given, MetadataChange("remove-scram", subjects[-1])]


def acls() -> list[MetadataChange]:
    """Literal and prefixed, allowing and denying, on topics, groups and transactional ids, one taken back."""

    def binding(change: str, subject: str, text: str) -> MetadataChange:
        return MetadataChange(change, subject, {"binding": text})

    return [
        binding("set-acl", f"Topic:LITERAL:{_PREFIX}-single", f"User:{_PREFIX}-user|*|Read|Allow"),
        binding("set-acl", f"Topic:LITERAL:{_PREFIX}-single", f"User:{AWKWARD_USER}|127.9.9.9|Write|Allow"),
        binding("set-acl", f"Topic:PREFIXED:{_PREFIX}", f"User:{_PREFIX}-user|*|Describe|Allow"),
        binding("set-acl", "Topic:LITERAL:*", f"User:{_PREFIX}-gone|*|Write|Deny"),
        binding("set-acl", f"Group:PREFIXED:{_PREFIX}", f"User:{_PREFIX}-user|*|Read|Allow"),
        binding("set-acl", f"Group:LITERAL:{_PREFIX}-group", f"User:{_PREFIX}-user|*|Delete|Allow"),
        binding("remove-acl", f"Group:LITERAL:{_PREFIX}-group", f"User:{_PREFIX}-user|*|Delete|Allow"),
    ]


def delegation_tokens() -> list[MetadataChange]:
    """One with renewers, one made for somebody else, one renewed, one made and taken back."""

    def created(name: str, owner: str | None = None, *renewers: str) -> MetadataChange:
        return MetadataChange("create-token", name, {"owner": owner, "renewers": list(renewers)})

    return [
        created("renewable", None, f"{_PREFIX}-user", AWKWARD_USER),
        created("of-another", AWKWARD_USER),
        created("renewed"),
        MetadataChange("renew-token", "renewed", {"for_ms": RENEWED_FOR_MS}),
        created("removed"),
        MetadataChange("remove-token", "removed"),
    ]


def _producer_ids(brokers: Sequence[Peer], failed: list[str]) -> tuple[int, ...]:
    """One producer id of every broker, so that each takes a block of them."""
    ids = []
    for peer in brokers:
        error, producer_id = _producer_id(peer)
        if error == "NONE":
            ids.append(producer_id)
        else:
            failed.append(f"producer id of {peer.address}: {error}")
    return tuple(ids)


def _producer_id(peer: Peer) -> tuple[str, int]:
    """A broker that has no block of ids yet fetches one first, and meanwhile says that it is loading."""

    def ask() -> tuple[str, int] | NotYet:
        answer = producer_id_from(peer)
        return NotYet(answer) if answer[0] == "COORDINATOR_LOAD_IN_PROGRESS" else answer

    return until(ask, awaited=f"a producer id of {peer.address}", within_s=PATIENCE_S)


def _large(rng: Random) -> str:
    return str(rng.randrange(500_000_000, 1_000_000_000))
