"""Facts about names in braces in users' files."""

import pytest

from pytest_kmigrate.topology.braces import filled, only


def test_each_name_gets_its_value() -> None:
    """What has no value stays."""
    assert filled("{host}:{port}/{other}, {host}", {"host": "b1", "port": "9092"}) == "b1:9092/{other}, b1"


def test_another_name_in_braces_is_a_mistake() -> None:
    """The mistake says which there are."""
    only(["{host}", "plain"], ("host", "id"))
    with pytest.raises(ValueError, match=r"expected none but \{host\}, \{id\} in braces, found \{hots\}"):
        only(["{host}", "{hots}"], ("host", "id"))
