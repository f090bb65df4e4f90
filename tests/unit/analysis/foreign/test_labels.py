"""Labels: conditions of other tools' results that a user names."""

import pytest

from pytest_kmigrate.analysis.foreign.labels import labelled, labels_of, require_found
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.redaction import HIDDEN


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("property:os.name", "Linux"),
        ("property:os", ""),
        ("hostname", "ci-7"),
        ("folder:test-results-{}", "ubuntu"),
        ("folder:night-*/test-results-{}", "ubuntu"),
        ("folder:{}/test-results-*", "night-01"),
        ("folder:night-{}", "01"),
        ("folder:results-{}", ""),
        ("folder:test.results-{}", ""),
    ],
)
def test_a_label_has_its_source(source: str, value: str) -> None:
    """A property, the host, or folders one below the other, whole names of them."""
    (label,) = labels_of([f"system={source}"])
    assert label.value("a/night-01/test-results-ubuntu/deep", "ci-7", {"os.name": "Linux"}) == value


def test_a_secret_is_no_label() -> None:
    """What stands for it is the same in each process."""
    (label,) = labels_of(["login=property:db.password"])
    assert label.value("f", "", {"db.password": "correct horse"}) == HIDDEN


@pytest.mark.parametrize(
    "given",
    [
        "",
        "system",
        "=hostname",
        "a b=hostname",
        "system=os.name",
        "system=property:",
        "system=folder:x",
        "s=folder:{}{}",
    ],
)
def test_a_label_that_is_none_is_wrong_use(given: str) -> None:
    """One line with what was expected, what it was, and an example."""
    with pytest.raises(WrongUseError) as caught:
        labels_of([given])
    assert str(caught.value).startswith("--label: expected NAME=property:KEY, NAME=hostname or NAME=folder:PATTERN")
    assert f"got {given}; for example --label system=property:os.name" in str(caught.value)


def test_a_name_is_given_once() -> None:
    """A condition has one value."""
    with pytest.raises(WrongUseError, match="expected each name once, got os twice"):
        labels_of(["os=hostname", "jdk=hostname", "os=property:os.name"])


def test_a_label_that_no_result_has_is_wrong_use() -> None:
    """Most likely it is misspelt, so the names that there are are listed."""
    labels = labels_of(["os=property:os.nmae", "jdk=property:java.version"])
    with pytest.raises(WrongUseError) as caught:
        require_found(labels, ["jdk"], {"os.name", "java.version"})
    assert str(caught.value) == (
        "--label os=property:os.nmae: no result of another tool has it; "
        "properties that results have: java.version, os.name"
    )
    require_found(labels, ["jdk", "os"], ())


def test_a_label_of_a_condition_takes_its_column_and_any_other_names_itself() -> None:
    """Where a result has no value for it, it is unknown, and the condition as the file has it."""
    read = {"topology": "small", "kafka": "3.9.1"}
    assert labelled(read, {"kafka": "4.0.0", "os": "Linux", "jdk": ""}) == {
        "topology": "small, os=Linux, jdk=unknown",
        "kafka": "4.0.0",
    }
    assert labelled(read, {"kafka": ""}) == read
    assert labelled({}, {}) == {}
