"""The code that documents list: each entry by the requirements that it carries out."""

import pytest

from pytest_kmigrate.catalogue import profiles, requirements
from pytest_kmigrate.catalogue.code import Code, code_of, is_listed
from pytest_kmigrate.reports.generated.traced import traced
from pytest_kmigrate.reports.generated.unexecuted import reasons

LISTED = [profile for profile in profiles() if code_of(profile)]
ENTRIES = (
    Code("org.acme.Log*", "the log", ("K500-QRM-durability",), (">=3.3.0",), without=("*.LogMetrics*", "*.Log.count*")),
    Code("org.acme.Server*", "its start", ("K500-ST-online",), (">=3.3.0",), only=("org.acme.Server.start*",)),
)


@pytest.mark.parametrize(
    ("class_name", "method", "listed"),
    [
        ("org.acme.Log", "append", True),
        ("org.acme.Log$Batch", "count", True),
        ("org.acme.Log", "countBatches", False),
        ("org.acme.LogMetrics", "append", False),
        ("org.acme.Server", "startup", True),
        ("org.acme.Server", "stop", False),
        ("org.acme.Server$Event", "start", False),
        ("org.acme.Other", "start", False),
    ],
)
def test_a_class_is_listed_without_some_or_with_a_few_of_its_methods(
    class_name: str, method: str, listed: bool
) -> None:
    """What one entry leaves out another one may have."""
    assert is_listed(class_name, method, ENTRIES) is listed
    assert is_listed(class_name, method, (*ENTRIES, Code("org.acme.*", "all", (), (">=3.3.0",))))


def test_all_documents_of_kafka_without_zookeeper_or_on_the_way_there_list_code() -> None:
    """KIP-125 has no code of Kafka."""
    assert LISTED == ["kip-500", "kip-778", "kip-866"]


@pytest.mark.parametrize("profile", LISTED)
def test_each_entry_names_requirements_that_runs_judge(profile: str) -> None:
    """A class that no requirement is about is not listed."""
    judged = {each.id for each in requirements(profile) if each.untestable is None}
    assert {each.id: set(each.requirements) - judged for each in code_of(profile)} == {
        each.id: set() for each in code_of(profile)
    }
    assert all(each.requirements for each in code_of(profile))


@pytest.mark.parametrize("profile", LISTED)
def test_what_is_said_of_code_is_said_of_code_that_is_listed(profile: str) -> None:
    """Patterns cannot be compared without classes, but what stands before their first star can."""
    listed = [_stem(each.id) for each in code_of(profile)]
    rows = [each.id for each in (*traced(profile), *reasons(profile))]
    assert [each for each in rows if not any(_may_meet(_stem(each), stem) for stem in listed)] == []
    parts = {each.id: (*each.only, *each.without) for each in code_of(profile)}
    assert [part for of, each in parts.items() for part in each if not _may_meet(_stem(part), _stem(of))] == []


def _stem(pattern: str) -> str:
    return pattern.partition("*")[0].partition("[")[0]


def _may_meet(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
