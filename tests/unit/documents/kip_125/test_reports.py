"""Facts about what is awaited of Kafka's group."""

import pytest

from pytest_kmigrate.documents.kip_125.kinds import BYSTANDER, NAME
from pytest_kmigrate.documents.kip_125.reports import has_formed
from pytest_kmigrate.model.events.members import GroupDescribed

OWN = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("members", "state", "formed"),
    [
        (["a", "b"], "STABLE", True),
        (["a"], "STABLE", False),
        (["a", "b"], "PREPARING_REBALANCE", False),
        (["a", "b", "c"], "STABLE", False),
        (["a", "b", BYSTANDER], "STABLE", False),
        (["a", "b", "a-2"], "STABLE", True),
        (["a", "a-2"], "STABLE", False),
    ],
    ids=["both", "one lacks", "not stable", "one is to leave", "a bystander", "a stranger, too", "a stranger instead"],
)
def test_a_group_has_formed_with_the_members_that_were_started(members: list[str], state: str, *, formed: bool) -> None:
    """A member that no test started is judged by the checks; waited for to leave, it ended the test instead."""
    described = GroupDescribed(NAME, state, "range", {each: [] for each in members}, 0)
    assert has_formed(described, 2, OWN) is formed
