"""kmigrate-36: partitions without a leader at the take-over get no state in ZooKeeper; changes with theirs are lost."""

import re
from collections.abc import Mapping, Sequence

from pytest_kmigrate.checkers.evidence.expectations import lists_in
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.clients.answers import OF_ZOOKEEPER_MODE
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import SAME_TOPIC, clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import AS_SOON_AS, brokers_are_rolled_one_by_one
from pytest_kmigrate.documents.kip_866.diagnoses.log_records import (
    is_equal_at,
    lacks_only_the_last,
    last_log,
    log_at,
    log_beside,
    offsets_of,
)
from pytest_kmigrate.documents.kip_866.diagnoses.lost_batches import Loss, is_lost, leaderless, losses, states_written
from pytest_kmigrate.documents.kip_866.diagnoses.stale_migration_znode import hears_nothing
from pytest_kmigrate.documents.kip_866.diagnoses.windows import is_of_a_sync, since_the_takeover
from pytest_kmigrate.documents.kip_866.expectations import LED_BY_THE_DEAD
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation

_SOON_NS = 20_000_000_000
"""A broker that dies is fenced by then, with which its partitions get other leaders; writers have found them, too."""
_REPORTS = re.compile(r"(?:^|; )broker-\d+ in (ZooKeeper|KRaft) mode reports ")
_REPORTED = re.compile(r"(?:^|[; ])(\d+) replicas=\S* isr=\S* leader=\S+ leader_epoch=(\d+)")
_WRITABLE = re.compile(r"some write to (\S+) is acknowledged ")
_WRITABLE_AGAIN = re.compile(r"writes to (\S+) are acknowledged again " + AS_SOON_AS.format(r"\S+"))
_MADE_UP_EPOCH = 0
"""Of the leader that a partition without a state has by the copy."""


@diagnosis("kmigrate-36", windows=since_the_takeover)
def partitions_without_a_leader_at_the_takeover_have_no_state(history: History, verdict: Verdict) -> bool:
    """A topic was in ZooKeeper when KRaft took over, and states of its partitions were not, nor were they ever made.

    It explains that ZooKeeper lacks just these states. A controller was refused later for a znode that is not there,
    and passed the position of that batch over: that explains the leaders that brokers in ZooKeeper mode do not know,
    if the batch has changed them and no later one was sent, and that such partitions take no writes. By the records of
    the metadata log it explains also what ZooKeeper lacks of the batch, whatever it is, if ZooKeeper has what the log
    had before it.
    """
    if verdict.is_of(clients_are_told_the_same):
        return _is_late(verdict) and all(_is_unknown(history, each) for each in verdict.violations)
    if verdict.is_of(partitions_stay_available, brokers_are_rolled_one_by_one):
        return _is_late(verdict) and all(_is_unwritable(history, each) for each in verdict.violations)
    wrong = wrong_in(history, verdict)
    if wrong is None:
        return all_unmet(history, verdict, lambda event: _is_led_by_the_dead(history, event))
    return _lacks_states_alone(history, wrong, verdict) or _lacks_lost_batches(history, wrong, verdict)


def _is_late(verdict: Verdict) -> bool:
    return verdict.kind is Kind.LIVENESS and verdict.count == len(verdict.violations) > 0


def _lacks_states_alone(history: History, wrong: Wrong, verdict: Verdict) -> bool:
    """Whether the image of ZooKeeper has these partitions without a state, and nothing else is wrong."""
    behind = [label for label in verdict.listed("images") if history.images[label].source == "zookeeper"]
    taken = snapshot(history, behind[0]) if len(behind) == 1 else None
    if taken is None or any(wrong.lost.values()):
        return False
    held = history.images[behind[0]].partitions
    stateless = {key for key in leaderless(history, taken.at_ns) if key in held and held[key].get("isr") is None}
    is_all = all(family == "partitions" and key in stateless for family, key in wrong.places)
    return bool(wrong.places) and is_all


