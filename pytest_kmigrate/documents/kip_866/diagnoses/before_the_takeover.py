"""KAFKA-16539, takeover-without-a-broker, kmigrate-27 and 29: what goes wrong before, and as, controllers take over."""

import re

from pytest_kmigrate.checkers.controllers.claims import Claim, kraft_claims
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.documents.kip_866.checks.copying.beginning import migration_begins_when_every_node_is_ready
from pytest_kmigrate.documents.kip_866.checks.copying.takeover import takeover_waits_for_every_broker
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import LACKED_BY
from pytest_kmigrate.documents.kip_866.checks.nodes.starts import start_at
from pytest_kmigrate.documents.kip_866.diagnoses.windows import since_the_takeover
from pytest_kmigrate.documents.kip_866.driver_log import COPY_BEGUN, COPY_ENDED, registered_for_migration
from pytest_kmigrate.documents.kip_866.expectations import (
    CONFIG_ACCEPTED,
    CONFIG_ANSWERED,
    WAITS_FOR_A_BROKER,
    WAITS_FOR_A_RELEASE,
)
from pytest_kmigrate.documents.kip_866.failed_steps import blamed_steps
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_NOT_FORWARDED = (
    "sent an `Envelope` request even though forwarding has not been enabled",  # by a controller without the flag
    "Unexpected broker id, expected ",  # by one with it, which takes the config for its own
)
_COUNT = "MigratingZkBrokerCount"
_TOPICS = "/brokers/topics"
_WITHOUT_A_BROKER = re.compile(rf"phase {Phase.PREPARING.name}: .*broker-\d+ (is down|is not registered)")
_AGAIN = 3
"""So often a copy begins that does not end; one that is disturbed once does so twice."""
_CLAIMED = "Successfully registered KRaft controller"
_SAMPLED_NS = 5_000_000_000
"""By then the controller that took over was asked for its metrics."""


@diagnosis("KAFKA-16539")
def config_was_forwarded_to_a_broker_that_takes_none(history: History, verdict: Verdict) -> bool:
    """A broker in migration mode hands its configs on to the controller, a broker that takes none of another one."""
    is_refused = any(said in log for _, log in logs_of(history, "broker") for said in _NOT_FORWARDED)
    return is_refused and all_unmet(history, verdict, lambda event: _is_config_refused(history, event))


@diagnosis("takeover-without-a-broker", windows=since_the_takeover)
def broker_that_is_down_had_registered(history: History, verdict: Verdict) -> bool:
    """The controllers ask which brokers have registered, and not which of them are up.

    At the take-over the active controller counted every broker as registered, with one that was down. Of a release
    without that metric: each that was down had come up in migration mode before, and the controller that took over
    had logged its registration.
    """
    is_about = verdict.is_of(takeover_waits_for_every_broker) or _are_brokers_alone(verdict)
    claim = _claim_of(history, verdict)
    if not is_about or claim is None:
        return False
    if history.header.kafka.startswith(LACKED_BY[_COUNT]):
        return _had_registered(history, claim)
    return len(_brokers(history)) in _counted(history, claim.at_ns)


@diagnosis("kmigrate-29", windows=since_the_takeover)
def brokers_without_partitions_are_not_waited_for(history: History, verdict: Verdict) -> bool:
    """The controllers took over while ZooKeeper had no topic: 3.4 waits for the brokers that hold partitions only."""
    claim = next(kraft_claims(history), None)
    if claim is None or _topics_at(history, claim.at_ns) != 0:
        return False
    if verdict.is_of(migration_begins_when_every_node_is_ready):
        not_ready = verdict.listed("not_ready")
        return bool(not_ready) and all(each.startswith("broker-") for each in not_ready)
    steps = blamed_steps(history, verdict)
    began_too_early = [bool(_WITHOUT_A_BROKER.match(each.what.reason)) for each in steps]
    return (
        verdict.is_of(takeover_waits_for_every_broker)
        or (bool(steps) and all(began_too_early) and steps[0].at_ns > claim.at_ns)
        or all_unmet(history, verdict, _is_of_a_phase_too_early)
    )


