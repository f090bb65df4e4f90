"""Facts about notifications of changed configs that no broker can read."""

import json
from collections.abc import Sequence

import pytest

from pytest_kmigrate.model.history import Transaction, Write
from tests.unit.checkers.histories import MS, history
from tests.unit.documents.kip_866.diagnoses.naming import named_of_expectations, unmet


def notification(at_ms: int, names: str) -> Transaction:
    """A znode is made that names what has changed."""
    text = json.dumps({"version": 2, "entity_path": names})
    return Transaction(at_ms * MS, at_ms, 1, (Write("create", "/config/changes/config_change_0000000001", text, 0),))


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
        ([notification(37_000, READABLE), notification(39_000, WRITTEN)], LEARNS, "3.7.0", ("KAFKA-16428",)),
        ([notification(39_000, WRITTEN)], OTHER, "3.7.0", ()),
    ],
    ids=[
        "unreadable",
        "mended",
        "none",
        "later",
        "long before",
        "readable",
        "a readable one after it",
        "a readable one of a change before it",
        "another requirement",
    ],
)
def test_a_notification_with_an_option_is_named(
    seen: Sequence[Transaction], claimed: str, kafka: str, bugs: tuple[str, ...]
) -> None:
    """It is the last while the test waited; a readable one that is not acted on is another defect."""
    missed = unmet(60_000, "x", expected="2", observed="1", requirements=[claimed])
    assert named_of_expectations(history(events=[missed], transactions=seen, kafka=kafka)) == bugs
