"""KIP-866 under schedules of faults that were drawn, and not thought of: each is a line of a file."""

import pytest


@pytest.mark.nightly
@pytest.mark.requirement("K866-DW-full-parity")
@pytest.mark.schedules("schedules.jsonl")
def test_schedule(schedule, carry_out, verify):
    """Whatever happens on the way, clients lose nothing, and both sides come to hold the same metadata."""
    verify(*carry_out(schedule))
