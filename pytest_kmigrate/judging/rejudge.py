"""Judges a run folder again without changing it, and says where the new verdicts differ from the stored ones."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pytest_kmigrate.judging.judge import Judgement, judged
from pytest_kmigrate.model.errors import RunFolderError, WrongUseError
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.recording.reading import read_history, verify_manifest
from pytest_kmigrate.recording.recorder import write_verdicts
from pytest_kmigrate.recording.run_folder import RunFolder

_COMPARED = ("check", "outcome", "kind", "summary", "count", "violations", "known_bugs")


@dataclass(frozen=True)
class JudgedAgain(Judgement):
    """Verdicts computed from a run folder as it is now."""

    is_complete: bool
    """Whether the folder has a manifest (and every file is as it says)."""
    has_stored: bool
    differences: tuple[str, ...]
    """One sentence for every stored verdict that is not the same now."""

    @property
    def outcome(self) -> Outcome:
        """The worst verdict; of a run that was interrupted, never a pass."""
        worst = super().outcome
        return worst if self.is_complete else max(worst, Outcome.INCONCLUSIVE)


def judge_again(path: Path) -> JudgedAgain:
    """Judge a run folder from its evidence alone; nothing in it is written, so its manifest stays true.

    RunFolderError when it is no run folder, or when files are not what its manifest says: such evidence proves nothing.
    """
    folder = RunFolder(path)
    is_complete = folder.manifest.is_file()
    history = read_history(folder)
    if is_complete:
        verify_manifest(folder)
    try:
        verdicts = judged(history)
    except WrongUseError as error:
        raise RunFolderError(f"{folder.history}: {error}; judge it with the release that recorded it") from error
    has_stored = folder.verdicts.is_file()
    stored = stored_verdicts(folder) if has_stored else []
    differences = _differences(stored, _as_stored(verdicts)) if has_stored else ()
    return JudgedAgain(history.header, verdicts, is_complete, has_stored, differences)


def stored_verdicts(folder: RunFolder) -> list[dict[str, Any]]:
    """The lines of ``verdicts.jsonl``; RunFolderError names the line that is not a verdict."""
    rows = []
    for number, line in enumerate(folder.verdicts.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            row = json.loads(line)
            _ = Outcome[row["outcome"]], row["check"], frozenset(row.get("requirements", ()))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunFolderError(
                f"{folder.verdicts}: line {number}: expected a verdict as JSON, got {line[:80]!r} ({error!r}); "
                "the folder is damaged: take another copy of it, or run the test again"
            ) from error
        rows.append(row)
    return rows


def _as_stored(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """As they would be read back, had they been stored: what JSON cannot tell apart is no difference."""
    with tempfile.TemporaryDirectory() as elsewhere:
        folder = RunFolder(Path(elsewhere))
        write_verdicts(folder, verdicts)
        return stored_verdicts(folder)


def _differences(stored: Sequence[dict[str, Any]], now: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    found = []
    for before, after in zip_longest(stored, now):
        if before is None:
            found.append(f"{after['check']}: not stored, now {after['outcome']}")
        elif after is None:
            found.append(f"{before['check']}: stored {before['outcome']}, now not judged")
        else:
            found += _difference(before, after)
    return tuple(found)


def _difference(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    unlike = [key for key in _COMPARED if before.get(key) != after.get(key)]
    if not unlike:
        return []
    told = (f"{key} stored {_short(before.get(key))}, now {_short(after.get(key))}" for key in unlike[:2])
    return [f"{after['check']}: {'; '.join(told)}"]


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
