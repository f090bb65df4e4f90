"""Check of registrations as a stub controller receives them: ZkMigrationReady is 1, and one level is supported."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.workloads import RegistrationReceived
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_ROW, _FIELD, _FEATURE, _READY = "K866D-REG-features", "ZkMigrationReady", "metadata.version", 1


@checker(
    _ROW,
    in_every_run=lambda history: bool(history.of(RegistrationReceived)),
    anomaly="registration unlike the draft",
)
def registrations_are_those_of_the_draft(history: History) -> Verdict:
    """A broker registers in version 1 with the tagged ZkMigrationReady, 1, and one level of metadata.version."""
    rows = ByRequirement(_ROW)
    received = history.of(RegistrationReceived)
    for event in received:
        wrong = list(_wrong(event))
        rows.looked_at(_ROW, int(not wrong))
        for observed in wrong:
            expected = f"{_FIELD} is {_READY}, and one level of {_FEATURE} is supported"
            rows.violated(_ROW, timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}"))
    text = f"{counted(len(received), 'registration')} received, each as the draft has it"
    return rows.verdict(text, "no stub controller received a registration")


def _wrong(event: Recorded[RegistrationReceived]) -> Sequence[str]:
    broker, ready, flag = event.what.broker, event.what.readiness, event.what.is_migrating
    level = event.what.levels.get(_FEATURE)
    found = []
    if ready != _READY:
        sent = f"isMigratingZkBroker {str(flag).lower()}" if flag is not None else f"{_FIELD} {ready}"
        found.append(f"broker-{broker} sends {sent}")
    if level is None or level[0] != level[1]:
        found.append(f"broker-{broker} supports {_FEATURE} {level}")
    return found
