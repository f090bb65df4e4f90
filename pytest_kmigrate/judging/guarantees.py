"""What Kafka's clients rely on, as checks that a test asks for together."""

from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.checks import Check

A_SESSION_AND_TWO_ELECTIONS_S = 60
"""So long clients may be without an answer on a busy machine, or while a session of their group ends."""


def to_clients(at_most_s: float = A_SESSION_AND_TWO_ELECTIONS_S) -> tuple[Check, ...]:
    """Every guarantee to clients; ``at_most_s`` bounds how long nothing is acknowledged, and nothing consumed."""
    return (
        checks.no_acked_record_lost(),
        checks.no_phantom_record(),
        checks.order_kept_per_partition(),
        checks.no_duplicate_from_idempotent_producer(),
        checks.no_offset_given_twice(),
        checks.consumer_positions_never_run_backwards(),
        checks.committed_offsets_never_run_backwards(),
        checks.no_record_passed_over(),
        checks.longest_time_without_acked_write(at_most_s=at_most_s),
        checks.longest_time_without_consumption(at_most_s=at_most_s),
    )