@diagnosis("kmigrate-27", windows=since_the_takeover)
def copy_ends_at_a_credential(history: History, verdict: Verdict) -> bool:
    """The copy begins again and again and never ends: ZooKeeper holds a credential, which is taken for a quota."""
    claim = next(kraft_claims(history), None)
    made = _credentials_at(history, claim.at_ns) if claim else set()
    copies = [log for _, log in logs_of(history, "controller") if log.count(COPY_BEGUN) >= _AGAIN]
    if claim is None or not made or not any(COPY_ENDED not in log for log in copies):
        return False
    steps = blamed_steps(history, verdict)
    waited = [f"last seen: phase {Phase.COPYING.name}" in each.what.reason for each in steps]
    are_late = all((each.at_ns or 0) >= claim.at_ns and " in all of " in each.observed for each in verdict.violations)
    return (bool(steps) and all(waited)) or (verdict.is_of(clients_are_told_of_brokers_only) and are_late)


def _credentials_at(history: History, at_ns: int) -> set[object]:
    """The SCRAM credentials that were there."""
    there = set[object]()
    for each in history.of(MetadataChanged):
        if each.at_ns <= at_ns and each.what.outcome == "ok":
            change, subject = each.what.change, each.what.subject
            there |= {subject} if change == "set-scram" else set()
            there -= {subject} if change == "remove-scram" else set()
    return there


def _topics_at(history: History, at_ns: int) -> int | None:
    """How many topics ZooKeeper had; None where it was not looked at."""
    seen = [each for each in history.znodes if each.path == _TOPICS and each.at_ns <= at_ns]
    return len(seen[-1].children) if seen else None


def _is_of_a_phase_too_early(event: Recorded[ExpectationEnded]) -> bool:
    expected, observed = event.what.expected, event.what.observed
    is_of_a_broker = any(each.is_of(event.what) for each in (WAITS_FOR_A_BROKER, WAITS_FOR_A_RELEASE))
    return is_of_a_broker and expected == Phase.PREPARING.name and observed in (Phase.COPYING.name, Phase.HYBRID.name)


def _claim_of(history: History, verdict: Verdict) -> Claim | None:
    """The claim of the take-over that a verdict is about: the nearest, as a migration that was undone has another."""
    at_ns = next((each.at_ns for each in verdict.violations if each.at_ns is not None), 0)
    return min(kraft_claims(history), key=lambda each: abs(each.at_ns - at_ns), default=None)


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
    registered = registered_for_migration(before)
    return bool(down and claimed) and were_ready and all(each.node_id in registered for each in down)


def _are_brokers_alone(verdict: Verdict) -> bool:
    """Whether all that was not ready at a take-over is brokers, and those are down."""
    not_ready = verdict.listed("not_ready") if verdict.is_of(migration_begins_when_every_node_is_ready) else []
    are_down = all("had been down for" in each.observed for each in verdict.violations)
    return bool(not_ready) and are_down and all(each.startswith("broker-") for each in not_ready)


def _is_config_refused(history: History, event: Recorded[ExpectationEnded]) -> bool:
    """Refused while the controllers wait, or before there are any, by a broker that has the flag already."""
    is_about = any(each.is_of(event.what) for each in (CONFIG_ACCEPTED, CONFIG_ANSWERED))
    starts = [start_at(history, node, event.at_ns) for node in _brokers(history)]
    has_flag = any(each is not None and each.is_migrating for each in starts)
    phase = phase_at(history, event.at_ns)
    return (
        is_about
        and event.what.expected == "NONE"
        and (phase == Phase.PREPARING.name or (phase == Phase.ZOOKEEPER.name and has_flag))
    )
