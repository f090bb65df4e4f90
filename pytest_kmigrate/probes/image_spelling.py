"""How keys and values of a MetadataImage are spelled; every source uses these, or images would not compare."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

DEFAULT = "<default>"

_CONFIG_KINDS = {2: "topic", 4: "broker", 8: "broker-logger", 16: "client-metrics", 32: "group"}
_ACL_RESOURCES = {
    0: "Unknown",
    1: "Any",
    2: "Topic",
    3: "Group",
    4: "Cluster",
    5: "TransactionalId",
    6: "DelegationToken",
    7: "User",
}
_ACL_PATTERNS = {0: "UNKNOWN", 1: "ANY", 2: "MATCH", 3: "LITERAL", 4: "PREFIXED"}
_ACL_OPERATIONS = {
    0: "Unknown",
    1: "Any",
    2: "All",
    3: "Read",
    4: "Write",
    5: "Create",
    6: "Delete",
    7: "Alter",
    8: "Describe",
    9: "ClusterAction",
    10: "DescribeConfigs",
    11: "AlterConfigs",
    12: "IdempotentWrite",
    13: "CreateTokens",
    14: "DescribeTokens",
    15: "TwoPhaseCommit",
}
_ACL_PERMISSIONS = {0: "Unknown", 1: "Any", 2: "Deny", 3: "Allow"}
_SCRAM_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_QUOTA_ORDER = ("user", "client-id", "ip")


def config_key(kind: str, name: str) -> str:
    """Key of a resource: "topic:orders", "broker:1"; brokers' cluster-wide default is "broker:<default>"."""
    return f"{kind}:{name or DEFAULT}"


def config_key_of(kind_number: int, name: str) -> str:
    """The same key from the number that metadata records use for the kind of resource."""
    return config_key(_CONFIG_KINDS.get(kind_number, f"kind-{kind_number}"), name)


def quota_key(entity: Mapping[str, str | None]) -> str:
    """Key of an entity: "user=a,client-id=<default>"; None is the default, an empty name is an entity of its own."""
    known = [kind for kind in _QUOTA_ORDER if kind in entity]
    others = sorted(kind for kind in entity if kind not in _QUOTA_ORDER)
    return ",".join(f"{kind}={DEFAULT if entity[kind] is None else entity[kind]}" for kind in [*known, *others])


def unsanitised(name: str) -> str | None:
    """The real name behind a znode of users, clients or ips, which is URL-encoded; None for the default entity."""
    return None if name == DEFAULT else unquote(name)


def acl_key(resource: str, pattern: str, name: str) -> str:
    """Key of a resource pattern: "Topic:LITERAL:orders"."""
    return f"{resource}:{pattern}:{name}"


def acl_key_of(resource_number: int, pattern_number: int, name: str) -> str:
    """The same key from the numbers that metadata records and requests use."""
    resource = _ACL_RESOURCES.get(resource_number, str(resource_number))
    return acl_key(resource, _ACL_PATTERNS.get(pattern_number, str(pattern_number)), name)


def acl_entry(principal: str, host: str, operation: str, permission: str) -> str:
    """One entry, as "User:alice|*|DescribeConfigs|Allow": operation and permission as ZooKeeper spells them."""
    return f"{principal}|{host}|{operation}|{permission}"


def acl_entry_of(principal: str, host: str, operation_number: int, permission_number: int) -> str:
    """The same entry from numbers."""
    operation = _ACL_OPERATIONS.get(operation_number, str(operation_number))
    permission = _ACL_PERMISSIONS.get(permission_number, str(permission_number))
    return acl_entry(principal, host, operation, permission)


def scram_mechanism(number: int) -> str:
    """Name of a mechanism: "SCRAM-SHA-256" for 1."""
    return _SCRAM_MECHANISMS.get(number, f"mechanism-{number}")


def token_value(
    *, owner: str, requester: str, renewers: Iterable[str], issued_ms: int, max_ms: int, expires_ms: int
) -> dict[str, object]:
    """A delegation token's value; an empty requester means the owner asked for it himself (tokens before 3.3)."""
    return {
        "owner": owner,
        "requester": requester or owner,
        "renewers": sorted(renewers),
        "issued_ms": issued_ms,
        "max_ms": max_ms,
        "expires_ms": expires_ms,
    }


def sorted_acls(entries: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The family as images hold it: no empty resource, entries sorted, a double one kept because it is a finding."""
    return {key: sorted(listed) for key, listed in sorted(entries.items()) if listed}
