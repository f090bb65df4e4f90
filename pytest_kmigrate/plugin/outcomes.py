"""From verdicts to a pytest outcome: what is raised, and its text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kmigrate.catalogue import KnownBug, described, find_bug, known_bug
from pytest_kmigrate.model.errors import NotApplicableError
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.verdict import Outcome, Verdict, merged

if TYPE_CHECKING:
    from pytest_kmigrate.judging.judge import Judgement
    from pytest_kmigrate.running import Run

_MOST_SHOWN = 3


class ViolationError(AssertionError):
    """A requirement is violated."""


class KnownBugError(ViolationError):
    """Nothing else is violated than what known bugs or departures of the release explain: ``bugs``, by their ids."""

    def __init__(self, text: str, bugs: frozenset[str]) -> None:
        self.bugs = bugs
        super().__init__(text)


class MetBeforeError(KnownBugError):
    """A complete run of the same test, which is not run again, met a known bug."""


class InconclusiveError(AssertionError):
    """Nothing could be said; never a pass."""


@dataclass(frozen=True)
class Judged:
    """What became of one test."""

    folder: Path
    outcome: Outcome
    verdicts: Sequence[Verdict]


_JUDGED = pytest.StashKey[Judged]()
_EXPECTED = pytest.StashKey[Sequence[KnownBug]]()
_MET = pytest.StashKey[KnownBug]()
_ENDING = pytest.StashKey[Ending]()
_RUN = pytest.StashKey["Run"]()
_TRIED = pytest.StashKey[bool]()


def forget(item: pytest.Item) -> None:
    """Keep nothing of the last attempt at a test, which begins anew."""
    keys: tuple[pytest.StashKey[Any], ...] = (_JUDGED, _MET, _ENDING, _RUN, _TRIED)
    for key in keys:
        if key in item.stash:
            del item.stash[key]


def remember(item: pytest.Item, judged: Judged) -> None:
    """Keep it for the report of this test."""
    item.stash[_JUDGED] = judged


def judged_of(item: pytest.Item) -> Judged | None:
    """What became of a test, if it was judged."""
    return item.stash.get(_JUDGED, None)


def remember_run(item: pytest.Item, run: "Run") -> None:
    """Keep the live run of a test, for an end of it before ``verify``."""
    item.stash[_RUN] = run


def run_of_test(item: pytest.Item) -> "Run | None":
    """The live run of a test, if it has one."""
    return item.stash.get(_RUN, None)


def is_first_try(item: pytest.Item) -> bool:
    """Whether the run of a test that did not call ``verify`` is to be judged now; at most once it is."""
    is_tried = item.stash.get(_TRIED, False)
    item.stash[_TRIED] = True
    return not is_tried


def remember_ending(item: pytest.Item, ending: Ending) -> None:
    """How the test itself ended; its run may not be judged yet."""
    item.stash[_ENDING] = ending


def ending_of(item: pytest.Item) -> Ending:
    """How the test itself ended; FAILED for one that never began."""
    return item.stash.get(_ENDING, Ending.FAILED)


def is_cut_off(item: pytest.Item) -> bool:
    """Whether a Ctrl-C came before the test itself had ended: how it would have, is not known."""
    return item.session.exitstatus == pytest.ExitCode.INTERRUPTED and _ENDING not in item.stash


def expect_of(item: pytest.Item, bugs: Sequence[KnownBug]) -> None:
    """These bugs may show in this test, with the release under test."""
    item.stash[_EXPECTED] = bugs


def expected_of(item: pytest.Item) -> Sequence[KnownBug]:
    """The bugs that may show in this test."""
    return item.stash.get(_EXPECTED, ())


def bug_met(item: pytest.Item, error: BaseException | None) -> KnownBug | None:
    """The bug that ended a test, of which the error is a KnownBugError; remembered for the end of the run.

    One that the test is marked with goes first.
    """
    if not isinstance(error, KnownBugError):
        return None
    expected = [bug for bug in expected_of(item) if bug.id in error.bugs]
    item.stash[_MET] = bug = expected[0] if expected else known_bug(min(error.bugs))
    return bug


def met_by(item: pytest.Item) -> KnownBug | None:
    """The known bug that a test has ended by, if by one."""
    return item.stash.get(_MET, None)


def raise_for(judgement: "Judgement", folder: Path, *, is_strict: bool = False) -> None:
    """Raise ViolationError or InconclusiveError unless everything conforms; KnownBugError if all of it is known.

    ``is_strict``: whatever violates is a ViolationError, also where it is known and does not count for the run.
    """
    verdicts = [each for each in judgement.verdicts if each.counts or (is_strict and each.outcome is Outcome.VIOLATES)]
    outcome = merged(verdict.outcome for verdict in verdicts)
    if outcome is Outcome.CONFORMS:
        _raise_for_gone(judgement, folder)
        return
    if outcome is Outcome.NOT_APPLICABLE:
        raise NotApplicableError("; ".join(verdict.summary for verdict in verdicts))
    worst = [verdict for verdict in verdicts if verdict.outcome is outcome]
    reported = list(dict.fromkeys(_told(verdict) for verdict in worst))
    text = "\n".join([*reported, f"evidence: {folder}", f"again: {judgement.header.circumstances.reproduce}"])
    if outcome is Outcome.INCONCLUSIVE:
        raise InconclusiveError(text)
    causes = [each for verdict in worst for each in verdict.causes or (verdict.known_bugs,)]
    met = [{each for each in cause if _is_known(each, judgement.header)} for cause in causes]
    raise KnownBugError(text, frozenset().union(*met)) if all(met) and not is_strict else ViolationError(text)


def _is_known(bug_id: str, header: RunHeader) -> bool:
    """Whether the release under test has a bug."""
    bug = find_bug(bug_id)
    return bug is not None and bug.breaks(header.kafka)


def _raise_for_gone(judgement: "Judgement", folder: Path) -> None:
    """Raise ViolationError where a deviation that is always there was not: the list of them is wrong."""
    from pytest_kmigrate.judging.explaining import deviations_gone

    gone = deviations_gone(judgement.header, judgement.verdicts)
    if gone:
        named = "; ".join(f"{each.requirement} (known as {each.id}: {each.seen})" for each in gone)
        kafka = judgement.header.kafka
        raise ViolationError(
            f"expected the known deviations of Kafka {kafka}, and these requirements conform: {named}: "
            f"correct `broken` in deviations.toml\nevidence: {folder}"
        )


def _told(verdict: Verdict) -> str:
    kind = f" ({verdict.kind.value})" if verdict.kind else ""
    lines = [f"{verdict.outcome.name}{kind} {verdict.check}: {verdict.summary}"]
    lines += [f"  {each}" for each in described(verdict.known_bugs)]
    for violation in verdict.violations[:_MOST_SHOWN]:
        lines += [f"  expected: {violation.expected}", f"  observed: {violation.observed}"]
        lines += [f"  evidence: {', '.join(violation.evidence)}"] if violation.evidence else []
    if verdict.count > _MOST_SHOWN:
        lines.append(f"  and {verdict.count - _MOST_SHOWN} more in verdicts.jsonl")
    return "\n".join(lines)
