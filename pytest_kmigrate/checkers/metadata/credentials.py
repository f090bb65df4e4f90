"""SCRAM credentials that a node drops as it loads its log: what ``ScramDelta`` does with a mechanism that is empty."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from pytest_kmigrate.checkers.controllers.raft_logs import high_watermark
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.metadata.changes import began_ns, has_failed
from pytest_kmigrate.checkers.metadata.snapshots import images_beside, snapshot
from pytest_kmigrate.checkers.metadata.soundness import BROKERS
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.nodes import NodeReady, NodeStarted
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.model.verdict import Verdict

_LOADED = "Publishing initial metadata at offset"
Changes = list[Recorded[MetadataChanged]]


def brokers_loaded_without(history: History, verdict: Verdict) -> bool:
    """Whether brokers in KRaft mode lack credentials that others have, and such are all that is wrong.

    Each of them was not ready yet when another credential of the same mechanism was removed and the one that it lacks
    was set last: it loaded both at once, and its log has this load. Or its high watermark stood still while both came,
    and it read them at once later. By their names the removed one is the first that it came to.
    """
    wrong = wrong_in(history, verdict)
    if wrong is None or not wrong.places:
        return False
    if any(lost for label, lost in wrong.lost.items() if history.images[label].source != BROKERS):
        return False  # a side that lacks it by a cause of its own
    return all(family == "scram" and _was_loaded_without(history, verdict, key) for family, key in wrong.places)


def _was_loaded_without(history: History, verdict: Verdict, key: str) -> bool:
    images = {label: history.images[label] for label in verdict.listed("images")}
    of_brokers = [label for label, image in images.items() if image.source == BROKERS]
    taken = snapshot(history, of_brokers[0]) if len(of_brokers) == 1 else None
    if taken is None:
        return False
    asked, until_ns = images[of_brokers[0]].scram.get(key), taken.at_ns
    own = [each for each in changes_about(history, key)[0] if began_ns(each) < until_ns]
    if asked is None:  # none of them has it: the other side does, or lacks it, too, by a cause of its own
        seen: Mapping[str, object] = dict.fromkeys(_brokers(history))
        held = _held(key, images.values()) or _held(key, images_beside(history, of_brokers[0]))
    elif isinstance(iterations := asked.get("iterations"), Mapping):
        seen = iterations
        held = {each for each in seen.values() if each is not None}
    else:
        return False
    lacking = [broker for broker, iterations in seen.items() if iterations is None]
    made = _made(own, held)
    if not made:
        return False
    last, came_to_nothing = made[-1], own[len(made) :]
    changes = [each for each in of_mechanism(history, last) if each not in came_to_nothing]
    is_so = (
        _loaded_without(history, each, last, changes, until_ns)
        or _caught_up_without(history, each, last, changes, until_ns)
        for each in lacking
    )
    return bool(lacking) and all(is_so)


def _held(key: str, images: Iterable[MetadataImage]) -> set[object]:
    """What sides other than brokers hold of a credential."""
    return {each.scram[key].get("iterations") for each in images if each.source != BROKERS and key in each.scram}


def _made(own: Changes, held: set[object]) -> Changes:
    """The changes of a credential up to the one that is held; none of those behind it was acknowledged."""
    for count in range(len(own), 0, -1):
        if not removes(own[count - 1]) and held == {own[count - 1].what.wanted.get("iterations")}:
            return own[:count]
        if own[count - 1].what.outcome == "ok":
            break
    return []


def _brokers(history: History) -> list[str]:
    return sorted({str(each.node) for each in history.of(NodeStarted) if each.what.role == Role.BROKER.value})


def _loaded_without(
    history: History, broker: str, last: Recorded[MetadataChanged], changes: Changes, until_ns: int
) -> bool:
    """Whether a broker was started last in KRaft mode, became ready only after ``last``, and loaded a removal with it.

    It is the last start before it was asked: a later one lost nothing that was lacking then.

    What was changed last is a change of this run, or of the checkpoint that it began from and recorded first. What was
    acknowledged while the broker was coming up may be part of the load, as it loads all that is committed by then.
    """
    starts = _starts(history, broker, until_ns)
    is_loaded = _LOADED in log_of(history, broker)
    if not is_loaded or not starts or starts[-1].what.mode != BrokerMode.KRAFT.value:
        return False
    ready = [each for each in history.of(NodeReady) if each.node == broker and each.at_ns > starts[-1].at_ns]
    if not ready or not 0 < began_ns(last) < ready[0].at_ns:
        return False
    return drops_all(changes, max(starts[-1].at_ns, last.at_ns), ready[0].at_ns)


def _starts(history: History, broker: str, until_ns: int) -> list[Recorded[NodeStarted]]:
    return [each for each in history.of(NodeStarted) if each.node == broker and each.at_ns <= until_ns]


def _caught_up_without(
    history: History, broker: str, last: Recorded[MetadataChanged], changes: Changes, until_ns: int
) -> bool:
    """Whether a removal and ``last`` came while a broker's high watermark stood still: it read them at once later.

    That was since its last start before it was asked, as it loads all of its log when it starts. How far it had read
    before its first sample of that time is not known, nor where its first read behind it ended.
    """
    started_ns = max((each.at_ns for each in _starts(history, broker, until_ns)), default=0)
    for from_ns, to_ns in _standstills(history, broker):
        if from_ns < started_ns or to_ns > until_ns:
            continue
        missed = [each for each in changes if from_ns < began_ns(each) and each.at_ns < to_ns]
        if last not in missed:
            continue
        at = missed.index(last)
        parts = (missed[first:end] for first in range(at) for end in range(at + 1, len(missed) + 1))
        if any(_begins_with_a_removal(part) for part in parts):
            return True
    return False


def _standstills(history: History, broker: str) -> Iterator[tuple[int, int]]:
    """From when to when a broker's samples had the same high watermark."""
    known = (each for each in history.samples if each.node == broker and high_watermark(each) > 0)
    for _, same in itertools.groupby(known, high_watermark):
        times = [each.at_ns for each in same]
        yield times[0], times[-1]