def _lacks_lost_batches(history: History, wrong: Wrong, verdict: Verdict) -> bool:
    """Whether ZooKeeper lacks of each place its last changes only, and the log has their records in lost batches.

    Such a batch has a change of a partition without a state, for which it was refused. Other sides are as the log is.
    """
    labels, behind = verdict.listed("images"), wrong.behind(history, "zookeeper")
    taken, places = snapshot(history, behind or ""), wrong.every_place
    log = log_beside(history, behind, labels) if behind else None
    if behind is None or taken is None or log is None:
        return False
    stale, others = history.images[behind], [history.images[each] for each in labels if each != behind]
    lost = [each for each in losses(history) if each.holds(taken.at_ns) and _has_a_stateless(history, log, each)]
    return bool(places) and all(
        lacks_only_the_last(log, stale, place, lambda offset: any(each.has(offset) for each in lost))
        and all(is_equal_at(log, each, place) for each in others)
        for place in places
    )


def _has_a_stateless(history: History, log: MetadataImage, loss: Loss) -> bool:
    """Whether a lost batch has a change of a partition that the copy made up a leader for."""
    keys = leaderless(history, loss.at_ns)
    return any(loss.has(offset) for key in keys for offset in offsets_of(log, ("partitions", key)))


def _is_unknown(history: History, violation: Violation) -> bool:
    """Whether a broker in ZooKeeper mode lacks the epochs of leaders that are named, as a batch with them was lost."""
    topic, at_ns = SAME_TOPIC.match(violation.expected), violation.at_ns
    if topic is None or at_ns is None or OF_ZOOKEEPER_MODE not in violation.observed:
        return False
    lost = [each for each in losses(history) if each.holds(at_ns)]
    if any(hears_nothing(violation.observed, _still_ignorant(history, each, at_ns)) for each in lost if each.unfenced):
        return True
    both = _epochs(violation.observed)
    return both is not None and all(
        any(_was_kept_from_brokers(history, f"{topic[1]}-{number}", each, at_ns) for each in lost)
        and _is_later(epoch, both[0][number], _sent(history, f"{topic[1]}-{number}", at_ns))
        for number, epoch in both[1].items()
    )


def _epochs(observed: str) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
    """By partition, the epochs of a broker in ZooKeeper mode, and the later ones of another; None: it is not so."""
    _, *parts = _REPORTS.split(observed)
    sides = [(mode, dict(_REPORTED.findall(said))) for mode, said in zip(parts[::2], parts[1::2], strict=True)]
    if len(sides) != 2 or not sides[0][1] or sides[0][1].keys() != sides[1][1].keys():
        return None
    both = [(mode, {number: int(epoch) for number, epoch in said.items()}) for mode, said in sides]
    for (mode, earlier), (_, later) in (both, both[::-1]):
        if mode == "ZooKeeper" and all(earlier[number] < later[number] for number in later):
            return earlier, later
    return None


def _is_later(epoch: int, reported: int, sent: int | None) -> bool:
    """Whether brokers were sent an earlier epoch of a leader last; where none is known they may have been sent it."""
    return sent is not None and reported <= sent < epoch


def _still_ignorant(history: History, loss: Loss, at_ns: int) -> Sequence[str]:
    """Those that were unfenced in vain, and not started since: no name at all, if none is left."""
    since = {str(each.node) for each in history.of(NodeStarted) if loss.at_ns < each.at_ns <= at_ns}
    return sorted(loss.unfenced - since) or ["none"]


