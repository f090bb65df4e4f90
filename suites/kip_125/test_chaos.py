"""KIP-125 under schedules of acts that were drawn, and not thought of: each is a line of a file."""

import pytest

from pytest_kmigrate import checks
from pytest_kmigrate.documents.kip_125.kinds import ROUND_ROBIN, SESSION_S, WITH


@pytest.mark.requirement("K125-OWN-exactly-one", "K125-OWN-full-coverage", "K125-OFF-handover-forward")
@pytest.mark.schedules("schedules.jsonl", usually=1)
def test_schedule(schedule, group, acts, verify_group):
    """Toggles, joins, leaves, crashes, standstills and cut links follow each other; nothing is lost or shared."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    acts.carry_out(schedule)

    verify_group(checks.pauses_are_bounded(), owned_within_s=SESSION_S + 5)
