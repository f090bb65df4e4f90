"""Runs whose harness died: each stream of their evidence may lack its end, also one that others do not lack."""

from dataclasses import replace

from pytest_kmigrate.model.event import EventKind, Recorded
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.history import History
from pytest_kmigrate.recording.reading import torn_streams
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.seals import broken_seals, recorded_seals

TAIL_S = 30
"""How long what was written may not be on the disk yet: Linux writes a page after 30 s at the latest."""


def without_its_tail(folder: RunFolder, history: History) -> History:
    """The history of a run that was interrupted with the moment from which it may lack evidence; others as they are."""
    if folder.manifest.is_file() or _is_whole(folder, history):
        return history
    return replace(history, death=_death(folder, history))


def _is_whole(folder: RunFolder, history: History) -> bool:
    """Whether the end of the run is there, and all that it vouches for; in older folders it vouches for nothing."""
    if not history.events or history.events[-1].kind is not EventKind.RUN_ENDED:
        return False
    return not list(broken_seals(folder, recorded_seals(tuple(history.events)) or {}))


def _death(folder: RunFolder, history: History) -> Recorded[HarnessTrouble]:
    ends = [max((each.at_ns for each in stream), default=0) for stream in (history.events, history.samples) if stream]
    at_ns = max(min(ends, default=0) - TAIL_S * 10**9, 0)
    before = [each.seq for each in history.events if each.at_ns <= at_ns]
    torn = torn_streams(folder)
    lacking = f"the last {TAIL_S} s of its evidence may be missing"
    error = f"{lacking}; the last line of {', '.join(torn)} is torn" if torn else lacking
    trouble = HarnessTrouble("the run was interrupted", error)
    return trouble.event(max(before, default=0), at_ns, None)
