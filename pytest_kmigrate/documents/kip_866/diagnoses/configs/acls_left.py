"""apache/kafka#15327: of the ACLs that are left of a resource ZooKeeper keeps one."""

from pytest_kmigrate.checkers.metadata.snapshots import changes_before
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict


@diagnosis("apache/kafka#15327", since_the_takeover)
def others_went_with_the_acl(history: History, verdict: Verdict) -> bool:
    """ZooKeeper has a single ACL of a resource whose last change took another one away; nothing else is wrong."""
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    if wrong is None or label is None:
        return False
    places = wrong.places | {each.place for each in wrong.all_lost}
    held, last = history.images[label].acls, _last_changes(history, label)
    return bool(places) and all(
        family == "acls" and len(held.get(key, ())) == 1 and last.get(key) == "remove-acl" for family, key in places
    )


def _last_changes(history: History, label: str) -> dict[str, str]:
    """What was done last to each subject before an image was taken, as it was acknowledged."""
    acknowledged = [each for each in changes_before(history, label) if each.what.outcome == "ok"]
    return {each.what.subject: each.what.change for each in acknowledged}
