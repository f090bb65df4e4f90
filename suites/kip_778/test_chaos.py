"""KIP-778 under schedules of faults that were drawn, and not thought of: each is a line of a file."""

import pytest

from pytest_kmigrate import checks


@pytest.mark.nightly
@pytest.mark.since("3.9.0")
@pytest.mark.requirement("K778-UPG-mixed-software")
@pytest.mark.schedules("schedules.jsonl")
def test_schedule(schedule, carry_out, verify):
    """Whatever happens while releases are mixed, clients lose nothing, and the upgrade comes to its end."""
    asked = carry_out(schedule)
    verify(checks.one_quorum_leader_per_epoch(), *asked)
