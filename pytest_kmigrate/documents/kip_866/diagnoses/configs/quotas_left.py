"""kmigrate-9: the last quota of an entity that is no user alone is taken away in dual write, and ZooKeeper keeps it."""

import re
from collections.abc import Collection, Sequence

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.changes import State, admissible_states, began_ns, has_failed
from pytest_kmigrate.checkers.metadata.snapshots import changes_before, snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.settled import DUAL_WRITE, LOG, ZOOKEEPER
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
    changes = changes_before(history, label)
    states = [state for state in admissible_states(changes) if state.family == "quotas"]
    for key in keys:
        removal = _last_taken_away(changes, key)
        of_entity = [state for state in states if state.slot[1] == key]
        if removal is None or not _is_gone(history, of_entity, removal) or not _stays(history, removal, label):
            return False
    return True


def _last_taken_away(changes: Sequence[Recorded[MetadataChanged]], key: str) -> Recorded[MetadataChanged] | None:
    """The last change that took a quota of an entity away."""
    of_entity = [each for each in changes if each.what.change == "set-quota" and each.what.subject == key]
    return next((each for each in reversed(of_entity) if not has_failed(each) and None in _values(each)), None)


def _values(change: Recorded[MetadataChanged]) -> Collection[object]:
    return change.what.wanted.values()


def _is_gone(history: History, of_entity: Sequence[State], removal: Recorded[MetadataChanged]) -> bool:
    """Whether nothing is left of an entity's quotas, by all answers, or by the metadata log after the removal.

    A change without an answer may have come about, or come to nothing, so that the log has to show it.
    """
    if all(state.admissible == [None] for state in of_entity):
        return bool(of_entity)
    of_log = [label for label, image in history.images.items() if image.source == LOG and "quotas" in image.known]
    later = [label for label in of_log if (taken := snapshot(history, label)) and taken.at_ns > removal.at_ns]
    gone = all(removal.what.subject not in history.images[label].quotas for label in later)
    return bool(later) and gone and all(None in state.admissible for state in of_entity)


def _stays(history: History, removal: Recorded[MetadataChanged], label: str) -> bool:
    kinds = [part.partition("=")[0] for part in removal.what.subject.split(",")]
    taken, starts_ns = snapshot(history, label), life_starts_ns(history)
    is_later = taken is not None and life_at(starts_ns, taken.at_ns) > life_at(starts_ns, removal.at_ns)
    is_from_zookeeper = history.images[label].source == ZOOKEEPER or is_later
    return kinds != ["user"] and is_from_zookeeper and any(_is_dual_write(history, at) for at in _made_at(removal))


def _made_at(removal: Recorded[MetadataChanged]) -> Collection[int]:
    """When it was carried out at the latest; without an answer, from when to when it may have been."""
    is_answered = removal.what.outcome == "ok"
    return (removal.at_ns,) if is_answered else (began_ns(removal), removal.at_ns)


def _is_dual_write(history: History, at_ns: int) -> bool:
    return phase_at(history, at_ns) in DUAL_WRITE
