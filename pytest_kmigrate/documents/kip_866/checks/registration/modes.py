"""Check of registrations: each broker is registered with the mode that it runs in, and changes it by a restart only."""

from itertools import pairwise

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.broker_modes import BrokerAt, brokers_at
from pytest_kmigrate.documents.kip_866.checks.log_images import LogImage, has_log_images, log_images
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.model.verdict import Verdict, Violation

_REGISTERS, _SAME_ID = "K866-REG-zk-broker-registers", "K866-REG-kraft-same-id-after-stop"
_NO_SWITCH = "K866-NG-dynamic-switch"
_REGISTERED_NS = 10_000_000_000
"""By then a broker in ZooKeeper mode that is ready has registered with the controllers, too."""


@checker(
    _REGISTERS,
    _SAME_ID,
    _NO_SWITCH,
    in_every_run=has_log_images,
    anomaly="registered in another mode",
    needs=[Capability.METADATA_LOG],
)
def brokers_register_with_their_mode(history: History) -> Verdict:
    """Each broker in migration mode is registered as such, and each in KRaft mode is not, under the id it had before.

    Judged by the registrations in each image of the metadata log, of brokers that were ready and are up. One that is
    missing under a fault is not judged. Between two images of one log a broker that was not started anew keeps its
    mode.
    """
    rows = ByRequirement(_REGISTERS, _SAME_ID, _NO_SWITCH)
    images = log_images(history)
    for log in images:
        for broker in brokers_at(history, log.began_ns):
            if broker.away_ns is None and broker.ready_ns is not None:
                _judge(history, rows, log, broker)
    for before, after in pairwise(images):
        if before.life == after.life:
            _judge_switch(history, rows, before, after)
    text = f"{counted(len(images), 'image')} of the metadata log, each broker registered in the mode it runs in"
    return rows.verdict(text, "no image of a metadata log shows a broker that was up")


def _judge(history: History, rows: ByRequirement, log: LogImage, broker: BrokerAt) -> None:
    registered = log.registered.get(broker.node_id)
    if registered is None and faults_during(history, broker.ready_ns or 0, log.began_ns):
        return  # a fault may have kept it from the controllers since it was ready
    if broker.is_migrating and log.began_ns - (broker.ready_ns or 0) >= _REGISTERED_NS:
        if registered is True:
            rows.looked_at(_REGISTERS)
        else:
            expected = f"{broker.name} is registered as a broker in migration mode"
            rows.violated(_REGISTERS, _violation(history, log, expected, _told(registered)))
    elif broker.mode == "kraft" and _ran_in_zookeeper_mode(history, broker):
        if registered is False:
            rows.looked_at(_SAME_ID)
        else:
            expected = f"{broker.name} is registered as a broker in KRaft mode"
            rows.violated(_SAME_ID, _violation(history, log, expected, _told(registered)))


def _judge_switch(history: History, rows: ByRequirement, before: LogImage, after: LogImage) -> None:
    for broker_id in before.registered.keys() & after.registered.keys():
        name = f"broker-{broker_id}"
        started = [e for e in history.of(NodeStarted) if e.node == name and e.at_ns <= after.ended_ns]
        # One that was started shortly before the former image may have registered since.
        if any(each.at_ns > before.began_ns - _REGISTERED_NS for each in started):
            continue
        if before.registered[broker_id] == after.registered[broker_id]:
            rows.looked_at(_NO_SWITCH)
        else:
            expected = f"{name}, which was not restarted, stays in its mode"
            rows.violated(_NO_SWITCH, _violation(history, after, expected, _told(after.registered[broker_id])))


def _ran_in_zookeeper_mode(history: History, broker: BrokerAt) -> bool:
    started = [e for e in history.of(NodeStarted) if e.node == broker.name and e.at_ns < broker.started_ns]
    return any(each.what.mode is BrokerMode.ZOOKEEPER for each in started)


def _told(registered: bool | None) -> str:
    if registered is None:
        return "it is not registered"
    return f"it is registered as one in {'migration' if registered else 'KRaft'} mode"


def _violation(history: History, log: LogImage, expected: str, observed: str) -> Violation:
    return timed_violation(history, expected, observed, log.ended_ns, log.file)
