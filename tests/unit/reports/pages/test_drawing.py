"""Drawing: numbers as people read them, and nothing that could become markup."""

import re
from pathlib import Path

import pytest

from pytest_kmigrate.reports.pages.drawing import (
    WORDS,
    Cell,
    amount,
    chance,
    chip,
    cut,
    dots,
    duration,
    link,
    measured,
    percent,
    table,
    text,
)
from pytest_kmigrate.reports.pages.glossary import GLOSSARY
from pytest_kmigrate.reports.summary.rows import Row


@pytest.mark.parametrize(
    ("ms", "reported"),
    [
        (None, ""),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_234, "1.2 s"),
        (59_940, "59.9 s"),
        (59_999, "1 min 00 s"),
        (125_000, "2 min 05 s"),
    ],
)
def test_durations_are_told_in_the_unit_that_fits(ms: float | None, reported: str) -> None:
    """Milliseconds, seconds or minutes, never 60 of the smaller one."""
    assert duration(ms) == reported


@pytest.mark.parametrize(
    ("value", "reported"), [(None, ""), (0, "0"), (1_234_567.0, "1\u202f234\u202f567"), (2.5, "2.50")]
)
def test_amounts_have_their_thousands_apart(value: float | None, reported: str) -> None:
    """Whole numbers stay whole, whatever their type."""
    assert amount(value) == reported


@pytest.mark.parametrize(
    ("share", "reported"), [(0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.9996, ">99%"), (1, "100%")]
)
def test_one_failure_in_thousands_is_not_rounded_away(share: float, reported: str) -> None:
    """100 % is said of all and 0 % of none, and of nothing else."""
    assert percent(share) == reported


def test_text_of_runs_is_never_markup() -> None:
    """What a test or a log says is shown, not executed, in content and in attributes."""
    drawn = table(('"><b>',), [[Cell(text("<script>"), '"x')]])
    assert "<script>" not in drawn
    assert "<b>" not in drawn
    assert 'data-sort="&quot;x"' in drawn


@pytest.mark.parametrize(
    ("measure", "value", "reported"),
    [("duration_ms", 1_500, "1.5 s"), ("at_ns", 2_000_000, "2 ms"), ("failover_s", 90, "1 min 30 s"), ("lag", 3, "3")],
)
def test_a_measure_is_told_in_the_unit_of_its_name(measure: str, value: float, reported: str) -> None:
    """Milliseconds, nanoseconds and seconds become times; what has no unit stays a number."""
    assert measured(measure, value) == reported


@pytest.mark.parametrize(("p_value", "reported"), [(None, ""), (0.0, "< 0.001"), (0.0312, "0.031"), (1.0, "1")])
def test_chances_are_told_as_people_compare_them(p_value: float | None, reported: str) -> None:
    """Two digits, and nothing smaller than a thousandth."""
    assert chance(p_value) == reported


def test_a_level_nobody_knows_has_no_colour_of_its_own() -> None:
    """A word from the tables never becomes a style."""
    assert chip("x;} body{display:none") == (
        '<span class="chip" style="--colour: var(--NOT_APPLICABLE)">x;} body{display:none</span>'
    )


def test_columns_of_numbers_have_their_heads_above_them() -> None:
    """The head of a right-aligned column is right-aligned as well."""
    drawn = table(("name", "runs"), [[Cell("a", css="name"), Cell("1", 1, "number")]])
    assert drawn.count('<th scope="col" class="number">') == 1


def test_what_is_missing_is_sorted_as_such() -> None:
    """Not by the words that stand for it, nor as a 0; a cell of which nothing is said is sorted by its words."""
    drawn = table(("rate", "runs", "name"), [[Cell("no answer", None), Cell("none", 0), Cell("a")]])
    assert re.findall(r'data-label="(\w+)"(?: data-sort="(\w*)")?>', drawn) == [
        ("rate", ""),
        ("runs", "0"),
        ("name", ""),
    ]
    assert drawn.count("data-sort") == 2


def test_a_safety_violation_has_a_shape_of_its_own() -> None:
    """A diamond, where any other violation is a square; a run with a timeline links to it."""
    run: dict[str, object] = {
        "attempt": 1,
        "seed": "7",
        "outcome": "VIOLATES",
        "kind": "SAFETY",
        "is_aside": False,
        "summary": "s",
        "timeline": None,
    }
    assert "--SAFETY" in dots([run])
    assert "--VIOLATES" in dots([{**run, "kind": "LIVENESS"}])
    assert 'href="../r%201/timeline.html"' in dots([{**run, "timeline": "../r 1/timeline.html"}])


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("../r 1/a:b?.html", "../r%201/a%3Ab%3F.html"),
        ("s3a://nights/runs/r 1/timeline.html", "s3a://nights/runs/r%201/timeline.html"),
        ("hdfs://namenode:8020/r#1", "hdfs://namenode:8020/r%231"),
        ("file:///runs/r", "file:///runs/r"),
    ],
)
def test_a_link_to_another_file_system_is_its_uri(path: str, address: str) -> None:
    """Scheme and host stay what they are; names are quoted, here and there."""
    assert link(path, "timeline") == f'<a href="{address}">timeline</a>'


def test_a_run_that_conforms_says_no_more_than_that() -> None:
    """Most runs conform: their summaries would make the page half as large again."""
    run: Row = {"attempt": 1, "seed": "7", "outcome": "CONFORMS", "kind": None, "summary": "9 steps", "timeline": None}
    run |= {"is_aside": False}
    assert "9 steps" not in dots([run])
    assert "9 steps" in dots([{**run, "outcome": "INCONCLUSIVE"}])


def test_a_long_message_is_cut_and_a_short_one_is_not() -> None:
    """Nobody reads a quota table in a heading, and what fits is reported whole."""
    assert cut("a" * 9, 8) == "a" * 8 + "…"
    assert cut("a" * 8, 8) == "a" * 8


def test_words_of_the_report_are_in_the_glossary_of_the_docs() -> None:
    """One meaning: what the page shows beside a word is what the docs say; standings and heads are among them."""
    paper = (Path(__file__).parents[4] / "docs" / "glossary.md").read_text()
    assert [word for word, meaning in GLOSSARY.items() if f"| {word} | {meaning} |" not in paper] == []
    standings = ("SAFETY", "VIOLATES", "FLAKY", "VARIES", "INCONCLUSIVE", "CONFORMS")
    assert [WORDS[each] for each in standings if WORDS[each] not in GLOSSARY] == []
    assert 'title="now this answer' in chip("FLAKY")


@pytest.mark.parametrize(
    ("head", "word"),
    [
        ("q", "q"),
        ("Standing", "standing"),
        ("Clean runs since, 95 %", "clean runs since"),
        ("Known as", None),
        ("Queries", None),
        ("Quarantined by", None),
    ],
)
def test_a_head_shows_the_meaning_of_its_own_word_alone(head: str, word: str | None) -> None:
    """Not that of a word it begins with; a level or an interval may follow."""
    shown = f'title="{GLOSSARY[word]}"' if word else ""
    assert ("title=" in table([head], [[Cell("1")]])) == bool(word)
    assert shown in table([head], [[Cell("1")]])
