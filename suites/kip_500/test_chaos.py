"""KIP-500 under schedules of faults that were drawn, and not thought of: each is a line of a file."""

import pytest

from pytest_kmigrate import checks


@pytest.mark.nightly
@pytest.mark.requirement("K500-QRM-durability", "K500-LOG-single-order", "K500-QRM-followers-replicate")
@pytest.mark.schedules("schedules.jsonl")
def test_schedule(schedule, carry_out, verify):
    """Whatever happens, clients lose nothing, and controllers keep one log with all that was committed."""
    asked = carry_out(schedule)
    verify(
        checks.one_quorum_leader_per_epoch(),
        checks.one_metadata_log(),
        checks.committed_metadata_is_kept(),
        checks.one_leader_per_epoch_in_the_logs(),
        *asked,
    )
