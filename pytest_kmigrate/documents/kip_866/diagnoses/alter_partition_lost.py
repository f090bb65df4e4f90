"""kmigrate-4: the take-over closes a broker's connection to the controller with an AlterPartition under way."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import partial

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.evidence.expectations import lacking_members
from pytest_kmigrate.checkers.evidence.logs import after_last, logs_of, was_logged_between
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.failed_steps import blamed_steps, waits_for_leaders
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeStarted, ThreadDied
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Verdict

_CHANNEL = (
    r"\[(?:zk-broker-\d+-to-controller-alter-partition-channel-manager"
    r"|BrokerToControllerChannelManager broker=\d+ name=alterPartition)\]: "
)
"""As it is named from 3.5 on, and by 3.4."""
_CONTROLLER = re.compile(
    _CHANNEL + r"Recorded new (?:(?P<of>ZK|KRaft) )?controller, from now on will use node (?P<role>\w+)-"
)
_CHANGES = re.compile(
    r"^(?P<line>[^\n]*\[Partition (?P<partition>\S+) broker=\d+\] "
    r"(?:(?P<updated>ISR updated to)|Failed to alter partition [^\n]*OPERATION_NOT_ATTEMPTED)[^\n]*)",
    re.MULTILINE,
)
"""What a leader logs of changes of an ISR that it made, or refused itself."""
_OFTEN = 100  # a broker whose request is under way refuses a few; one that waits for ever refuses 15 each second
_UNTIL_NS = 30_000_000_000
"""So shortly before a time it has refused one, if it still waits."""
_ANSWERED_NS = 5_000_000_000
"""So long after the take-over a request may be answered that the former controller had got."""


@diagnosis("kmigrate-4", windows=since_the_takeover)
def alter_partition_was_lost_at_the_takeover(history: History, verdict: Verdict) -> bool:
    """A broker in ZooKeeper mode refuses every change of an ISR itself, and has made none since the take-over.

    It ran at the take-over, its channel for AlterPartition was not logged to have a KRaft controller, and its thread
    lives. What other brokers lead has another cause.
    """
    blamed = blamed_steps(history, verdict)
    if blamed:
        return all(waits_for_leaders(history, step, set(_frozen(history, step.at_ns).values())) for step in blamed)
    return all_unmet(history, verdict, lambda event: _lacks_replicas_of(event, set(_frozen(history, event.at_ns))))


@kept
def _frozen(history: History, at_ns: int) -> Mapping[str, str]:
    """The partitions whose leaders refuse every change of the ISR themselves at a time, each with its leader."""
    dead = {event.node for event in history.of(ThreadDied) if "alter-partition" in str(event.data)}
    return {
        partition: node
        for node, log in logs_of(history, "broker")
        if node not in dead
        for taken_over_ns in [_taken_over_ns(history, node, at_ns)]
        if taken_over_ns is not None
        for partition in _refused(history, node, after_last(f"{_CHANNEL}Starting", log), taken_over_ns, at_ns)
    }


def _taken_over_ns(history: History, node: str, at_ns: int) -> int | None:
    """When KRaft took over from a ZooKeeper controller in the life that a broker had then; None: it was before."""
    starts = [each.at_ns for each in history.of(NodeStarted) if each.node == node and each.at_ns <= at_ns]
    first = {each.series: each.at_ns for each in reversed(list(kraft_claims(history)))}
    return next((each for each in first.values() if starts and starts[-1] <= each <= at_ns), None)


def _refused(history: History, node: str, log: str, taken_over_ns: int, at_ns: int) -> list[str]:
    """The partitions of one life of a broker that has asked no KRaft controller.

    Releases before 3.7 do not log what they refuse, nor which controller it was: then it is all that the broker leads.
    """
    asked = list(_CONTROLLER.finditer(log))
    if not asked or any(each["of"] == "KRaft" or each["role"] == "controller" for each in asked):
        return []
    counts, last = Counter[str](), set[str]()
    for change in _CHANGES.finditer(log):
        was_logged = partial(was_logged_between, history, change["line"], to_ns=at_ns, node=node)
        if change["updated"] and was_logged(taken_over_ns + _ANSWERED_NS):
            return []
        if not change["updated"] and was_logged(taken_over_ns):
            counts[change["partition"]] += 1
            last |= {change["partition"]} if was_logged(at_ns - _UNTIL_NS) else set()
    if asked[-1]["of"] is None:
        return _led_by(history, node)
    return [partition for partition, times in counts.items() if times >= _OFTEN and partition in last]


def _led_by(history: History, node: str) -> list[str]:
    images = [image for image in history.images.values() if image.source == "metadata-log"]
    led = images[-1].partitions.items() if images else ()
    return [key for key, value in led if f"broker-{value.get('leader')}" == node]


def _lacks_replicas_of(event: Recorded[ExpectationEnded], frozen: set[str]) -> bool:
    """Whether in-sync replicas by partition were expected of a topic, and those that lack one are all frozen."""
    lacking = lacking_members(event)
    topics = {partition.rpartition("-")[0] for partition in frozen}
    named = topics & set(re.findall(r"[\w.-]+", event.what.name))
    short = [number for number, members in enumerate(lacking or []) if members]
    return any(short and all(f"{topic}-{number}" in frozen for number in short) for topic in named)
