"""Check of the numbers by which the metadata log records the states of a migration."""

from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.log_images import LogImage, has_log_images, log_images
from pytest_kmigrate.documents.kip_866.phases import DOCUMENTED_NUMBERS, ZkMigrationState
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


@checker("K866-REC-state-values", in_every_run=has_log_images, needs=[Capability.METADATA_LOG])
def recorded_states_have_their_documented_numbers(history: History) -> Verdict:
    """Each state in the metadata log is recorded by the number that KIP-866 gives it.

    The name of a state is what the release means by the number.
    """
    first_seen = {
        (log.life, each.offset): (log, each.state, each.number)
        for log in reversed(log_images(history))
        for each in log.states
        if each.offset > log.inherited_until
    }
    reported = [each for each in first_seen.values() if each[1] is not ZkMigrationState.NONE]
    wrong = [each for each in reported if each[1] is None or each[2] != DOCUMENTED_NUMBERS.get(each[1])]
    if wrong:
        found = [_violation(history, *each) for each in wrong]
        # Who reads the log by the document misunderstands it; no metadata is at stake, which is what SAFETY says.
        return violates(
            Kind.LIVENESS, found, numbers={state.value if state else "": number for _, state, number in wrong}
        )
    if not reported:
        return inconclusive(Kind.VACUOUS, "no image of a metadata log holds a state of a migration")
    return conforms(f"{counted(len(reported), 'state')} recorded by the documented numbers")


def _violation(history: History, log: LogImage, state: ZkMigrationState | None, number: int) -> Violation:
    named = state.value if state else "an unknown state"
    expected = (
        f"{named} is recorded as {DOCUMENTED_NUMBERS[state]}" if state in DOCUMENTED_NUMBERS else "a state of 0 to 3"
    )
    observed = f"{number} was recorded"
    return timed_violation(history, expected, observed, log.ended_ns, log.file)
