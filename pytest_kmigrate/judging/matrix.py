"""A document's requirements against releases of Kafka: a page that is made from run folders.

Run as ``python -m pytest_kmigrate.judging.matrix PROFILE PAGE RELEASE=RUNS [RELEASE=RUNS ...]``; a release that is
given more than once has several folders of runs. Exit status 0 when the page is written; 2 for a folder without runs.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_kmigrate.catalogue import KnownBug, Requirement, find_bug, gravest_first, known_bug
from pytest_kmigrate.checkers.tally import CLASSES, Tally, Word
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.coverage import Coverage, coverage
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.reports.pages.markup import code, escaped, literal, table
from pytest_kmigrate.reports.suite_tests import ended_by_mistake

_GRAVE = (Word.VIOLATION, Word.DEFECT)
_MILD = (Word.DEPARTURE, Word.REMARK)
_HEADS = {
    Word.VIOLATION: "new violations",
    Word.DEFECT: "defects",
    Word.DEPARTURE: "departures",
    Word.REMARK: "remarks",
    Word.INCONCLUSIVE: "inconclusive",
    Word.CONFORMS: "conform",
    Word.NOT_APPLICABLE: "do not apply",
    Word.NOT_JUDGED: "not judged",
}


@dataclass(frozen=True)
class Cell:
    """A requirement on one release."""

    tally: Tally
    latent: tuple[str, ...] = ()
    """Races that break it on another release, that this one has by its code, and that no run of it met."""

    @property
    def word(self) -> Word:
        """Where it stands: runs that did not meet a race of this release do not show that it is gone."""
        if not self.latent or self.tally.word in (*CLASSES, Word.VIOLATION):
            return self.tally.word
        return min((Word(known_bug(each).class_) for each in self.latent), key=CLASSES.index)

    def __str__(self) -> str:
        """The word, by what, and in k of n runs."""
        found = self.tally
        by = [f"{escaped(known)} ({runs} of {found.n})" for known, runs in found.by]
        by += [f"not explained ({found.new} of {found.n})"] if found.new else []
        by += [f"{escaped(known)}, a race (0 of {found.n})" for known in self.latent]
        hit = "".join(f", hit by {escaped(known)} in {runs}" for known, runs in found.hit_by)
        runs = found.n or found.inconclusive or found.not_applicable
        return f"{self.word}: {', '.join(by)}{hit}" if by else f"{self.word}{f' ({runs})' if runs else ''}{hit}"


@dataclass(frozen=True)
class Matrix:
    """A document's requirements against releases."""

    releases: Mapping[str, Coverage]

    @cached_property
    def rows(self) -> dict[str, list[Cell]]:
        """By the id of each requirement that counts, its cell on each release."""
        return {row.id: self._cells(number) for number, row in self._counted()}

    def named_in(self, ids: Iterable[str]) -> list[KnownBug]:
        """The known bugs and deviations that the cells of these rows name, the gravest first."""
        cells = [cell for row in ids for cell in self.rows[row]]
        named = {known for cell in cells for known in [*(each for each, _ in cell.tally.by), *cell.latent]}
        return gravest_first(bug for each in named if (bug := find_bug(each)))

    def levels(self) -> dict[str, str]:
        """By id, the level of each requirement that counts."""
        return {row.id: row.level for _, row in self._counted()}

    def _counted(self) -> list[tuple[int, Requirement]]:
        first = next(iter(self.releases.values()))
        return [(n, row.requirement) for n, row in enumerate(first.rows) if row.requirement.covered_by is None]

    def _cells(self, number: int) -> list[Cell]:
        tallies = {release: found.rows[number].tally for release, found in self.releases.items()}
        races = {known for each in tallies.values() for known, _ in each.by if _is_race(known)}
        return [Cell(each, _latent(each, races, release)) for release, each in tallies.items()]


def _latent(found: Tally, races: Iterable[str], release: str) -> tuple[str, ...]:
    met = {known for known, _ in found.by}
    return tuple(sorted(each for each in races if found.n and each not in met and known_bug(each).breaks(release)))


def _is_race(known: str) -> bool:
    bug = find_bug(known)
    return bug is not None and bug.reachability == "race"