def _is_unwritable(history: History, violation: Violation) -> bool:
    """Whether a partition is without writes from about the loss of a batch on that had changed it, and no longer."""
    at_ns = violation.at_ns
    if at_ns is None:
        return False
    if stopped := _WRITABLE_AGAIN.match(violation.expected):
        lost = [each for each in losses(history) if each.holds(at_ns)]
        return any(
            _was_kept_from_brokers(history, stopped[1], each, at_ns)
            and _leads_unaware(history, stopped[1], each, at_ns)
            for each in lost
        )
    partition = _WRITABLE.match(violation.expected)
    over_ns = max(at_ns, (violation.ended_ns or at_ns) - _SOON_NS)
    near = [each for each in losses(history) if at_ns <= each.at_ns <= at_ns + _SOON_NS or each.holds(at_ns)]
    lasting = [each for each in near if over_ns <= each.until_ns]
    return partition is not None and any(
        _was_kept_from_brokers(history, partition[1], each, over_ns) for each in lasting
    )


def _leads_unaware(history: History, partition: str, loss: Loss, at_ns: int) -> bool:
    """Whether a lost batch made a broker in ZooKeeper mode the leader: one in KRaft mode reads the log itself."""
    return any(
        each.name == f"broker-{leader}" and each.mode == "zookeeper"
        for leader in _elected_in(history, partition, loss)
        for each in brokers_at(history, at_ns)
    )


def _elected_in(history: History, partition: str, loss: Loss) -> list[object]:
    """The leader that a partition has by the records of a lost batch, in a later epoch than before it; or none."""
    log, place = last_log(history), ("partitions", partition)
    offsets = [each for each in offsets_of(log, place) if loss.has(each)]
    if log is None or not offsets or not _has_a_stateless(history, log, loss):
        return []
    before, after = (log_at(log, each).partitions.get(partition, {}) for each in (loss.after, offsets[-1]))
    former, epoch = before.get("leader_epoch"), after.get("leader_epoch")
    is_later = isinstance(former, int) and isinstance(epoch, int) and epoch > former
    return [after["leader"]] if is_later else []


def _is_led_by_the_dead(history: History, event: Recorded[ExpectationEnded]) -> bool:
    """Whether brokers report former leaders of just such partitions as a lost batch had changed."""
    places, both = LED_BY_THE_DEAD.places_in(event.what), lists_in(event)
    if places is None or both is None or both[0]:
        return False
    lost = [each for each in losses(history) if each.holds(event.at_ns)]
    return bool(both[1]) and all(
        any(_was_kept_from_brokers(history, f"{places['topic']}-{number}", each, event.at_ns) for each in lost)
        for number in both[1]
    )


def _was_kept_from_brokers(history: History, partition: str, loss: Loss, at_ns: int) -> bool:
    """Whether a lost batch had changed a partition, and brokers were sent no later state of it until then."""
    own = states_written(history).get(partition, ())
    since = [each for each, _ in own if each.zxid > loss.last and each.at_ns <= at_ns]
    return _was_changed_in(history, partition, loss) and all(is_lost(history, each) for each in since)


def _was_changed_in(history: History, partition: str, loss: Loss) -> bool:
    """Whether a partition got another leader in a batch that brokers were not sent.

    The controller had written the state before it was refused, or the next one to take over finds it to be written; or
    the log has it among the records of the batch.
    """
    own = states_written(history).get(partition, ())
    before = [epoch for each, epoch in own if each.zxid < loss.first]
    in_it = [epoch for each, epoch in own if loss.first <= each.zxid <= loss.last]
    after = next((pair for pair in own if pair[0].zxid > loss.last), None)
    is_synced = after is not None and after[0].at_ns >= loss.until_ns and is_of_a_sync(history, after[0])
    later = in_it or ([after[1]] if after is not None and is_synced else [])
    return bool(before and later and later[0] > before[-1]) or bool(_elected_in(history, partition, loss))


def _sent(history: History, partition: str, at_ns: int) -> int | None:
    """The latest epoch of a partition's leader that brokers were sent: those of lost batches they were not.

    Of a partition without a state that is the one that the copy made up: each later change of it is lost.
    """
    if partition in leaderless(history, at_ns):
        return _MADE_UP_EPOCH
    own = states_written(history).get(partition, ())
    sent = [epoch for each, epoch in own if each.at_ns <= at_ns and not is_lost(history, each)]
    return sent[-1] if sent else None
