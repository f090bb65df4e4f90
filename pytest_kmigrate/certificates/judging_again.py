"""Judges the runs of a certificate again, on all cores: no stored verdict is believed."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from pytest_kmigrate.certificates.evidence_of_runs import unreadable
from pytest_kmigrate.judging.coherence.coherence import COHERENT
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.limits import processors
from pytest_kmigrate.model.errors import EnvironmentLackError, RunFolderError
from pytest_kmigrate.recording.run_folder import EVIDENCE, RunFolder

Progress = Callable[[int, int], None]
"""Called with the number of judged runs, and of all."""
_OF_AN_EARLIER_RELEASE = "an earlier release recorded it, without digests of logs: run its test again"
_OF_A_LATER_RELEASE = "a later release recorded it: certify and verify it with that one"


def differing(folders: Sequence[RunFolder], progress: Progress, *, has_reports: bool) -> list[str]:
    """Sentences about runs whose evidence does not lead to their stored verdicts, or does not fit together."""
    if len(folders) < 2:
        return [each for folder in folders for each in _differences(folder.path, has_reports=has_reports)]
    return list(_judged_by_workers(folders, progress, has_reports=has_reports))


def _judged_by_workers(folders: Sequence[RunFolder], progress: Progress, *, has_reports: bool) -> Iterator[str]:
    with ProcessPoolExecutor(min(processors(), len(folders)), get_context("fork")) as workers:
        judged = [workers.submit(_differences, folder.path, has_reports=has_reports) for folder in folders]
        for done, each in enumerate(judged, 1):
            yield from _result_of(each)
            progress(done, len(folders))


def _result_of(judged: "Future[list[str]]") -> list[str]:
    try:
        return judged.result()
    except BrokenProcessPool as error:
        raise EnvironmentLackError(
            "a process that judged runs again was ended, perhaps for want of memory: make room, and try again"
        ) from error


def _differences(path: Path, *, has_reports: bool) -> list[str]:
    try:
        again = judge_again(path, has_reports=has_reports)
    except RunFolderError as error:
        return [f"{path.name}: {error}"]
    except OSError as error:
        return [f"{path.name}: {unreadable(error)}"]
    except Exception as error:  # noqa: BLE001 - values that no recorder writes end in errors of any kind, in any check
        return [f"{path.name}: expected evidence as this release records it, got {type(error).__name__}: {error}"]
    if not again.has_stored:
        return [f"{path.name}: no verdicts.jsonl: the run was never judged"]
    if again.header.evidence != EVIDENCE:
        is_earlier = again.header.evidence < EVIDENCE
        return [f"{path.name}: {_OF_AN_EARLIER_RELEASE if is_earlier else _OF_A_LATER_RELEASE}"]
    unsealed = [] if again.is_sealed else [f"{path.name}: its last event has no seals: record it with this release"]
    disagreeing = [verdict.summary for verdict in again.verdicts if verdict.check == COHERENT and again.differences]
    return [*unsealed, *(f"{path.name}: {each}" for each in (*disagreeing, *again.differences))]
