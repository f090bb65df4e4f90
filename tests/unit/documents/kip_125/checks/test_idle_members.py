"""A member that does nothing: checks of what members do can decide nothing."""

import pytest

from pytest_kmigrate.documents.kip_125.checks.coordination.ends import members_end_only_when_asked
from pytest_kmigrate.documents.kip_125.checks.coordination.gauges import gauges_show_what_members_do
from pytest_kmigrate.documents.kip_125.checks.coordination.listener import listeners_get_what_kafka_assigns
from pytest_kmigrate.documents.kip_125.checks.coordination.mode import mode_agreed_within
from pytest_kmigrate.documents.kip_125.checks.ownership.coverage import every_partition_owned_within, pauses_are_bounded
from pytest_kmigrate.documents.kip_125.checks.ownership.one_owner import naive_mix_is_detected
from pytest_kmigrate.documents.kip_125.checks.znodes.layout import (
    members_write_only_their_places,
    owners_and_offsets_are_as_before,
)
from pytest_kmigrate.documents.kip_125.checks.znodes.registration import (
    ids_payload_is_version_1,
    members_deregister_together,
    members_register_as_their_kind,
)
from pytest_kmigrate.model.checks import AnyChecker
from tests.unit.checkers.histories import history
from tests.unit.documents.kip_125.groups import member, worked_until


@pytest.mark.parametrize(
    ("check", "lacking"),
    [
        (members_end_only_when_asked, "no member ended"),
        (gauges_show_what_members_do, "no member with migration reported gauges"),
        (listeners_get_what_kafka_assigns, "no listener was called while Kafka decided"),
        (mode_agreed_within, "the mode never changed while members could follow it"),
        (every_partition_owned_within, "no partition ever had an owner, or no bound was given"),
        (pauses_are_bounded, "no partition ever had an owner"),
        (naive_mix_is_detected, "no such group"),
        (members_write_only_their_places, "no member with migration wrote to ZooKeeper"),
        (owners_and_offsets_are_as_before, "no member owned a partition"),
        (members_register_as_their_kind, "no member registered"),
        (members_deregister_together, "no member with migration left by itself"),
        (ids_payload_is_version_1, "no member registered"),
    ],
    ids=lambda each: each.name if not isinstance(each, str) else "",
)
def test_a_member_that_did_nothing_shows_nothing(check: AnyChecker, lacking: str) -> None:
    """Vacuous: it was constructed, and for a minute nothing happened."""
    verdict = check.judge(history(events=[member(1), worked_until(60_000)]))
    assert verdict.is_vacuous
    assert verdict.summary == lacking
