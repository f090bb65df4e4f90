"""The code of a document that no test executes: each method with the reason, by hand, as a page.

Run as ``python -m pytest_kmigrate.reports.generated.unexecuted PROFILE KAFKA TABLES``, with the tables of an analysis
of runs with ``--kmigrate-exercise``. Writes the page to standard output. Exit status 0; 2 for wrong use.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_kmigrate.catalogue import place_of
from pytest_kmigrate.catalogue.rows import records
from pytest_kmigrate.distributions.class_names import method_of
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.reports.generated.drawing import is_written
from pytest_kmigrate.reports.generated.naming import name_of
from pytest_kmigrate.reports.suite_tests import ended_by_mistake
from pytest_kmigrate.reports.written_tables import rows_of

UNEXECUTED = "unexecuted.toml"
"""A file that a document's folder may have."""

_LINES = ("profile", "kafka", "class", "method", "line", "runs", "tests")
_NOT_READ, _IN_PART = "no reason is on file", " (a function in it)"
_A_MESSAGE = re.compile(r"^\$anonfun\$.*\)Ljava/lang/String;$")
"""A function of Scala that makes a text: nearly all of them are for the log."""


@dataclass(frozen=True)
class Unexecuted:
    """Methods that no test executes, and why none does."""

    id: str
    """Pattern of a class and its method with a dot between: ``kafka.zk.migration.*.releaseControllerLeadership``."""
    why: str
    at_end: bool = False
    """Whether they run while a node ends, in every test, when nothing can be read from it any more."""


def reasons(profile: str) -> tuple[Unexecuted, ...]:
    """The rows of a document, in the order of its file."""
    place = place_of(profile)
    return records(Unexecuted, place, UNEXECUTED, "unexecuted") if place.has(UNEXECUTED) else ()


def reason_of(known: Iterable[Unexecuted], class_name: str, method: str) -> Unexecuted | None:
    """Why no test executes a method, by the first row that names it."""
    return next((each for each in known if fnmatchcase(f"{class_name}.{method}", each.id)), None)


def page(profile: str, kafka: str, lines: Sequence[Mapping[str, Any]]) -> str:
    """What is executed and what never is, a row for each class, then one for each method that no test executes."""
    tests = {test for row in lines for test in row["tests"]}
    of_class = {name: list(mine) for name, mine in groupby(sorted(lines, key=_class), key=_class)}
    executed, all_lines = (sum(each) for each in zip(*(_counts(mine) for mine in of_class.values()), strict=True))
    head = (
        f"# Code of Kafka {kafka} that {len(tests)} tests of {profile} execute\n\n"
        "Made by `python -m pytest_kmigrate.reports.generated.unexecuted`; the reasons are those of `unexecuted.toml`. "
        "Recorded by JaCoCo in every node, but not while a node ends: what reads it is gone by then. A line of source "
        "counts once.\n\n"
        f"**{executed} of {all_lines} lines ({executed / all_lines:.0%})** are executed."
    )
    rows = ["| class | lines | executed | share |", "|---|---|---|---|"]
    for name, mine in sorted(of_class.items(), key=lambda each: _counts(each[1])[0] / _counts(each[1])[1]):
        hit, number = _counts(mine)
        rows.append(f"| `{name}` | {number} | {hit} | {hit / number:.0%} |")
    never = ["| method | lines | why no test executes it |", "|---|---|---|"]
    known = reasons(profile)
    for name, mine in of_class.items():
        for method, spans in _never(mine).items():
            found = reason_of(known, name, method.removesuffix(_IN_PART))
            why = found.why if found else _NOT_READ
            never.append(f"| `{name.rpartition('.')[2]}.{method}` | {spans} | {why} |")
    parts = [head, "## Classes", "\n".join(rows), "## Methods that no test executes", "\n".join(never)]
    return "\n\n".join(parts) + "\n"


def _class(row: Mapping[str, Any]) -> str:
    return str(row["class"])


def _counts(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many lines were executed, and how many there are."""
    return len({row["line"] for row in rows if row["runs"]}), len({row["line"] for row in rows})


def _never(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The lines of each method of which a function was not executed, compilers' own and texts for the log left out.

    Scala copies functions into their callers and leaves the function as it was: a line that was executed anywhere was
    executed.
    """
    ran = {row["method"] for row in rows if row["runs"]}
    in_part = {method_of(each) for each in ran}
    done = {row["line"] for row in rows if row["runs"]}
    lines: dict[str, set[int]] = {}
    for row in rows:
        function = str(row["method"])
        is_seen = function in ran or row["line"] in done
        if not is_seen and is_written(function) and not _A_MESSAGE.match(function):
            lines.setdefault(method_of(function), set()).add(row["line"])
    return {
        f"{name}{_IN_PART if name in in_part else ''}": ", ".join(map(str, sorted(mine)))
        for name, mine in sorted(lines.items())
    }


def main(profile: str, kafka: str, tables: str) -> int:
    """Write the page."""
    try:
        of = (profile, name_of(kafka))
        found = rows_of(Path(tables), "exercised", _LINES)
        rows = [row for row in found if (row["profile"], row["kafka"]) == of]
        if not any(row["runs"] for row in rows):
            raise WrongUseError(
                f"{tables}: expected executed lines of Kafka {kafka} by {profile}, got none; run tests with "
                "--kmigrate-exercise, then `kmigrate analyze`"
            )
        sys.stdout.write(page(profile, of[1], rows))
    except KmigrateError as error:
        return ended_by_mistake(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
