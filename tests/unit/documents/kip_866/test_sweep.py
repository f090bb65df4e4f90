"""The places where the active controller may die: derived from what it does, and a few that stand for all."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.documents.kip_866 import sweep
from pytest_kmigrate.documents.kip_866.sweep import COPIED, TAKEOVER, WRITES, Written
from pytest_kmigrate.faults.triggers import Trigger
from pytest_kmigrate.model.capabilities import Capability


def test_every_write_is_met_before_it_and_after_it() -> None:
    """Of each kind there are two places in the code."""
    names = [str(each) for each in (*TAKEOVER, COPIED, *WRITES)]
    before = {each.removesuffix("-not-written)") for each in names if each.endswith("-not-written)")}
    after = {each.removesuffix("-written)") for each in names if each.endswith("-written)")} - {
        f"{each}-not" for each in before
    }
    assert before == after
    assert len(before) == 13


@pytest.mark.parametrize(("places", "count"), [(TAKEOVER, 3), (WRITES, 4)], ids=["take-over", "dual write"])
def test_each_place_is_visited_often_or_seldom(places: Sequence[Trigger | Written], count: int) -> None:
    """Few of each kind stand for all others; each has a name of its own."""
    often, seldom = sweep.often(places), sweep.seldom(places)
    assert len(often) == count
    assert sorted(map(str, [*often, *seldom])) == sorted(set(map(str, places)))


def test_where_no_rule_can_be_loaded_changes_of_znodes_are_places() -> None:
    """At the take-over and in dual write."""
    seen = [each for each in TAKEOVER if Capability.CRASH_POINTS not in each.needs]
    written = [each for each in WRITES if Capability.CRASH_POINTS not in each.at.needs]
    assert (len(seen), len(written)) == (2, 3)


def test_changes_are_of_things_that_no_other_place_changes() -> None:
    """The tests share a cluster."""
    assert len({each.change.subject for each in WRITES}) == len(WRITES)
