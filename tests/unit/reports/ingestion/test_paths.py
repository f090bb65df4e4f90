"""Paths and URIs: links from a report, and what Spark is given."""

import pytest

from pytest_kmigrate.reports.ingestion.paths import literal, path_of, shown_path, way, why_closed


@pytest.mark.parametrize(
    ("start", "to", "link"),
    [
        ("/a/out", "/a/runs/r 1/t.html", "../runs/r 1/t.html"),
        ("/a/out", "file:///a/runs/t.html", "../runs/t.html"),
        ("file:/a/out", "file:///a/runs/t.html", "../runs/t.html"),
        ("s3a://bucket/out", "s3a://bucket/runs/t.html", "../runs/t.html"),
        ("/a/out", "s3a://bucket/runs/t.html", "s3a://bucket/runs/t.html"),
        ("s3a://bucket/out", "s3a://other/runs/t.html", "s3a://other/runs/t.html"),
    ],
)
def test_links_are_relative_within_one_file_system(start: str, to: str, link: str) -> None:
    """A report that is moved together with its runs keeps its links; to elsewhere the whole URI leads."""
    assert way(start, to) == link


def test_a_path_is_what_follows_scheme_and_authority() -> None:
    """Question marks, colons and hash signs are part of it, for our URIs are not encoded."""
    uris = ("s3a://bucket/a?b#c:d", "file:/x y", "file:///x", "/plain:colon", "s3a://bucket/", "/x/")
    assert [path_of(uri) for uri in uris] == ["/a?b#c:d", "/x y", "/x", "/plain:colon", "", "/x"]


def test_patterns_are_escaped_and_a_colon_beside_one_is_refused() -> None:
    """Hadoop would read brackets as a pattern; this cannot be switched off where there is a colon too."""
    assert literal("file:///a [1]") == r"file:///a \[1\]"
    assert [path for path in ("/a [1]", "/10:00", "/10:00 [1]") if why_closed(path)] == ["/10:00 [1]"]


def test_a_name_that_is_not_utf8_is_refused_and_can_be_shown() -> None:
    """Python keeps such bytes in a form that no other program takes, and no file of UTF-8 can hold."""
    assert "UTF-8" in str(why_closed("/a\udcff"))
    assert shown_path("/a\udcff ü") == "/a\ufffd ü"
