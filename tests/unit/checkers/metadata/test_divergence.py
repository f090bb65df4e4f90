"""Divergence: which moments two sides differed in, and between which bounds that lasted."""

from pytest_kmigrate.checkers.metadata.divergence import Divergence, Taken, divergences
from pytest_kmigrate.model.image import MetadataImage

S = 1_000_000_000


def _taken(moment: str, source: str, at_s: int, configs: dict[str, dict[str, str]], known: tuple[str, ...]) -> Taken:
    """Its taking lasts two seconds."""
    return Taken(moment, MetadataImage(source, known, configs=configs), at_s * S, (at_s + 2) * S)


def _found(*values: str | None, known: tuple[str, ...] = ("configs",), without: int = -1) -> list[Divergence]:
    """A moment every 10 s: the log holds x=1, ZooKeeper that value; at one moment it may know no configs."""
    images = []
    for place, value in enumerate(values):
        at_s = 10 * (place + 1)
        theirs = {} if value is None else {"topic:orders": {"x": value}}
        images.append(_taken(f"m{place}", "zookeeper", at_s, theirs, () if place == without else known))
        images.append(_taken(f"m{place}", "metadata-log", at_s + 1, {"topic:orders": {"x": "1"}}, known))
    return list(divergences(images[::-1]))


def test_a_difference_lasts_between_the_images_that_show_it_and_those_around_them() -> None:
    """Seen in the second and third of four moments: at least from the one to the other, at most between the outer."""
    (found,) = _found("1", "2", "2", "1")

    assert (found.left, found.right, found.first.subject) == ("metadata-log", "zookeeper", "configs topic:orders x")
    assert (found.first.left, found.first.right) == ("1", "2")
    assert (found.moments, found.first_moment, found.first_ns, found.last_ns) == (2, "m1", 23 * S, 33 * S)
    # Images of a moment are taken in three seconds; at which instant each was true is unknown.
    assert (found.at_least_ns, found.at_most_ns) == ((30 - 23) * S, (43 - 10) * S)


def test_a_difference_seen_once_may_have_lasted_no_time() -> None:
    """And at most since the run began, before which there was nothing, when the first images show it."""
    (found,) = _found(None, "1")

    assert (found.at_least_ns, found.at_most_ns, found.first.right) == (0, 23 * S, None)


def test_a_difference_that_came_back_is_another() -> None:
    """Equal images between them end the first; the end of the second was not observed."""
    first, second = sorted(_found("2", "1", "3"), key=lambda each: each.first_ns)

    assert (first.moments, first.at_most_ns, second.moments, second.at_most_ns) == (1, 23 * S, 1, None)


def test_a_side_that_cannot_know_says_nothing() -> None:
    """A moment in which one side does not know configs neither shows the difference nor ends it."""
    (found,) = _found("2", "1", "2", without=1)

    assert (found.moments, found.first_ns, found.last_ns, found.at_most_ns) == (2, 13 * S, 33 * S, None)


def test_equal_sides_do_not_diverge() -> None:
    """Nor does a single side."""
    assert _found("1", "1") == []
    assert list(divergences([_taken("m", "zookeeper", 1, {}, ("configs",))])) == []
