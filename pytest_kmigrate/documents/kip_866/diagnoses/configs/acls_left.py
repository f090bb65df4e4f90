"""apache/kafka#15327: of the ACLs that are left of a resource ZooKeeper keeps one."""

from collections.abc import Collection

from pytest_kmigrate.checkers.metadata.snapshots import changes_before
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict


@diagnosis("apache/kafka#15327", since_the_takeover)
def others_went_with_the_acl(history: History, verdict: Verdict) -> bool:
    """ZooKeeper has a single ACL of a resource whose last change took another one away; nothing else is wrong.

    What it lacks is others that were to stay: one that was taken away and is there still has another cause.
    """
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    if wrong is None or label is None:
        return False
    places = wrong.every_place
    last = _last_changes(history, label)
    are_to_stay = all(None not in each.state.admissible for each in wrong.all_lost)
    return (
        are_to_stay
        and bool(places)
        and all(
            family == "acls" and _is_one_left(history.images[label].acls.get(key, ()), last.get(key))
            for family, key in places
        )
    )


def _is_one_left(held: Collection[object], last: Recorded[MetadataChanged] | None) -> bool:
    if last is None or last.what.change != "remove-acl":
        return False
    return len(held) == 1 and last.what.wanted.get("binding") not in held


def _last_changes(history: History, label: str) -> dict[str, Recorded[MetadataChanged]]:
    """What was done last to each subject before an image was taken, as it was acknowledged."""
    acknowledged = [each for each in changes_before(history, label) if each.what.outcome == "ok"]
    return {each.what.subject: each for each in acknowledged}
