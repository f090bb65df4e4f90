"""What a known bug looks like in an image of ZooKeeper that still holds quotas which were taken away in dual write."""

from collections.abc import Collection, Sequence

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.changes import State, admissible_states
from pytest_kmigrate.checkers.metadata.snapshots import changes_before, snapshot
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History

_DUAL_WRITE = (Phase.HYBRID.name, Phase.ALL_KRAFT.name)


def signatures_of_quotas(history: History, keys: Collection[str], *labels: str) -> list[str]:
    """The signature, if in one of these images it explains all that is wrong: what has these keys.

    Each is a quota of anything but a user alone, whose last one was taken away in dual write, and which ZooKeeper still
    holds, or whatever took its metadata from there after a revert.
    """
    is_explained = any(_explains(history, keys, label) for label in labels)
    return ["last-quota-left-in-zookeeper"] if is_explained else []


def _explains(history: History, keys: Collection[str], label: str) -> bool:
    states = [state for state in admissible_states(changes_before(history, label)) if state.family == "quotas"]
    removals = [_last_taken_away([state for state in states if state.slot[1] == key]) for key in keys]
    return all(event is not None and _stays(history, event, label) for event in removals)


def _last_taken_away(of_entity: Sequence[State]) -> Event | None:
    """The change after which nothing was left of an entity's quotas; None if there is not just one such."""
    if not of_entity or any(state.admissible != [None] for state in of_entity):
        return None
    return max((state.last for state in of_entity), key=lambda event: event.at_ns)


def _stays(history: History, removal: Event, label: str) -> bool:
    kinds = [part.partition("=")[0] for part in str(removal.data["subject"]).split(",")]
    taken, starts_ns = snapshot(history, label), life_starts_ns(history)
    is_later = taken is not None and life_at(starts_ns, taken.at_ns) > life_at(starts_ns, removal.at_ns)
    is_from_zookeeper = history.images[label].source == "zookeeper" or is_later
    return kinds != ["user"] and is_from_zookeeper and phase_at(history, removal.at_ns) in _DUAL_WRITE
