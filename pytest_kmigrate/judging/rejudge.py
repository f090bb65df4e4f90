"""Judges a run folder again without changing it, and says where the new verdicts differ from the stored ones."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from pytest_kmigrate.judging.coherence.coherence import disagreements, fitted
from pytest_kmigrate.judging.judge import Judgement, read_to_judge
from pytest_kmigrate.judging.other_documents import judged_as, judging
from pytest_kmigrate.model.errors import RunFolderError, WrongUseError
from pytest_kmigrate.model.verdict import About, Outcome, Verdict
from pytest_kmigrate.recording.reading import verify_manifest
from pytest_kmigrate.recording.seals import recorded_seals
from pytest_kmigrate.recording.still_folder import StillFolder
from pytest_kmigrate.recording.verdicts import as_json, has_outcomes_by_requirement, stored_verdicts

_COMPARED = ("check", "outcome", "kind", "summary", "count", "violations", "known_bugs", "standing")


@dataclass(frozen=True)
class JudgedAgain(Judgement):
    """Verdicts computed from a run folder as it is now."""

    profile: str
    """The document that it is judged by."""
    is_complete: bool
    """Whether the folder has a manifest (and every file is as it says)."""
    is_sealed: bool
    """Whether the end of the run vouches for all lines before it; never in folders of version 0.1."""
    has_stored: bool
    differences: tuple[str, ...]
    """One sentence for every stored verdict that is not the same now."""

    @property
    def outcome(self) -> Outcome:
        """The worst verdict; of a run that was interrupted, never a pass."""
        worst = super().outcome
        return worst if self.is_complete else max(worst, Outcome.INCONCLUSIVE)


def judge_again(path: Path, profile: str | None = None, *, has_reports: bool = True) -> JudgedAgain:
    """Judge a run folder from its evidence alone; nothing in it is written, so its manifest stays true.

    ``profile``: another document that judges runs of the run's own; what is stored is compared with the run's own only.
    WrongUseError for one that does not. ``has_reports=False``: those of the run may be missing. RunFolderError when it
    is no run folder, or when files are not what its manifest says: such evidence proves nothing.
    """
    folder = StillFolder(path)
    is_complete = folder.manifest.is_file()
    history = read_to_judge(folder)
    own = history.header.profile
    by = judging(profile or own, own)
    if is_complete:
        verify_manifest(folder, has_reports=has_reports)
    try:
        verdicts = fitted(judged_as(by, history), disagreements(folder, history))
    except WrongUseError as error:
        raise RunFolderError(f"{folder.history}: {error}; judge it with the release that recorded it") from error
    is_sealed, has_stored = recorded_seals(tuple(history.events)) is not None, folder.verdicts.is_file()
    differences: tuple[str, ...] = ()
    if has_stored and by.id == own:
        stored = stored_verdicts(folder)
        # What seals a run writes outcomes by requirement, too: verdicts without them were written by others.
        is_by_requirement = is_sealed or has_outcomes_by_requirement(folder)
        differences = _differences(stored, verdicts, is_by_requirement=is_by_requirement)
    return JudgedAgain(history.header, verdicts, by.id, is_complete, is_sealed, has_stored, differences)


def _differences(stored: Sequence[Verdict], now: Sequence[Verdict], *, is_by_requirement: bool) -> tuple[str, ...]:
    """Folders of version 0.1 are compared by the checks that it judged."""
    before, after = _numbered(stored), _numbered(now)
    found = []
    for key in dict.fromkeys([*before, *after]):
        if key not in before:
            found += [f"{key[0]}: not stored, now {after[key].outcome.name}"] if is_by_requirement else []
        elif key not in after:
            found.append(f"{key[0]}: stored {before[key].outcome.name}, now not judged")
        else:
            found += _difference(before[key], after[key], is_by_requirement=is_by_requirement)
    return tuple(found)


def _numbered(verdicts: Sequence[Verdict]) -> dict[tuple[str, int], Verdict]:
    """Verdicts by their check, and the how manieth of it: releases judge in different orders."""
    seen = Counter[str]()
    found = {}
    for verdict in verdicts:
        found[verdict.check, seen[verdict.check]] = verdict
        seen[verdict.check] += 1
    return found


def _difference(before: Verdict, after: Verdict, *, is_by_requirement: bool) -> list[str]:
    unlike = [key for key in _COMPARED if getattr(before, key) != getattr(after, key)]
    if unlike:
        stored, now = (as_json(each) for each in (before, after))
        reported = [f"{key} stored {_short(stored[key])}, now {_short(now[key])}" for key in unlike[:2]]
    else:
        reported = _difference_by_requirement(before.about, after.about) if is_by_requirement else []
    return [f"{after.check}: {'; '.join(reported)}"] if reported else []


def _difference_by_requirement(before: Sequence[About], after: Sequence[About]) -> list[str]:
    """Certificates count by requirements, so a verdict is stored as it was judged for each of them."""
    for stored, now in zip_longest(before, after):
        if stored != now:
            named = (now or stored).requirement
            return [f"for {named} stored {_short(_about(stored))}, now {_short(_about(now))}"]
    return []


def _about(about: About | None) -> str:
    if about is None:
        return "nothing"
    known_as = f" (known as: {', '.join(about.known_bugs)})" if about.known_bugs else ""
    return f"{about.outcome.name} of {about.seen}{known_as}: {about.summary}".removesuffix(": ")


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
