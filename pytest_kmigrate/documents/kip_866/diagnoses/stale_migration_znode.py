"""KAFKA-17146: the znode ``/migration`` of a migration that was undone is taken for that of the next one."""

import re
import sys
from collections.abc import Collection, Sequence
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.controllers.znode_changes import held_in, was_deleted
from pytest_kmigrate.checkers.evidence.expectations import Unmet, lists_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.clients.every_broker import LISTS_NONE, clients_are_told_of_every_broker
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import SAME_TOPIC, clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.diagnoses.windows import are_within
from pytest_kmigrate.documents.kip_866.expectations import TOPICS_COPIED
from pytest_kmigrate.model.document import Window, diagnosis
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict, Violation

_NOTHING = " in ZooKeeper mode reports nothing more"
"""What a broker is observed to report of a topic that the controllers do not know."""
_LACKS = ("does not", "reports nothing more")
_UNLISTED = re.compile(
    r"\bbroker-\d+ in ZooKeeper mode lists (broker-\d+) and (broker-\d+) in ZooKeeper mode does not\b"
)


def _since_the_skipped_copy(history: History) -> list[Window]:
    """From the first take-over from a stale position on: what is wrong before has another cause."""
    return [Window(each, sys.maxsize) for each in _skipped_ns(history)[:1]]


@diagnosis("KAFKA-17146", windows=_since_the_skipped_copy)
def copy_was_skipped_for_a_stale_position(history: History, verdict: Verdict) -> bool:
    """When new controllers took over, ``/migration`` held a position that controllers of a former log had written.

    It explains that the log lacks what ZooKeeper had, and that brokers which hear from them know nothing of it. One
    that was restarted before they send anything lists no broker, not even itself.
    """
    if not _skipped_ns(history):
        return False
    if verdict.is_of(clients_are_told_the_same):
        return all(hears_nothing(each.observed) and _is_of_old(history, each) for each in verdict.violations)
    if verdict.check == clients_are_told_of_every_broker.name:
        return all(each.observed.startswith(LISTS_NONE) for each in verdict.violations)
    return all_unmet(history, verdict, lambda event: _lacks_some(history, event))


def _is_of_old(history: History, violation: Violation) -> bool:
    """Whether a topic that a broker does not know, if it is one, was made before the copy that was skipped."""
    topic, at_ns = SAME_TOPIC.fullmatch(violation.expected), violation.at_ns
    skipped_ns = [each for each in _skipped_ns(history) if at_ns is None or each <= at_ns]
    return topic is None or are_within(history, [topic[1]], [Window(0, each) for each in skipped_ns[-1:]])


def _skipped_ns(history: History) -> list[int]:
    """When controllers of a new log first took over from a stale position, and skipped the copy."""
    starts_ns = life_starts_ns(history)
    changes = [each for each in history.znodes if each.path == MIGRATION]
    first: dict[str, int] = {}
    for claim in kraft_claims(history):
        first.setdefault(claim.series, claim.at_ns)
    return [at_ns for at_ns in first.values() if _is_stale_at(changes, starts_ns, at_ns)]


def _is_stale_at(changes: Sequence[ZnodeChange], starts_ns: list[int], at_ns: int) -> bool:
    """Whether the znode, as it was then, is one that controllers of a former log had left."""
    seen = [each for each in changes if each.at_ns <= at_ns]
    former = [each for each in seen if life_at(starts_ns, each.at_ns) < life_at(starts_ns, at_ns)]
    if not former or held_in(former[-1]).get("kraft_metadata_offset", -1) == -1:
        return False
    since = seen[len(former) - 1 :]
    return not any(was_deleted(later, earlier) for earlier, later in pairwise(since))


def hears_nothing(observed: str, brokers: Collection[str] = ()) -> bool:
    """Whether all that was observed is that a broker in ZooKeeper mode, one of ``brokers`` if given, knows nothing."""
    is_one = not brokers or any(f"{each} in ZooKeeper mode {word}" in observed for each in brokers for word in _LACKS)
    return is_one and (_NOTHING in observed or _lists_none(observed))


def _lists_none(observed: str) -> bool:
    """Whether all that was observed is that one broker lists no other, and not itself."""
    unlisted = _UNLISTED.findall(observed)
    listed, ignorant = ({each[place] for each in unlisted} for place in (0, 1))
    return len(ignorant) == 1 and ignorant <= listed and len(unlisted) == observed.count("; ") + 1


def _lacks_some(history: History, event: Unmet) -> bool:
    """Whether the log lacks topics that it should have, all of them older than the copy that was skipped."""
    both = lists_in(event) if TOPICS_COPIED.is_of(event.what) else None
    skipped_ns = [each for each in _skipped_ns(history) if each <= event.at_ns]
    if both is None or not skipped_ns or not set(map(str, both[1])) < set(map(str, both[0])):
        return False
    return are_within(history, [each for each in both[0] if each not in both[1]], [Window(0, skipped_ns[-1])])
