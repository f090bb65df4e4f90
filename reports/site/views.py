"""What all views of the site share: what a view is, which pages there are, and the rows by what they are about."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_kmigrate.reports.pages.drawing import Cell, amount, chip, goto, short, table, text
from pytest_kmigrate.reports.summary.rows import (
    CELL,
    CONDITION,
    SERIES,
    SHAPE,
    Row,
    changes_of,
    clusters_of,
    grouped,
    is_worse,
    known,
    newest_first,
)
from pytest_kmigrate.reports.summary.summary import Summary
from pytest_kmigrate.reports.summary.words import is_defect

MOST_PAGES = 300
"""Pages of one kind, those of the worst first: more would not be read, and a page must stay small."""

MOST_ROWS = 300
"""Rows of one table; the rest is in report.json and in the tables."""

EVERY_RUN = "(every run)"
"""Stands in the tables for the test, where checks judged a requirement that their runs' tests did not ask for."""

NO_VERSION = "no version"
"""What stands for the version of runs without one."""

_SAFE = re.compile(r"[A-Za-z0-9._-]{1,80}")


@dataclass(frozen=True)
class View:
    """One screen of the site; one with a parent is reached from there and not from the navigation."""

    address: str
    title: str
    lead: str
    content: str
    parent: str = ""


def bug_chip(name: object) -> str:
    """A known bug or deviation as a label of its class."""
    return chip("DEFECT" if is_defect(name) else "DEPARTURE", str(name))


def address(kind: str, name: object) -> str:
    """The address of the page about one thing: its name, or a digest of one that no address could hold."""
    said = str(name)
    return f"{kind}/{said if _SAFE.fullmatch(said) else hashlib.sha256(said.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Site:
    """The summary, its rows by what they are about, and the things that have a page of their own."""

    summary: Summary

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Tests with a page, worst first."""
        return _first_of(self.summary["tests"], "test_id")

    @cached_property
    def requirements(self) -> tuple[str, ...]:
        """Requirements with a page, worst first: those that some run said something about."""
        return _first_of(self.summary["requirements"], "requirement")

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """Failure clusters with a page, largest first."""
        return _first_of(self.summary["failure_clusters"], "cluster")

    @cached_property
    def attempts_of_cell(self) -> dict[tuple[object, ...], list[Row]]:
        """Runs of a test under equal conditions, oldest first."""
        return grouped(self.summary["attempts"], *CELL)

    def latest_of_cell(self, cell: Row, most: int) -> list[Row]:
        """Its latest runs, the oldest of them first; one without a time counts as older than all."""
        return newest_first(self.attempts_of_cell.get(cell_key(cell), []), "started_at")[:most][::-1]

    @cached_property
    def attempts_of_test(self) -> dict[tuple[object, ...], list[Row]]:
        """Runs of a test on one kind of cluster, oldest first."""
        return grouped(self.summary["attempts"], "test_id", *CONDITION)

    @cached_property
    def cluster(self) -> Callable[[Row], str]:
        """What names the cluster of a row, as text; see ``clusters_of``."""
        return clusters_of(self.summary["attempts"])

    @cached_property
    def attempt_of_folder(self) -> dict[object, Row]:
        """The run that a folder is of."""
        return {attempt["folder"]: attempt for attempt in self.summary["attempts"]}

    @cached_property
    def templates(self) -> dict[object, Row]:
        """Log lines that count as one, by their name."""
        return {row["template"]: row for row in self.summary["log_templates"]}

    @cached_property
    def _changes_of_series(self) -> dict[tuple[object, ...], list[Row]]:
        return grouped(self.summary["change_points"], *SERIES)

    def changes(self, cell: Row) -> list[Row]:
        """The change points of a cell, newest first."""
        return changes_of(cell, self._changes_of_series.get(tuple(cell[name] for name in SERIES), []))

    def changes_with(self, row: Row, kafka: str) -> list[Row]:
        """The changes for the worse of a test on a kind of cluster that began with a version, newest first."""
        key = tuple(row[name] for name in SHAPE)
        return [each for each in self._changes_of_shape.get((*key, kafka), []) if is_worse(each)]

    @cached_property
    def _changes_of_shape(self) -> dict[tuple[object, ...], list[Row]]:
        return grouped(self.summary["change_points"], *SHAPE, "since_kafka")

    @cached_property
    def changes_of_requirement(self) -> dict[tuple[object, ...], list[Row]]:
        """The change points of what tests say of a requirement, newest first."""
        return grouped(self.summary["requirement_changes"], "requirement")

    @cached_property
    def _pages(self) -> frozenset[tuple[str, object]]:
        names = {"test": self.tests, "requirement": self.requirements, "cluster": self.clusters}
        return frozenset((kind, name) for kind, known in names.items() for name in known)

    def about(self, kind: str, name: object, content: str) -> str:
        """A link to the page about something; just its words when it has none."""
        return goto(address(kind, name), content) if (kind, name) in self._pages else content

    def test(self, row: Row, *more: object) -> str:
        """The name of a row's test, leading to its page; below it its file, what else is known, and its cluster."""
        if row["test_id"] == EVERY_RUN:
            return f"any test{below('judged in every run, though no test asked', *more, self.cluster(row))}"
        file, of_file, _ = str(row["test_id"]).partition("::")
        beside = below(file if of_file else "", *more, self.cluster(row))
        return self.about("test", row["test_id"], short(row["test_id"])) + beside


def cell_key(row: Row) -> tuple[object, ...]:
    """What makes conditions equal, of a row that has it."""
    return tuple(row[name] for name in CELL)


def empty(sentence: str) -> str:
    """Why a view has nothing to show, where that is neither good nor bad."""
    return f'<p class="fine nothing">{sentence}</p>'


def fine(sentence: str) -> str:
    """What was looked for and is not there, which is good."""
    return f'<p class="fine">{sentence}</p>'


def section(title: str, content: str, lead: str = "") -> str:
    """A part of a view."""
    return f"<h2>{title}</h2>{f'<p>{lead}</p>' if lead else ''}{content}"


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[Cell]], left_out: int, name: str, most_first: str = ""
) -> str:
    """A table and, when not all is in it, where the rest is."""
    return table(heads, rows, most_first) + rest(left_out, len(rows), name)


def rest(left_out: int, shown: int, name: str) -> str:
    """What was left out, and where it lies."""
    if not left_out:
        return ""
    return (
        f'<p class="soft small rest">{amount(shown)} of {amount(shown + left_out)} are on this page; all are in '
        f'<a href="report.json">report.json</a> and in <code>tables/{text(name)}</code>.</p>'
    )


def _first_of(rows: Sequence[Row], column: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(row[column]) for row in rows))[:MOST_PAGES]


def shown(value: object) -> str:
    """A value as text; nothing for what no run recorded."""
    return text("".join(known(value)))


def condition(row: Row) -> str:
    """Fault, and below it phase and role of what it hit; nothing where none is known."""
    fault = "".join(f"<code>{text(each)}</code>" for each in known(row["fault"]))
    # Without a fault all of them are "none", which is said once.
    beside = [each for each in (row["phase"], row["role"]) if each != row["fault"]]
    return f"<span>{fault}{below(*beside)}</span>"


def below(*words: object) -> str:
    """What is said more softly, on the next line; nothing where no word says anything."""
    reported = " · ".join(known(*words))
    return f'<br><span class="soft small">{text(reported)}</span>' if reported else ""


def number_cell(value: object) -> Cell:
    """A cell with a count."""
    return Cell(amount(value), value, "number")
