"""Versions of requests that brokers forward to controllers, as both offer them: facts of Kafka 3.3 to 4.3."""

from collections.abc import Mapping

Range = tuple[int, int]
"""The lowest and the highest version."""

FORWARDED: Mapping[int, str] = {
    19: "CreateTopics",
    20: "DeleteTopics",
    30: "CreateAcls",
    31: "DeleteAcls",
    33: "AlterConfigs",
    37: "CreatePartitions",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    40: "ExpireDelegationToken",
    43: "ElectLeaders",
    44: "IncrementalAlterConfigs",
    45: "AlterPartitionReassignments",
    46: "ListPartitionReassignments",
    49: "AlterClientQuotas",
    51: "AlterUserScramCredentials",
    55: "DescribeQuorum",
    57: "UpdateFeatures",
    64: "UnregisterBroker",
}
"""By Kafka's number, the requests of clients that a broker forwards to the active controller."""


def offered_otherwise(
    brokers: Mapping[str, Mapping[int, Range]], own: Mapping[int, Range], controller: Mapping[int, Range]
) -> list[str]:
    """What brokers offer of forwarded requests besides what both they and the controller know, each in words.

    ``own``: what a broker of this release knows by itself. A request without a common version is not to be offered.
    """
    found = []
    for broker, offered in brokers.items():
        for key, name in FORWARDED.items():
            wanted = common(own.get(key), controller.get(key))
            if offered.get(key) != wanted:
                its_own = "its own " if offered.get(key) == own.get(key) else ""
                found.append(f"{broker}: {name} {its_own}{offered.get(key)} instead of {wanted}")
    return found


def beyond(brokers: Mapping[str, Mapping[int, Range]], controller: Mapping[int, Range]) -> list[str]:
    """What brokers offer of forwarded requests that the controller does not know, each in words."""
    return [
        f"{broker}: {name} {offered[key]}"
        for broker, offered in brokers.items()
        for key, name in FORWARDED.items()
        if key in offered and common(offered[key], controller.get(key)) != offered[key]
    ]


def differing(own: Mapping[int, Range], controller: Mapping[int, Range]) -> list[str]:
    """The forwarded requests of which a broker knows versions that the controller does not."""
    return [name for key, name in FORWARDED.items() if common(own.get(key), controller.get(key)) != own.get(key)]


def common(some: Range | None, others: Range | None) -> Range | None:
    """The versions that are in both ranges; None: none is."""
    if some is None or others is None:
        return None
    both = max(some[0], others[0]), min(some[1], others[1])
    return both if both[0] <= both[1] else None