def drops_all(changes: Changes, certain_ns: int, until_ns: int) -> bool:
    """Whether a load of these changes, at least of those by ``certain_ns``, begins with a user without a credential.

    ``ScramDelta`` drops a mechanism as soon as no credential of it is left, and goes on filling what it dropped. It
    comes to the users in the order of a Java ``HashMap``.
    """
    loaded = [each for each in changes if began_ns(each) < until_ns]
    least = sum(each.at_ns <= certain_ns for each in loaded)
    return any(_begins_with_a_removal(loaded[:count]) for count in range(max(least, 1), len(loaded) + 1))


def _begins_with_a_removal(changes: Changes) -> bool:
    """Whether the user that comes first in a ``HashMap`` of these changes has no credential after them."""
    last = {each.what.subject.rpartition(":")[0]: removes(each) for each in changes}
    places = 16
    while len(last) > places * 3 // 4:
        places *= 2
    return last[min(last, key=lambda user: _spread_hash(user) % places)]


def _spread_hash(text: str) -> int:
    """The hash of a string by which a Java ``HashMap`` chooses its place."""
    units = memoryview(text.encode("utf-16-le")).cast("H")
    value = reduce(lambda so_far, unit: (31 * so_far + unit) & 0xFFFFFFFF, units, 0)
    return value ^ value >> 16


def changes_about(history: History, key: str) -> tuple[Changes, Changes]:
    """The changes of a credential, and the removals of others of its mechanism, as far as they were not refused."""
    changes = [each for each in history.of(MetadataChanged) if not has_failed(each)]
    own = [each for each in changes if each.what.subject == key]
    others = [each for each in changes if removes(each) and each.what.subject != key]
    return own, [each for each in others if _mechanism(each) == key.rpartition(":")[2]]


def of_mechanism(history: History, change: Recorded[MetadataChanged]) -> Changes:
    """The changes of all credentials of the same mechanism, as far as they were not refused."""
    mechanism = _mechanism(change)
    return [e for e in history.of(MetadataChanged) if not has_failed(e) and _is_scram(e) and _mechanism(e) == mechanism]


def _is_scram(change: Recorded[MetadataChanged]) -> bool:
    return change.what.change in ("set-scram", "remove-scram")


def _mechanism(change: Recorded[MetadataChanged]) -> str:
    return change.what.subject.rpartition(":")[2]


def removes(change: Recorded[MetadataChanged]) -> bool:
    """Whether it removes a credential."""
    return change.what.change == "remove-scram"
