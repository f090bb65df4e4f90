"""A small script for an implementation under test: whether its command keeps the contract of members."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from pytest_kmigrate.documents.kip_125.group import Members, MigratingGroup, Traffic
from pytest_kmigrate.documents.kip_125.kinds import TOPIC, WITH, WITHOUT
from pytest_kmigrate.model.document import Rehearsal
from pytest_kmigrate.model.errors import AwaitTimeoutError, NodeDiedError
from pytest_kmigrate.model.event import Event, Recorded, is_a
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.events.members import MemberEnded
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.clients.client_settings import ClientWorkload
from pytest_kmigrate.workloads.members.member import ENDED_WITHIN_S

_PARTITIONS = 4
_DONE_WITHIN_S = 30.0
_KEY = "coordination.migration.enabled"
LINES: Mapping[str, str] = {
    "startup_complete": "every requirement",
    "partitions_assigned": "who owns what",
    "records_consumed": "who reads what",
    "partitions_revoked": "handovers",
    "coordination_mode": "the mode",
    "offsets_committed": "commits",
    "kafka_assigned": "what Kafka's coordinator assigns",
    "metrics": "gauges",
    "before_starting_fetchers": "the listener",
    "before_releasing_partitions": "the listener",
    "shutdown_complete": "nothing: it only ends the log",
}
"""Each line of the contract that the script brings about, and what is judged by it."""
NEEDED = ("startup_complete", "partitions_assigned", "records_consumed", "partitions_revoked", "coordination_mode")
"""Without these the suite judges nothing."""
CALLBACKS = ("before_starting_fetchers", "before_releasing_partitions")
"""A member whose user has a listener prints each call, and the script's members have one."""


class _Traffic(Traffic, Protocol):
    def start(self, workload: ClientWorkload) -> None: ...


def rehearse(scene: Scene, members: Members, traffic: _Traffic) -> Rehearsal:
    """Run members by the command under test, in a cluster that serves; what is missing or wrong, in words."""
    workload = ClientWorkload(
        topics=(TOPIC,), partitions=_PARTITIONS, replication=1, per_s=200, producers=1, consumers=0, is_text=True
    )
    traffic.start(workload)
    group = MigratingGroup(scene, members, _PARTITIONS, traffic)
    failed = _played(group)
    for each in group.alive():
        each.stop(ENDED_WITHIN_S)
    seen = Counter[str]()
    for member in members.by_name.values():
        seen += member.seen
    found = list(problems(scene.recorder.events))
    found += [failed] if failed and not found else []
    if not found:
        found = list(lacking(seen))
    return Rehearsal([(name, purpose, seen[name]) for name, purpose in LINES.items()], found)


def lacking(seen: Mapping[str, int]) -> Iterator[str]:
    """The lines that a member must have printed by the end of the script, and did not; ``seen``: by name, how many."""
    for name in (each for each in NEEDED if not seen.get(each)):
        yield f"{name}: expected in a run of this script; never printed"
    for name in (each for each in CALLBACKS if not seen.get(each)):
        yield f"{name}: expected of a member with --listener whenever it calls its user's listener; never printed"


def _played(group: MigratingGroup) -> str:
    """Play the script until something fails; what failed, or an empty text."""
    for sentence, step in _script(group):
        try:
            step()
        except (AwaitTimeoutError, NodeDiedError):
            return f"expected that {sentence} within {_DONE_WITHIN_S:g} s; it did not happen"
    return ""


def _script(group: MigratingGroup) -> Iterator[tuple[str, Callable[[], object]]]:
    first = group.start(WITH, has_listener=True)
    yield "a member prints startup_complete", lambda: first.await_started(_DONE_WITHIN_S)
    yield "it owns all partitions", lambda: group.await_owned([first], _DONE_WITHIN_S)
    read = lambda: first.seen["records_consumed"]  # noqa: E731
    yield "it reads records", lambda: until(read, awaited="records", within_s=_DONE_WITHIN_S)
    yield "it reports that ZooKeeper decides", lambda: group.await_mode("zookeeper", _DONE_WITHIN_S)
    group.write_mode("kafka")
    yield "it follows the mode", lambda: group.await_mode("kafka", _DONE_WITHIN_S)
    second = group.start(WITH, has_listener=True)
    yield "a second member gets its share", lambda: group.await_owned([first, second], _DONE_WITHIN_S)
    older = group.start(WITHOUT)
    yield "a member without migration gets its share", lambda: group.await_owned([older], _DONE_WITHIN_S)
    yield "the others follow ZooKeeper then", lambda: group.await_mode("zookeeper", _DONE_WITHIN_S)
    refusing = group.start(WITH, coordination_migration_enabled="maybe")
    yield f"a member refuses {_KEY}=maybe", lambda: refusing.await_ended(_DONE_WITHIN_S)


def problems(events: Sequence[Event]) -> Iterator[str]:
    """What is wrong by itself: lines that are none, and ends that nothing asked for."""
    reported = set[str]()
    for event in events:
        if is_a(event, HarnessTrouble) and (what := event.what.what) not in reported:
            reported.add(what)
            yield f"{what}: {event.what.error}"
        elif is_a(event, MemberEnded) and event.what.how == "died":
            yield _end(event)
        elif is_a(event, MemberEnded) and event.what.how == "refused":
            said = event.what.said
            if not said.startswith(f"{_KEY}:"):
                expected = f'a last line on standard error that begins with "{_KEY}:"'
                yield f"{event.what.member}: expected {expected}; got {said!r}"


def _end(event: Recorded[MemberEnded]) -> str:
    member, status, said = event.what.member, event.what.status, event.what.said
    if status == -9:
        return f"{member}: expected it to end within {ENDED_WITHIN_S:g} s of the order to stop; it hung, and was killed"
    wrote = f"; it wrote {said!r}" if said else ""
    expected = "expected it to live until it is ordered to stop, and then to exit with 0"
    return f"{member}: {expected}; it exited with {status}{wrote}"
