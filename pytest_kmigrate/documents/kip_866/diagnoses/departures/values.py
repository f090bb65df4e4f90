"""Departures by a value: each has the very value that Kafka is known for, and no other."""

from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_OF_ZOOKEEPER = 4.0
"""The number that Kafka has for the side of ZooKeeper, which is no state of a migration."""


@diagnosis("zookeeper-brokers-report-a-state")
def brokers_report_the_number_of_zookeeper(_: History, verdict: Verdict) -> bool:
    """All that brokers in ZooKeeper mode report as the state is 4."""
    is_about = verdict.check == "zookeeper_brokers_report_no_migration_state"
    return is_about and verdict.facts.get("numbers") == [_OF_ZOOKEEPER]


@diagnosis("fenced-brokers-counted-as-ready")
def registrations_are_counted(_: History, verdict: Verdict) -> bool:
    """The count is never above that of the brokers which registered: those that are away are counted, and no others."""
    return verdict.check == "only_live_brokers_count_as_ready" and verdict.facts.get("are_registrations") is True


@diagnosis("takeover-without-a-controller")
def controllers_were_down(_: History, verdict: Verdict) -> bool:
    """All that was not ready at the take-over is controllers, of which a majority was up: they elected the leader."""
    is_about = verdict.check == "migration_begins_when_every_node_is_ready"
    not_ready = verdict.listed("not_ready") if is_about else []
    return bool(not_ready) and all(each.startswith("controller-") for each in not_ready)
