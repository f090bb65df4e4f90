"""KAFKA-15605, 15552 and 16411, kmigrate-28: what the copy brings into the metadata log is not what ZooKeeper meant."""

import re
from collections.abc import Collection, Mapping
from urllib.parse import quote

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.znode_changes import writes_to
from pytest_kmigrate.checkers.evidence.expectations import lists_in
from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.metadata.made import DEFAULT, parts_of, znode_of
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.dual_write.deletions import pending_deletions_leave_zookeeper
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Verdict

_PENDING = "/admin/delete_topics"
_COPIED = re.compile(r"(?:Replayed TopicRecord for|Created) topic (\S+) with topic ID")  # 3.5 has the second wording
_OF_DELETION = re.compile(r"^nothing is left of (\S+), whose deletion was pending")
_NAMED = ("quotas", "scram")
_FOLDERS = {"user": "users", "client-id": "clients", "ip": "ips"}
"""Kinds of entities that have quotas, as the log is to name them and as the znodes above them are called."""
_BLOCK = 1000
"""Producer ids in one block (ProducerIdsBlock)."""


@diagnosis("KAFKA-15605", windows=since_the_takeover)
def pending_deletions_were_copied_as_topics(history: History, verdict: Verdict) -> bool:
    """The topics that live on, or whose deletion is pending for ever, are those pending in ZooKeeper at the copy.

    The check of pending deletions is about just these; then controllers have replayed all of them as topics.
    """
    taken_over_ns = _taken_over_ns(history)
    seen = [each for each in history.znodes if each.path == _PENDING]
    before = [each for each in seen if taken_over_ns is not None and each.at_ns <= taken_over_ns]
    pending = set(before[-1].children) if before else set[str]()
    if verdict.is_of(pending_deletions_leave_zookeeper):
        copied = {each for _, log in logs_of(history, "controller") for each in _COPIED.findall(log)}
        named = [_OF_DELETION.search(each.expected) for each in verdict.violations]
        return bool(pending) and pending <= copied and all(each and each[1] in pending for each in named)
    return bool(pending) and all_unmet(history, verdict, lambda event: _are_among(event, pending))


@diagnosis("KAFKA-15552")
def next_producer_id_is_that_of_the_last_block(history: History, verdict: Verdict) -> bool:
    """A log goes on with the first id of the block that ZooKeeper had given away last, not with the one after it."""
    wrong = wrong_in(history, verdict)
    is_about = wrong is not None and {family for family, _ in wrong.places} == {"producer_ids"}
    if wrong is None or not is_about or _taken_over_ns(history) is None:
        return False
    pairs = [(log.producer_ids.get("next"), tree.producer_ids.get("next")) for log, tree in sides(history, wrong.lost)]
    unlike = [(log, tree) for log, tree in pairs if log != tree]
    return bool(unlike) and all(
        isinstance(log, int) and isinstance(tree, int) and log + _BLOCK == tree for log, tree in unlike
    )


def sides(history: History, labels: Collection[str]) -> list[tuple[MetadataImage, MetadataImage]]:
    """The images of the metadata log among these, each with the one of ZooKeeper; none where they are no pairs."""
    logs, trees = (
        [history.images[each] for each in labels if history.images[each].source == source]
        for source in ("metadata-log", "zookeeper")
    )
    return list(zip(logs, trees, strict=True)) if len(logs) == len(trees) else []


@diagnosis("kmigrate-28")
def entities_have_other_kinds(history: History, verdict: Verdict) -> bool:
    """Quotas are in the log by the names of the folders of znodes (users, clients, ips), so that none is in force."""
    wrong = wrong_in(history, verdict)
    if wrong is not None:
        is_copied = bool(wrong.places) and _taken_over_ns(history) is not None
        return is_copied and all(_is_of_another_kind(history, wrong.lost, *each) for each in wrong.places)
    return all_unmet(history, verdict, lambda event: _was_copied(history, event) and _are_other_kinds(event))


def _is_of_another_kind(history: History, labels: Collection[str], family: str, key: str) -> bool:
    """Whether each log has the quotas of this entity under another kind, or this is such a name of one in ZooKeeper.

    What is set in dual write has its kind in both; 3.4 calls the znode of a default entity "null".
    """
    if family != "quotas":
        return False
    images = [history.images[label] for label in labels]
    logs = [image.quotas for image in images if image.source == "metadata-log"]
    others = [image.quotas for image in images if image.source != "metadata-log"]
    names = {as_copied_by_3_4(each): value for tree in others for each, value in tree.items()}
    written = {each.replace(DEFAULT, "null"): log[each] for log in logs for each in log if DEFAULT in each}
    copied = as_copied_by_3_4(key)
    if key in names:
        return all(log.get(key) == names[key] for log in logs)
    if key in written:
        return all(tree.get(key) == written[key] for tree in others)
    originals = [tree[key] for tree in others if key in tree]
    return bool(logs) and all(
        key not in log and copied in log and all(log[copied] == value for value in originals) for log in logs
    )


