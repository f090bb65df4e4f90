"""Code of Kafka: how much of the code that a document is about tests have executed, and what none has."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from pytest_kmigrate.distributions.class_names import method_of
from pytest_kmigrate.reports.pages.drawing import Cell, amount, folded, percent, text
from pytest_kmigrate.reports.site.mutants import generated_defects
from pytest_kmigrate.reports.site.views import Site, View, below, empty, number_cell, section, table_of
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, listed, plural

_LEAD = (
    "Lines of Kafka's source that nodes executed in these runs, by JaCoCo. A line that was executed need not have been "
    "judged. A line that an exception left in its midst may count as not executed."
)
_NOTHING = "No run recorded what is executed: call pytest with --kmigrate-exercise."


def code(site: Site) -> View:
    """A table per document and Kafka: its packages, then the classes of each, least executed first.

    Samples of generated mutants follow, each with its score and what was not noticed.
    """
    rows = site.summary["exercised_classes"]
    drawn = "".join(
        section(f"{text(kafka)} · {text(profile)}", _packages(mine) + _classes(mine))
        for (profile, kafka), mine in grouped(rows, "profile", "kafka").items()
    )
    return View("code", "Code of Kafka", _LEAD, (drawn or empty(_NOTHING)) + generated_defects(site.summary))


def _packages(rows: Sequence[Row]) -> str:
    drawn = [
        [
            Cell(text(name), name, "name"),
            number_cell(len(mine)),
            *_share(sum(count(row["executed"]) for row in mine), sum(count(row["lines"]) for row in mine)),
        ]
        for (name,), mine in grouped([{**row, "package": _package(row)} for row in rows], "package").items()
    ]
    return table_of(("Package", "Classes", "Lines", "Executed", "Share"), drawn, 0, "exercised_classes")


def _classes(rows: Sequence[Row]) -> str:
    drawn = [
        [
            Cell(text(_short(row)) + below(row["source"], _left_out(row)), row["class"], "name"),
            *_share(count(row["executed"]), count(row["lines"])),
            number_cell(row["tests"]),
            Cell(text(_spans(listed(row["never"]))) + _methods(row)),
        ]
        for row in sorted(rows, key=lambda row: -(count(row["lines"]) - count(row["executed"])))
    ]
    heads = ("Class", "Lines", "Executed", "Share", "Tests", "Lines that no test executed")
    return table_of(heads, drawn, 0, "exercised_classes", most_first="Lines that no test executed")


def _share(executed: int, lines: int) -> tuple[Cell, Cell, Cell]:
    share = executed / lines if lines else 0.0
    return number_cell(lines), number_cell(executed), Cell(percent(share), share, "number")


def _left_out(row: Row) -> str:
    other = count(row["other_files"])
    return f"data of {plural(other, 'run')} left out, as it is of another class file" if other else ""


def _methods(row: Row) -> str:
    never = [str(each) for each in listed(row["never_methods"])]
    if not never:
        return ""
    names = sorted({method_of(each) for each in never})
    listing = ", ".join(f"<code>{text(each)}</code>" for each in names)
    return folded(f"{amount(len(never))} of {plural(count(row['methods']), 'method')} never", listing)


def _spans(lines: Sequence[object]) -> str:
    """Numbers of lines, those that follow each other as one span."""
    return ", ".join(_span(each) for each in _runs([count(line) for line in lines]))


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    for _, mine in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        yield [number for _, number in mine]


def _span(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def _package(row: Row) -> str:
    return str(row["class"]).rpartition(".")[0]


def _short(row: Row) -> str:
    return str(row["class"]).rpartition(".")[2]
