"""kmigrate-4: the take-over closes a broker's connection to the controller with an AlterPartition under way."""

import re
from collections import Counter

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.evidence.expectations import lacking_members
from pytest_kmigrate.checkers.evidence.logs import after_last, logs_of
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.failed_steps import blamed_steps
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import ThreadDied
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Verdict
from pytest_kmigrate.procedures.moves import BACK_IN_SYNC

_CHANNEL = (
    r"\[(?:zk-broker-\d+-to-controller-alter-partition-channel-manager"
    r"|BrokerToControllerChannelManager broker=\d+ name=alterPartition)\]: "
)
"""As it is named from 3.5 on, and by 3.4."""
_CONTROLLER = re.compile(
    _CHANNEL + r"Recorded new (?:(?P<of>ZK|KRaft) )?controller, from now on will use node (?P<role>\w+)-"
)
_REFUSED = re.compile(r"\[Partition (\S+) broker=\d+\] Failed to alter partition .*OPERATION_NOT_ATTEMPTED")
_OFTEN = 100  # a broker whose request is under way refuses a few; one that waits for ever refuses 15 each second


@diagnosis("kmigrate-4", windows=since_the_takeover)
def alter_partition_was_lost_at_the_takeover(history: History, verdict: Verdict) -> bool:
    """A broker in ZooKeeper mode refuses every change of an ISR itself, and asked no KRaft controller for any.

    Its channel for AlterPartition never had a KRaft controller, though one had taken over, and its thread lives.
    """
    frozen = _frozen(history)
    if not frozen:
        return False
    blamed = blamed_steps(history, verdict)
    if blamed:
        return all(BACK_IN_SYNC in step.what.reason for step in blamed)
    return all_unmet(history, verdict, lambda event: _lacks_replicas_of(event, frozen))


@kept
def _frozen(history: History) -> set[str]:
    """The partitions whose leaders refuse every change of the ISR themselves."""
    dead = {event.node for event in history.of(ThreadDied) if "alter-partition" in str(event.data)}
    taken_over = any(True for _ in kraft_claims(history))
    return {
        partition
        for node, log in logs_of(history, "broker")
        if taken_over and node not in dead
        for partition in _refused(history, node, after_last(f"{_CHANNEL}Starting", log))
    }


def _refused(history: History, node: str, log: str) -> list[str]:
    """The partitions of one life of a broker that has asked no KRaft controller.

    Releases before 3.7 do not log what they refuse, nor which controller it was: then it is all that the broker leads.
    """
    asked = list(_CONTROLLER.finditer(log))
    if not asked or asked[-1]["of"] == "KRaft" or asked[-1]["role"] == "controller":
        return []
    if asked[-1]["of"] is None:
        return _led_by(history, node)
    return [partition for partition, times in Counter(_REFUSED.findall(log)).items() if times >= _OFTEN]


def _led_by(history: History, node: str) -> list[str]:
    images = [image for image in history.images.values() if image.source == "metadata-log"]
    led = images[-1].partitions.items() if images else ()
    return [key for key, value in led if f"broker-{value.get('leader')}" == node]


def _lacks_replicas_of(event: Recorded[ExpectationEnded], frozen: set[str]) -> bool:
    """Whether in-sync replicas by partition were expected of a topic, and those that lack one are all frozen."""
    lacking = lacking_members(event)
    topics = {partition.rpartition("-")[0] for partition in frozen}
    named = [topic for topic in topics if re.search(rf"\b{re.escape(topic)}\b", event.what.name)]
    short = [number for number, members in enumerate(lacking or []) if members]
    return any(short and all(f"{topic}-{number}" in frozen for number in short) for topic in named)