def _was_copied(history: History, event: Event) -> bool:
    """Whether the KRaft controllers had taken over by then."""
    taken_over_ns = _taken_over_ns(history)
    return taken_over_ns is not None and event.at_ns > taken_over_ns


def _are_other_kinds(event: Recorded[ExpectationEnded]) -> bool:
    expected, observed = event.what.expected, event.what.observed
    if not isinstance(expected, Mapping) or not isinstance(observed, Mapping) or not expected:
        return False
    return {as_copied_by_3_4(str(entity)): value for entity, value in expected.items()} == dict(observed)


def as_copied_by_3_4(key: str) -> str:
    """A key such as "user=a b,client-id=<default>" as 3.4 names it in the log: "clients=<default>,users=a%20b"."""
    named = [
        (_FOLDERS.get(kind, kind), name if name == DEFAULT else quote(name, safe="%")) for kind, name in parts_of(key)
    ]
    return ",".join(f"{kind}={name}" for kind, name in sorted(named))


@diagnosis("KAFKA-16411")
def entities_have_other_names(history: History, verdict: Verdict) -> bool:
    """Default entities are copied with the empty name, and others by the names of znodes, which are encoded.

    What changes of such an entity in dual write is in the log, and no controller writes its znode.
    """
    wrong = wrong_in(history, verdict)
    if wrong is not None:
        is_copied = bool(wrong.places) and _taken_over_ns(history) is not None
        return is_copied and all(_is_named_otherwise(history, wrong.lost, *each) for each in wrong.places)
    return all_unmet(history, verdict, lambda event: _was_copied(history, event) and _are_znode_names(event))


def _is_named_otherwise(history: History, labels: Collection[str], family: str, key: str) -> bool:
    """Whether a log has the entity by its znode's name, or this is such a name; or its znode was left as it was."""
    if family not in _NAMED:
        return False
    images = [history.images[label] for label in labels]
    logs = [getattr(image, family) for image in images if image.source == "metadata-log"]
    trees = [getattr(image, family) for image in images if image.source == "zookeeper"]
    originals = [(each, tree[each]) for tree in trees for each in tree if _as_znode(each, family) == key != each]
    if originals:
        return all(
            log.get(key) == value or _was_never_written(history, family, each)
            for log in logs
            for each, value in originals
        )
    named = _as_znode(key, family)
    if named == key or _was_never_written(history, family, key):
        return named != key
    copied = [log[named] for log in logs if named in log]
    return bool(copied) and all(tree[key] == value for tree in trees for value in copied if key in tree)


def _was_never_written(history: History, family: str, key: str) -> bool:
    """Whether an entity was changed since the KRaft controllers took over, and its znode not since then.

    The bug loses every change of the entity: the first one counts, however it ended, and any write refutes it. A driver
    that loses a batch now and then is another matter (``early_access._was_missed``).
    """
    taken_over_ns, (path, _) = _taken_over_ns(history) or 0, znode_of(history, family, key)
    changes = [each for each in history.of(MetadataChanged) if each.what.subject == key]
    since_ns = min((each.at_ns for each in changes if each.at_ns > taken_over_ns), default=None)
    return since_ns is not None and not any(each.at_ns > since_ns for each, _ in writes_to(history, path))


def _taken_over_ns(history: History) -> int | None:
    """When the KRaft controllers took over first; None where that was not seen."""
    return min((claim.at_ns for claim in kraft_claims(history)), default=None)


def _are_among(event: Recorded[ExpectationEnded], pending: set[str]) -> bool:
    both = lists_in(event)
    return both is not None and not both[0] and bool(both[1]) and set(map(str, both[1])) <= pending


def _are_znode_names(event: Recorded[ExpectationEnded]) -> bool:
    expected, observed = event.what.expected, event.what.observed
    if not isinstance(expected, Mapping) or not isinstance(observed, Mapping) or expected.keys() == observed.keys():
        return False
    return {_as_znode(str(entity), "quotas"): value for entity, value in expected.items()} == dict(observed)


def _as_znode(key: str, family: str) -> str:
    """A key such as "user=a b,client-id=<default>" by the names of its znodes: "user=a%20b,client-id="."""
    if family == "scram":
        user, _, mechanism = key.rpartition(":")
        return f"{quote(user, safe='')}:{mechanism}"
    return ",".join(f"{kind}={'' if name == DEFAULT else quote(name, safe='')}" for kind, name in parts_of(key))
