"""kmigrate-6: brokers in ZooKeeper mode hear nothing of delegation tokens that change in dual write."""

import re
from collections import defaultdict
from collections.abc import Mapping

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.expectations import Unmet, lists_in
from pytest_kmigrate.checkers.evidence.logs import after_last, log_of
from pytest_kmigrate.checkers.metadata.changes import families_of, has_failed
from pytest_kmigrate.checkers.metadata.made import changed_ns
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Verdict

_STARTED = r"\[KafkaServer id=\d+\] started"
_NOTIFIED = "Processing notification(s) to /delegation_token/token_changes"


@diagnosis("kmigrate-6", windows=since_the_takeover)
def brokers_were_not_notified_of_tokens(history: History, verdict: Verdict) -> bool:
    """Only brokers in ZooKeeper mode have other tokens than ZooKeeper, and none was notified since it started.

    Each of these tokens was changed in dual write, after the broker had started: it reads all that there are then.
    """
    return all_unmet(history, verdict, lambda event: _has_old_tokens(history, event))


def _has_old_tokens(history: History, event: Unmet) -> bool:
    brokers = _brokers_with_others(history, event)
    return bool(brokers) and all(
        _was_not_notified(history, broker, event.at_ns) and _were_changed_since(history, broker, tokens, event.at_ns)
        for broker, tokens in brokers.items()
    )


def _brokers_with_others(history: History, event: Unmet) -> Mapping[str, set[str]]:
    """The brokers whose tokens are not those that ZooKeeper holds, with these; none if something else was expected."""
    held = [image.delegation_tokens for image in history.images.values() if image.source == "zookeeper"]
    expected, observed = event.what.expected, event.what.observed
    if isinstance(expected, Mapping) and isinstance(observed, Mapping):
        is_held = any({each: token.get("expires_ms") for each, token in tokens.items()} == expected for tokens in held)
        return _with_other_expiries(expected, observed) if is_held else {}
    both = lists_in(event)
    if both is None or len(both[0]) != len(both[1]) or not any([sorted(tokens)] == both[0][:1] for tokens in held):
        return {}
    brokers = _brokers(history)
    if len(brokers) != len(both[0]):
        return {}
    return {name: _unlike(one, other) for name, one, other in zip(brokers, *both, strict=True) if one != other}


def _unlike(one: object, other: object) -> set[str]:
    """The tokens that only one of two lists has."""
    lists = [set(map(str, each)) if isinstance(each, list | tuple) else set[str]() for each in (one, other)]
    return lists[0] ^ lists[1]


def _brokers(history: History) -> list[str]:
    """The brokers by id, the order in which expectations list what each of them has."""
    names = [name for name, role in roles(history).items() if role == Role.BROKER]
    return sorted(names, key=lambda name: int(name.rpartition("-")[2]))


def _with_other_expiries(expected: Mapping[str, object], observed: Mapping[str, object]) -> Mapping[str, set[str]]:
    """Of tokens by id, where brokers differ: {broker: when it expires}; none where something else is wrong, too."""
    found = defaultdict[str, set[str]](set)
    unlike = {each: at for each, at in observed.items() if at != expected.get(each)}
    by_broker = {each: at for each, at in unlike.items() if isinstance(at, Mapping) and each in expected}
    if observed.keys() != expected.keys() or by_broker.keys() != unlike.keys():
        return {}
    for each, reported in by_broker.items():
        for broker, at in reported.items():
            if at != expected[each]:
                found[str(broker)].add(each)
    return found


def _were_changed_since(history: History, broker: str, tokens: set[str], at_ns: int) -> bool:
    """Whether each of these tokens was changed last after a broker had started, and KRaft had taken over."""
    claims_ns = [each.at_ns for each in kraft_claims(history) if each.at_ns <= at_ns]
    starts_ns = [each.at_ns for each in history.of(NodeStarted) if each.node == broker and each.at_ns < at_ns]
    changes = [each for each in history.of(MetadataChanged) if not has_failed(each) and each.at_ns <= at_ns]
    last = {each.what.subject: changed_ns(each) for each in changes if "delegation_tokens" in families_of(each)}
    if not claims_ns or not starts_ns or not tokens:
        return False
    return all(each in last and last[each] > max(claims_ns[0], starts_ns[-1]) for each in tokens)


def _was_not_notified(history: History, broker: str, at_ns: int) -> bool:
    starts = [each for each in history.of(NodeStarted) if each.node == broker and each.at_ns < at_ns]
    log = log_of(history, broker)
    has_started = re.search(_STARTED, log) is not None
    in_zookeeper_mode = bool(starts) and starts[-1].what.mode == "zookeeper"
    return in_zookeeper_mode and has_started and _NOTIFIED not in after_last(_STARTED, log)
