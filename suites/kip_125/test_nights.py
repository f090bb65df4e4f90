"""Many members and many orders: the suite visits a few, ``--kmigrate-nightly`` all."""

import itertools
import os

import pytest

from pytest_kmigrate import Kill, checks, targets
from pytest_kmigrate.documents.kip_125.kinds import ROUND_ROBIN, SESSION_S, WITH, WITHOUT
from pytest_kmigrate.documents.kip_125.schedules import happenings

pytestmark = pytest.mark.topology("zk1-broker1")

NIGHTLY = pytest.mark.nightly
ORDERS = [
    pytest.param(each, marks=() if number in (0, 23) else NIGHTLY)
    for number, each in enumerate(itertools.permutations(("join", "leave", "toggle", "older-leaves")))
]
MEMBERS, PARTITIONS, PER_S = map(int, os.environ.get("KMIGRATE_LARGE_GROUP", "12x60x5000").split("x"))

TOGETHER_S = SESSION_S + 5


@pytest.mark.requirement("K125-FAIL-toggle-during-rebalance", "K125-OWN-exactly-one", "K125-OWN-full-coverage")
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_members_join_and_leave_in_any_order(order, group, verify_group):
    """One joins, one leaves, the last older one leaves and the mode is toggled, none of which waits for the other."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    (older,) = group.join(WITHOUT)
    group.await_owned([*members, older])
    happening = happenings(group, members[0], older)
    for each in order:
        happening[each]()
        group.flow(50)
    members[0].await_ended()
    older.await_ended()
    group.await_owned(group.alive(WITH))
    group.await_followed("kafka")
    group.flow(500)

    verify_group(checks.pauses_are_bounded(), owned_within_s=TOGETHER_S)


@NIGHTLY
@pytest.mark.requirement("K125-OWN-exactly-one", "K125-OWN-full-coverage", "K125-AVL-no-downtime-toggle")
def test_a_large_group_is_toggled_grows_and_loses_a_member(group_of, inject, verify_group):
    """Twelve members, sixty partitions, 5,000 records a second: the same bounds as for a small one."""
    group = group_of(PARTITIONS, PER_S)
    members = group.join(WITH, MEMBERS, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(MEMBERS)
    group.flow(2 * PER_S)
    for mode in ("kafka", "zookeeper") * 2:
        group.toggle(mode)
        group.flow(2 * PER_S)
    (late,) = group.join(WITH, **ROUND_ROBIN)
    group.await_owned([late])
    group.flow(2 * PER_S)
    late.stop()
    group.await_owned(members)
    group.flow(2 * PER_S)
    with inject(Kill(targets.member("MEZKCC-2"))):
        group.await_owned()
        group.flow(PER_S)
    group.await_owned(members)
    group.flow(2 * PER_S)

    verify_group(checks.pauses_are_bounded(), owned_within_s=TOGETHER_S)
