"""Facts about notifications of changed configs that no broker can read."""

import json
from collections.abc import Sequence

import pytest

from pytest_kmigrate.model.history import ZnodeChange
from tests.unit.checkers.histories import history, znode
from tests.unit.documents.kip_866.diagnoses.naming import named_of_expectations, unmet


def notification(at_ms: int, names: str) -> ZnodeChange:
    """A znode that names what has changed."""
    return znode(at_ms, "/config/changes/config_change_0000000001", json.dumps({"version": 2, "entity_path": names}))


WRITTEN, READABLE = "Some(brokers)/1", "brokers/1"
LEARNS, OTHER = "K866-DW-watch-acl", "K866-DW-broker-config"


@pytest.mark.parametrize(
    ("seen", "claimed", "kafka", "bugs"),
    [
        ([notification(39_000, WRITTEN)], LEARNS, "3.7.0", ("KAFKA-16428",)),
        ([notification(39_000, WRITTEN)], LEARNS, "3.7.1", ()),
        ([], LEARNS, "3.7.0", ()),
        ([notification(61_000, WRITTEN)], LEARNS, "3.7.0", ()),
        ([notification(20_000, WRITTEN)], LEARNS, "3.7.0", ()),
        ([notification(39_000, READABLE)], LEARNS, "3.7.0", ()),
        ([notification(39_000, WRITTEN), notification(41_000, READABLE)], LEARNS, "3.7.0", ()),
        ([notification(39_000, WRITTEN)], OTHER, "3.7.0", ()),
    ],
    ids=[
        "unreadable",
        "mended",
        "none",
        "later",
        "long before",
        "readable",
        "a readable one, too",
        "another requirement",
    ],
)
def test_a_notification_with_an_option_is_named(
    seen: Sequence[ZnodeChange], claimed: str, kafka: str, bugs: tuple[str, ...]
) -> None:
    """It was seen while the test waited; a readable one that is not acted on is another defect."""
    missed = unmet(60_000, "x", expected="2", observed="1", requirements=[claimed])
    assert named_of_expectations(history(events=[missed], znodes=seen, kafka=kafka)) == bugs
