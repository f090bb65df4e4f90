"""``verdicts.jsonl``: the one place that writes and reads it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict, Violation
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.writing import json_lines, replace_text


def write_verdicts(folder: RunFolder, verdicts: Iterable[Verdict]) -> None:
    """(Re)write ``verdicts.jsonl``."""
    replace_text(folder.verdicts, json_lines(map(as_json, verdicts)))


def stored_verdicts(folder: RunFolder) -> list[Verdict]:
    """The verdicts of ``verdicts.jsonl``; RunFolderError names the line that is not a verdict."""
    rows = []
    for number, line in enumerate(folder.verdicts.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            rows.append(from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RunFolderError(
                f"{folder.verdicts}: line {number}: expected a verdict as JSON, got {line[:80]!r}; "
                "the folder is damaged: take another copy of it, or run the test again"
            ) from error
    return rows


def has_outcomes_by_requirement(folder: RunFolder) -> bool:
    """Whether the verdicts were written with an outcome for each requirement, as releases after 0.1 do."""
    return '"about": ' in folder.verdicts.read_text(encoding="utf-8", errors="replace")


def as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON; ``requirements`` are those it says anything about."""
    about = [_about_as_json(each) for each in verdict.about]
    row = asdict(replace(verdict, every=()))
    del row["every"]
    row |= {**_named(verdict), "requirements": verdict.requirements, "about": about}
    for violation in row["violations"]:
        del violation["awaited"]
    return row


def from_json(row: Mapping[str, Any]) -> Verdict:
    """A verdict as it was written; KeyError, TypeError or ValueError where it is none.

    Version 0.1 wrote the claimed requirements only: each has the outcome of the verdict then.
    """
    kind = Kind(row["kind"]) if row.get("kind") else None
    verdict = Verdict(
        check=row["check"],
        outcome=Outcome[row["outcome"]],
        kind=kind,
        summary=row.get("summary", ""),
        violations=tuple(_violation(each) for each in row.get("violations", ())),
        count=row.get("count", 0),
        standing=row.get("standing", False),
        anomaly=row.get("anomaly", ""),
        facts=row.get("facts", {}),
        known_bugs=tuple(row.get("known_bugs", ())),
    )
    if "about" not in row:
        return verdict.speaking_for(*row.get("requirements", ()))
    return replace(verdict, about=tuple(_about(each, verdict) for each in row["about"]))


def _about_as_json(about: About) -> dict[str, Any]:
    """What the violations observed stands in the verdict's violations already."""
    row = {**asdict(about), **_named(about)}
    del row["observed"], row["awaited"]
    return row


def _about(row: Mapping[str, Any], verdict: Verdict) -> About:
    """Older folders do not keep apart which requirement is violated by which known bug."""
    kind = Kind(row["kind"]) if row["kind"] else None
    about = About(row["requirement"], Outcome[row["outcome"]], kind, row["seen"], row["summary"])
    known = row.get("known_bugs")
    return _known_by_verdict(about, verdict) if known is None else replace(about, known_bugs=tuple(known))


def _known_by_verdict(about: About, verdict: Verdict) -> About:
    return replace(about, known_bugs=verdict.known_bugs) if about.outcome is Outcome.VIOLATES else about


def _violation(row: Mapping[str, Any]) -> Violation:
    return Violation(**{**row, "evidence": tuple(row["evidence"])})


def _named(judged: Verdict | About) -> dict[str, object]:
    return {"outcome": judged.outcome.name, "kind": judged.kind.value if judged.kind else None}
