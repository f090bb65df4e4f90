"""kmigrate-9: the last quota of an entity that is no user alone is taken away in dual write, and ZooKeeper keeps it."""

import re
from collections.abc import Collection, Mapping, Sequence

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.logs import logs_of, was_logged_between
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.metadata.changes import State, admissible_states, began_ns, has_failed
from pytest_kmigrate.checkers.metadata.snapshots import changes_before, snapshot
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.checks.settled import DUAL_WRITE, LOG, ZOOKEEPER
from pytest_kmigrate.documents.kip_866.diagnoses.log_records import last_log, log_at, offsets_of
from pytest_kmigrate.documents.kip_866.diagnoses.windows import synced_since_ns
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_THROWN = re.compile(
    r"^([^\n]*)\njava\.lang\.NullPointerException[^\n]*\n\s+at [^\n]*handleClientQuotasDelta", re.MULTILINE
)
"""The line of the error has the time."""
_HANDLED_WITHIN_NS = 30_000_000_000
"""The driver hands a change to its writer after what it has yet to write, for which ZooKeeper may be away meanwhile."""


@diagnosis("kmigrate-9")
def last_quota_was_left_in_zookeeper(history: History, verdict: Verdict) -> bool:
    """A controller's handler of changed quotas threw a NullPointerException, and such quotas are all that is wrong.

    It did so soon after each was taken away. ZooKeeper still holds them, or whatever took its metadata from there
    after a revert. A controller that takes over later compares all quotas: what its full sync leaves is another defect.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or not wrong.places or any(family != "quotas" for family, _ in wrong.places):
        return False
    thrown = [(line, node) for node, log in logs_of(history, "controller") for line in _THROWN.findall(log)]
    keys = {key for _, key in wrong.places}
    return any(all(_explains(history, thrown, key, label) for key in keys) for label in wrong.lost)


def _explains(history: History, thrown: Collection[tuple[str, str]], key: str, label: str) -> bool:
    """Whether an entity had its last quota taken away in dual write, and this image holds one that it had before."""
    changes = changes_before(history, label)
    of_entity = [state for state in admissible_states(changes) if state.family == "quotas" and state.slot[1] == key]
    held = history.images[label].quotas.get(key, {})
    made = [each for each in changes if each.what.change == "set-quota" and each.what.subject == key]
    return any(
        _was_given(made, removal, held)
        and _had_them(history, key, held)
        and _is_gone(history, of_entity, removal)
        and _stays(history, removal, label)
        and _was_thrown_at(history, thrown, removal, label)
        for removal in _removals(made)
    )


def _removals(made: Sequence[Recorded[MetadataChanged]]) -> Sequence[Recorded[MetadataChanged]]:
    """The changes of an entity that took one away since it last got one for sure.

    The last of them need not be the one: taking away what is gone already makes no record, so that nothing is thrown.
    """
    given = [began_ns(each) for each in made if each.what.outcome == "ok" and _gives(each)]
    since_ns = max(given, default=0)
    return [each for each in made if not has_failed(each) and None in _values(each) and each.at_ns >= since_ns]


def _gives(change: Recorded[MetadataChanged]) -> bool:
    return any(value is not None for value in _values(change))


def _was_given(
    made: Sequence[Recorded[MetadataChanged]], removal: Recorded[MetadataChanged], held: Mapping[str, object]
) -> bool:
    """Whether changes before a removal asked for all that an entity holds; not if it holds nothing."""
    before = [each for each in made if not has_failed(each) and began_ns(each) < removal.at_ns]
    asked = [
        (part, float(str(value))) for each in before for part, value in each.what.wanted.items() if value is not None
    ]
    return bool(held) and all(each in asked for each in held.items())


def _had_them(history: History, key: str, held: Mapping[str, object]) -> bool:
    """Whether the log once held these quotas of an entity, and no others; where no records were kept, it may have."""
    log, place = last_log(history), ("quotas", key)
    offsets = offsets_of(log, place)
    return log is None or not offsets or any(log_at(log, each).quotas.get(key) == held for each in offsets)


def _was_thrown_at(
    history: History, thrown: Collection[tuple[str, str]], removal: Recorded[MetadataChanged], label: str
) -> bool:
    """Whether the exception came while a removal was under way, or soon afterwards, and after any full sync's begin."""
    taken, life = snapshot(history, label), life_at(life_starts_ns(history), removal.at_ns)
    synced_ns = synced_since_ns(history, life, began_ns(taken)) if taken is not None else None
    from_ns, to_ns = max(began_ns(removal), synced_ns or 0), removal.at_ns + _HANDLED_WITHIN_NS
    return any(was_logged_between(history, line, from_ns, to_ns, node) for line, node in thrown)


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
    return bool(later) and gone and all(_may_be_absent(state) for state in of_entity)


def _may_be_absent(state: State) -> bool:
    """Whether the answers allow that nothing is held; of a slot that none acknowledged, they always do."""
    return not state.is_acknowledged or None in state.admissible


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
