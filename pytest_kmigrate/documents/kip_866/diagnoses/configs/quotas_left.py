"""kmigrate-9: the last quota of an entity that is no user alone is taken away in dual write, and ZooKeeper keeps it."""

import re
from collections.abc import Collection, Sequence

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.changes import State, admissible_states
from pytest_kmigrate.checkers.metadata.snapshots import changes_before, snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.settled import DUAL_WRITE
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_THROWN = re.compile(r"java\.lang\.NullPointerException[^\n]*\n\s+at [^\n]*handleClientQuotasDelta")


@diagnosis("kmigrate-9")
def last_quota_was_left_in_zookeeper(history: History, verdict: Verdict) -> bool:
    """A controller's handler of changed quotas threw a NullPointerException, and such quotas are all that is wrong.

    ZooKeeper still holds them, or whatever took its metadata from there after a revert.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or not any(_THROWN.search(log) for _, log in logs_of(history, "controller")):
        return False
    keys = {key for _, key in wrong.places}
    are_quotas = all(family == "quotas" for family, _ in wrong.places)
    return are_quotas and any(_explains(history, keys, label) for label in wrong.lost)


def _explains(history: History, keys: Collection[str], label: str) -> bool:
    """Whether each of these entities had its last quota taken away in dual write, and this image is of ZooKeeper's."""
    states = [state for state in admissible_states(changes_before(history, label)) if state.family == "quotas"]
    removals = [_last_taken_away([state for state in states if state.slot[1] == key]) for key in keys]
    return all(event is not None and _stays(history, event, label) for event in removals)


def _last_taken_away(of_entity: Sequence[State]) -> Recorded[MetadataChanged] | None:
    """The change after which nothing was left of an entity's quotas; None if there is not just one such."""
    if not of_entity or any(state.admissible != [None] for state in of_entity):
        return None
    return max((state.last for state in of_entity), key=lambda event: event.at_ns)


def _stays(history: History, removal: Recorded[MetadataChanged], label: str) -> bool:
    kinds = [part.partition("=")[0] for part in removal.what.subject.split(",")]
    taken, starts_ns = snapshot(history, label), life_starts_ns(history)
    is_later = taken is not None and life_at(starts_ns, taken.at_ns) > life_at(starts_ns, removal.at_ns)
    is_from_zookeeper = history.images[label].source == "zookeeper" or is_later
    return kinds != ["user"] and is_from_zookeeper and phase_at(history, removal.at_ns) in DUAL_WRITE
