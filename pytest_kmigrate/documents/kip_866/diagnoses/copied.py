"""KAFKA-15605 and KAFKA-16411: what the copy brings into the metadata log is not what ZooKeeper meant."""

from collections.abc import Mapping
from urllib.parse import quote

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.evidence.expectations import all_unmet, lists_in
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_PENDING = "/admin/delete_topics"
_SIDES = ("zookeeper", "metadata-log")


@diagnosis("KAFKA-15605")
def pending_deletions_were_copied_as_topics(history: History, verdict: Verdict) -> bool:
    """The topics that live on, or whose deletion is pending for ever, are those pending in ZooKeeper at the copy."""
    claimed_ns = min((claim.at_ns for claim in kraft_claims(history)), default=-1)
    before = [each for each in history.znodes if each.path == _PENDING and each.at_ns <= claimed_ns]
    pending = set(before[-1].children) if before else set[str]()
    return bool(pending) and all_unmet(history, verdict, lambda event: _are_among(event, pending))


@diagnosis("KAFKA-16411")
def quotas_were_copied_under_other_names(history: History, verdict: Verdict) -> bool:
    """Default entities have the empty name, and other names are those of znodes, in which characters are encoded."""
    wrong = wrong_in(history, verdict)
    if wrong is not None and all(family == "quotas" for family, _ in wrong.places):
        by_source = {history.images[label].source: history.images[label].quotas for label in wrong.lost}
        return by_source.keys() == {"zookeeper", "metadata-log"} and _are_znode_names(*map(by_source.get, _SIDES))
    return all_unmet(history, verdict, lambda event: _are_znode_names(event.data["expected"], event.data["observed"]))


def _are_among(event: Event, pending: set[str]) -> bool:
    both = lists_in(event)
    return both is not None and not both[0] and bool(both[1]) and set(map(str, both[1])) <= pending


def _are_znode_names(expected: object, observed: object) -> bool:
    if not isinstance(expected, Mapping) or not isinstance(observed, Mapping) or expected.keys() == observed.keys():
        return False
    return {_as_znode(str(entity)): value for entity, value in expected.items()} == dict(observed)


def _as_znode(entity: str) -> str:
    """An entity such as "user=a b,client-id=<default>" by the names of its znodes: "user=a%20b,client-id="."""
    user, comma, client = entity.rpartition(",client-id=")
    parts = [user, f"client-id={client}"] if comma else [entity]
    return ",".join(_encoded(*part.partition("=")) for part in parts)


def _encoded(kind: str, _equals: str, name: str) -> str:
    return f"{kind}={'' if name == '<default>' else quote(name, safe='')}"
