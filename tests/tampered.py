"""Which forms of tampered histories the unit tests of each diagnosis have to leave red."""

from collections.abc import Collection, Iterable, Mapping, Sequence

ANOTHER, OUTSIDE, WITHOUT = "another object lost as well", "lost outside the window", "the sign without the cause"
KINDS = (ANOTHER, OUTSIDE, WITHOUT)
AT_ANY_TIME = {
    "metrics-of-the-image": "a metric that every standby has",
    "numbers-of-the-states": "numbers that never change",
    "zookeeper-brokers-report-a-state": "a number that never changes",
    "fenced-brokers-counted-as-ready": "a count that is so all the time",
    "takeover-without-a-controller": "the take-over itself",
    "KAFKA-15532": "a lag that grows from the start of a process on",
    "KAFKA-15552": "an id of the copy",
    "KAFKA-15450": "a node that does not end, by what it logged at its start",
    "KAFKA-17457": "a node that does not end, by what it logged of its copy",
    "kmigrate-16": "nodes that ended, all of which are looked at",
    "kmigrate-19": "nodes that ended, by what their threads did then",
    "kmigrate-20": "threads that ended, by their last words",
}
"""Diagnoses that have no window, and the evidence that takes its place."""

Noted = tuple[str, str]
"""A bug, and the kind of a tampered history of it that stayed red."""
NOTED = set[Noted]()
"""Those of tests of this process."""


def unasked(noted: Iterable[Noted], bugs: Collection[str]) -> Mapping[str, Sequence[str]]:
    """By bug with a diagnosis, the kinds of tampered histories that no unit test asked it about."""
    stayed_red = set(noted)
    wanted = {each: [kind for kind in KINDS if kind != OUTSIDE or each not in AT_ANY_TIME] for each in bugs}
    lacking = {each: [kind for kind in kinds if (each, kind) not in stayed_red] for each, kinds in wanted.items()}
    return {each: kinds for each, kinds in sorted(lacking.items()) if kinds}
