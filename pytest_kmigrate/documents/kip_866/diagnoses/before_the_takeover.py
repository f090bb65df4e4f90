"""KAFKA-16539 and takeover-without-a-broker: what goes wrong before the KRaft controllers take over."""

import re

from pytest_kmigrate.checkers.controllers.claims import Claim, kraft_claims
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.expectations import all_unmet
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import LACKED_BY
from pytest_kmigrate.documents.kip_866.checks.nodes.starts import start_at
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_NOT_FORWARDED = (
    "sent an `Envelope` request even though forwarding has not been enabled",  # by a controller without the flag
    "Unexpected broker id, expected ",  # by one with it, which takes the config for its own
)
_COUNT = "MigratingZkBrokerCount"
_REGISTERED = re.compile(r"Registered new broker: RegisterBrokerRecord\(brokerId=(\d+), isMigratingZkBroker=true")
_CLAIMED = "Successfully registered KRaft controller"
_SAMPLED_NS = 5_000_000_000
"""By then the controller that took over was asked for its metrics."""


@diagnosis("KAFKA-16539")
def config_was_forwarded_to_a_broker_that_takes_none(history: History, verdict: Verdict) -> bool:
    """A broker in migration mode hands its configs on to the controller, a broker that takes none of another one."""
    is_refused = any(said in log for _, log in logs_of(history, "broker") for said in _NOT_FORWARDED)
    return is_refused and all_unmet(history, verdict, lambda event: _is_config_refused(history, event))


@diagnosis("takeover-without-a-broker")
def broker_that_is_down_had_registered(history: History, verdict: Verdict) -> bool:
    """The controllers ask which brokers have registered, and not which of them are up.

    At the take-over the active controller counted every broker as registered, with one that was down. Of a release
    without that metric: each that was down had come up in migration mode before, and the controller that took over
    had logged its registration.
    """
    is_about = verdict.check == "takeover_waits_for_every_broker" or _are_brokers_alone(verdict)
    claim = next(kraft_claims(history), None)
    if not is_about or claim is None:
        return False
    if history.header.kafka.startswith(LACKED_BY[_COUNT]):
        return _had_registered(history, claim)
    return len(_brokers(history)) in _counted(history, claim.at_ns)


def _brokers(history: History) -> list[str]:
    return [node for node, role in roles(history).items() if role == "broker"]


def _counted(history: History, claimed_ns: int) -> list[float | None]:
    """How many brokers the active controller counted as registered around a claim."""
    return [
        sample.values.get(_COUNT)
        for sample in history.samples
        if claimed_ns - _SAMPLED_NS <= sample.at_ns <= claimed_ns + _SAMPLED_NS
        and sample.values.get("ActiveControllerCount") == 1
        and roles(history).get(sample.node) == "controller"
    ]


def _had_registered(history: History, claim: Claim) -> bool:
    """Whether the brokers that were down at a claim had been ready for the migration, and were registered for it."""
    down = [each for each in brokers_at(history, claim.at_ns) if each.away_ns is not None]
    were_ready = all(each.is_migrating and each.ready_ns is not None for each in down)
    before, claimed, _ = log_of(history, f"controller-{claim.controller}").partition(_CLAIMED)
    registered = set(_REGISTERED.findall(before))
    return bool(down and claimed) and were_ready and all(each.node_id in registered for each in down)


def _are_brokers_alone(verdict: Verdict) -> bool:
    """Whether all that was not ready at a take-over is brokers, and those are down."""
    not_ready = verdict.listed("not_ready") if verdict.check == "migration_begins_when_every_node_is_ready" else []
    are_down = all("had been down for" in each.observed for each in verdict.violations)
    return bool(not_ready) and are_down and all(each.startswith("broker-") for each in not_ready)


def _is_config_refused(history: History, event: Event) -> bool:
    """Refused while the controllers wait, or before there are any, by a broker that has the flag already."""
    is_answer = event.data.get("expected") == "NONE" and "config" in str(event.data.get("name"))
    starts = [start_at(history, node, event.at_ns) for node in _brokers(history)]
    has_flag = any(each is not None and each.is_migrating for each in starts)
    phase = phase_at(history, event.at_ns)
    return is_answer and (phase == Phase.PREPARING.name or (phase == Phase.ZOOKEEPER.name and has_flag))
