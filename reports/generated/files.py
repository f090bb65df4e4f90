"""The files of a sample of generated mutants: what was drawn, and what became of each."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pytest_kmigrate.distributions.java_tools.mutants import GeneratedMutant
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.mutants import Fate
from pytest_kmigrate.reports.generated.trials import Trial

_MOST_SHOWN = 80


def write_sample(file: Path, drawn_by: Mapping[str, object], mutants: Sequence[GeneratedMutant]) -> None:
    """Its first line says how the mutants of the others were drawn."""
    rows = (drawn_by, *({"id": each.id, **asdict(each)} for each in mutants))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(each)}\n" for each in rows), encoding="utf-8")


def read_sample(file: Path) -> tuple[Mapping[str, object], list[GeneratedMutant]]:
    """How its mutants were drawn, and these; WrongUseError for a line that is none of ours."""
    lines = file.read_text(encoding="utf-8").splitlines()
    drawn_by = _object(lines[0]) if lines else {}
    return drawn_by, [
        GeneratedMutant(**{name: value for name, value in row.items() if name != "id"})
        for row in _rows(file, lines[1:], 2, GeneratedMutant, "id")
    ]


def read_trials(file: Path) -> list[Trial]:
    """The lines of a ``results.jsonl``; WrongUseError for a line that is none of ours."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Trial(**{**row, "fate": Fate(row["fate"])}) for row in _rows(file, lines, 1, Trial)]


def _rows(
    file: Path, lines: Sequence[str], first: int, of: type[Trial | GeneratedMutant], *more: str
) -> Iterator[dict[str, Any]]:
    """Lines, each with the fields of a class, and ``more``, and no others."""
    known = {each.name for each in fields(of)} | {*more}
    for number, line in enumerate(lines, first):
        row = _object(line)
        if row.keys() != known or row.get("fate", Fate.KILLED) not in set(Fate):
            raise WrongUseError(
                f"{file}:{number}: expected an object with {', '.join(sorted(known))}, got {line[:_MOST_SHOWN]!r}; "
                "name another folder, or remove this one to begin anew"
            )
        yield row


def _object(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}
