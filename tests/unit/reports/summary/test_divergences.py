"""Divergences as a report lists them: by version, sides and family."""

from pytest_kmigrate.reports.summary.divergences import divergence_classes
from pytest_kmigrate.reports.summary.rows import Row


def _seen(folder: str, family: str, **more: object) -> Row:
    place = {"folder": folder, "left": "metadata-log", "right": "zookeeper", "family": family, "subject": "orders x"}
    values = {"left_value": "1", "right_value": "2", "first_moment": "copied"}
    return {**place, **values, "at_least_ms": 0.0, "at_most_ms": 9.0, **more}


def _lasting(at_least_ms: float, at_most_ms: float | None) -> Row:
    return _seen("a", "configs", at_least_ms=at_least_ms, at_most_ms=at_most_ms)


def _attempts(**kafka: str) -> list[Row]:
    return [{"folder": folder, "kafka": version, "timeline": None} for folder, version in kafka.items()]


def test_differences_of_a_family_and_version_are_one_row() -> None:
    """By the family that each names, whatever its place is called; of a run that is not counted none."""
    rows = [_seen("a", "configs"), _seen("b", "configs"), _seen("b", "acls"), _seen("c", "acls"), _seen("copy", "acls")]

    reported = divergence_classes(rows, _attempts(a="3.9.1", b="3.9.1", c="3.10.0"))

    shown = [(row["family"], row["kafka"], row["differences"], row["runs"]) for row in reported]
    assert shown == [("acls", "3.9.1", 1, 1), ("acls", "3.10.0", 1, 1), ("configs", "3.9.1", 2, 2)]


def test_both_bounds_of_the_longest_are_told() -> None:
    """The one known to have lasted longest and the one that may have, of all that were seen to end."""
    (reported,) = divergence_classes([_lasting(0, 70), _lasting(30, 40)], _attempts(a="3.9.1"))

    assert (reported["at_least_ms"], reported["at_most_ms"], reported["unended"]) == (30.0, 70.0, 0)


def test_what_was_never_seen_to_end_has_no_upper_bound() -> None:
    """That of the others would be reported beside a lower bound that may be above it."""
    (reported,) = divergence_classes([_lasting(0, 70), _lasting(90, None)], _attempts(a="3.9.1"))

    assert (reported["at_least_ms"], reported["at_most_ms"], reported["unended"]) == (90.0, None, 1)