def matrix(profile: str, runs: Mapping[str, Sequence[Path]]) -> Matrix:
    """What the runs of each release show about each requirement.

    WrongUseError for a folder without runs, and for a document that another one replaced.
    """
    final = document(profile).replaced_by
    if final:
        raise WrongUseError(
            f"{profile}: expected a document that no other one replaced, got one that {final} did: `make docs` "
            "compares both texts"
        )
    return Matrix({release: coverage(profile, *folders) for release, folders in runs.items()})


def page(profile: str, found: Matrix) -> str:
    """Counts by release; then the requirements with defects and what these cost; departures, folded; the rest."""
    worst = {row: min((cell.word for cell in cells), key=list(Word).index) for row, cells in found.rows.items()}
    grave = [row for row, word in worst.items() if word in _GRAVE]
    mild = [row for row, word in worst.items() if word in _MILD]
    rest = [row for row in worst if row not in {*grave, *mild}]
    parts = [f"# {profile} on releases of Apache Kafka", _how_to_read(profile), _counts(found)]
    parts += ["## Defects", _rows(found, grave), "What they cost:", costs(found.named_in(grave))] if grave else []
    parts += ["## Departures and remarks", *_folded(f"{len(mild)} requirements", _rows(found, mild))] if mild else []
    parts += _folded("What Kafka does instead", costs(found.named_in(mild))) if mild else []
    return "\n\n".join([*parts, "## All others", _rows(found, rest)])


def _how_to_read(profile: str) -> str:
    return (
        "`make matrix` writes this page from run folders. A **defect**: Kafka breaks what the document asks, and a "
        "user can be hurt. A **departure**: Kafka differs from the text on purpose or without harm. A **remark**: the "
        "text is unclear, or the difference is not in the text. Each has its name and *k of n*: k of the n runs that "
        "could have violated the requirement and gave an answer show it. A race with 0 of n was met on another "
        "release, and this one has the same code. *Hit by*: a bug of another requirement came first in so many runs, "
        "which therefore show nothing about this one. Not judged: no run could have violated it. Names are those of "
        f"[docs/bugs-found.md](../bugs-found.md) and `documents/{profile.replace('-', '_')}/`; "
        f"`kmigrate requirements --profile {profile}` lists what each requirement is."
    )


def _counts(found: Matrix) -> str:
    rows = [
        (code(release), str(each.runs), *(str(_of(found, column, word)) for word in _HEADS))
        for column, (release, each) in enumerate(found.releases.items())
    ]
    return table(("Kafka", "runs", *_HEADS.values()), rows)


def _of(found: Matrix, column: int, word: Word) -> int:
    return sum(cells[column].word is word for cells in found.rows.values())


def _rows(found: Matrix, ids: Sequence[str]) -> str:
    levels = found.levels()
    rows = [(code(row), levels[row], *map(str, found.rows[row])) for row in ids]
    return table(("requirement", "level", *found.releases), rows)


def costs(known: Sequence[KnownBug]) -> str:
    """A table of known bugs and deviations: what Kafka does, what that costs, and where it is fixed."""
    rows = [
        (
            code(each.id) + (f" ({escaped(each.ticket)})" if each.ticket and each.ticket != each.id else ""),
            str(each.severity),
            literal(each.symptom),
            literal(each.consequence),
            each.fixed,
        )
        for each in known
    ]
    return table(("name", "severity", "what Kafka does", "what it costs", "fixed in"), rows)


def _folded(title: str, content: str) -> list[str]:
    return [f"<details><summary>{title}</summary>", content, "</details>"]


def _given(arguments: Sequence[str]) -> dict[str, list[Path]]:
    runs: dict[str, list[Path]] = {}
    for each in arguments or ("nothing",):
        release, is_given, folder = each.partition("=")
        if not is_given:
            raise WrongUseError(
                "expected RELEASE=RUNS of each release, such as 3.9.1=reports/runs/conformance/kip-866/3.9.1; "
                f"got {each}"
            )
        runs.setdefault(release, []).append(Path(folder))
    return runs


def main(profile: str, to: str, *given: str) -> int:
    """Write the page."""
    try:
        written = page(profile, matrix(profile, _given(given)))
    except KmigrateError as error:
        return ended_by_mistake(error)
    Path(to).parent.mkdir(parents=True, exist_ok=True)
    Path(to).write_text(written + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
