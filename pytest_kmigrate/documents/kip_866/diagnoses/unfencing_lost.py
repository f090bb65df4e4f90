"""kmigrate-1: the record that unfences a broker falls into the copy, which is aborted."""

import re
from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.evidence.expectations import Unmet, lacking_members
from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.registration.heartbeats import brokers_that_run_are_unfenced
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import has_place, held_by_migration
from pytest_kmigrate.documents.kip_866.diagnoses.silent_brokers import compared
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.model.verdict import Verdict

_RECORDS = re.compile(
    r"Replayed (?:(?P<begun>BeginTransactionRecord\(name='ZK Migration'\))|(?P<ended>EndTransactionRecord)"
    r"|(?P<aborted>AbortTransactionRecord)"
    r"|(?:initial )?RegisterBrokerRecord .*?broker (?P<registered>\d+):"
    r"|BrokerRegistrationChangeRecord .*?broker (?P<unfenced>\d+): .*?fenced=-1)"
)


@diagnosis("kmigrate-1", windows=since_the_takeover)
def unfencing_was_lost_with_the_aborted_copy(history: History, verdict: Verdict) -> bool:
    """A broker was unfenced within the transaction of a copy that was aborted, and not again before it was restarted.

    It explains that this broker, and no other, is fenced though it runs, and is in no ISR.
    """
    every = {broker for _, log in logs_of(history, "controller") for broker in _left_fenced(log)}
    if verdict.is_of(brokers_that_run_are_unfenced):
        fenced = {each for each in every if all(_runs_since(history, each, one.at_ns) for one in verdict.violations)}
        named = verdict.listed("fenced")
        most = max(len(named), int(str(verdict.facts.get("uncounted", 0))))
        return {f"broker-{each}" for each in fenced}.issuperset(named) and 0 < most <= len(fenced)
    return bool(every) and all_unmet(
        history, verdict, lambda event: _lacks_only(event, {e for e in every if _runs_since(history, e, event.at_ns)})
    )


@diagnosis("kmigrate-1")
def broker_that_stays_fenced_is_sent_nothing(history: History, verdict: Verdict) -> bool:
    """Such a broker, in ZooKeeper mode, knows nothing, whatever its age: controllers send to what is not fenced."""
    found = compared(history, verdict)
    if found is None:
        return False
    here = {each.name for each in brokers_at(history, found.at_ns) if each.mode == BrokerMode.ZOOKEEPER.value}
    fenced = {e for _, log in logs_of(history, "controller") for e in _left_fenced(log)}
    silent = here & {f"broker-{each}" for each in fenced if _runs_since(history, each, found.at_ns)}
    return all(map(found.knows_nothing, silent)) and all(found.others_agree(each, silent) for each in found.places)


def _runs_since(history: History, broker: int, at_ns: int | None) -> bool:
    """Whether a broker was not started again once the copy was complete: then it registers, and is unfenced anew."""
    until_ns = history.end_ns if at_ns is None else at_ns
    claims = [each for each in kraft_claims(history) if each.at_ns <= until_ns]
    claimed_ns = next((each.at_ns for each in claims if each.series == claims[-1].series), until_ns)
    copied_ns = (each.at_ns for each in held_by_migration(history) if has_place(each) and each.at_ns > claimed_ns)
    starts_ns = [each.at_ns for each in history.of(NodeStarted) if each.node == f"broker-{broker}"]
    before_ns = [each for each in starts_ns if each <= until_ns]
    return bool(before_ns) and before_ns[-1] <= next(copied_ns, until_ns)


def _left_fenced(log: str) -> Iterator[int]:
    """The brokers whose unfencing was undone, in the order of a controller's records."""
    in_copy: set[int] = set()
    undone: set[int] = set()
    is_copying = False
    for record in _RECORDS.finditer(log):
        if record["begun"]:
            in_copy, is_copying = set[int](), True
        elif record["aborted"]:
            undone, is_copying = undone | in_copy, False
        elif record["ended"]:
            undone, is_copying = undone - (in_copy if is_copying else set()), False
        elif record["registered"]:
            yield from undone & {int(record["registered"])}
            undone -= {int(record["registered"])}
        elif is_copying:
            in_copy.add(int(record["unfenced"]))
        else:
            undone -= {int(record["unfenced"])}
    yield from undone


def _lacks_only(event: Unmet, brokers: set[int]) -> bool:
    lacking = lacking_members(event)
    return lacking is not None and bool(brokers) and set[object]().union(*lacking) == brokers
