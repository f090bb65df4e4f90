"""Judges a run from its folder alone: the same for a run just ended and for one of last year."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.catalogue import known_bugs
from pytest_kmigrate.checkers.controllers.quorum import quorum_claims
from pytest_kmigrate.checkers.registry import judge, recorded_checks
from pytest_kmigrate.checkers.run.doubts import doubted
from pytest_kmigrate.documents.kip_866.checks.log_images import has_log_images
from pytest_kmigrate.documents.kip_866.checks.migration_znode import MIGRATION
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, merged
from pytest_kmigrate.recording.asking import kafka_asked_for
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.recorder import write_verdicts
from pytest_kmigrate.recording.run_folder import RunFolder

_ALWAYS = ("no_unexpected_death", "steps_completed")
_UNFINISHED = "the test ended before it said what shall be judged"
_ONE_PER_EPOCH = "one_active_controller_per_epoch"


@dataclass(frozen=True)
class Judgement:
    """All that judging a folder tells: whose run it is, and the verdicts."""

    header: RunHeader
    verdicts: Sequence[Verdict]

    @property
    def outcome(self) -> Outcome:
        """The worst verdict."""
        return outcome_of(self.verdicts)


def checks_of(history: History) -> list[Check]:
    """What the test asked to be judged, and what is judged in every run that shows it at all."""
    asked = recorded_checks(history)
    names = list(_ALWAYS)
    if history.of(EventKind.MIGRATION_STATE):
        names.append("migration_state_moves_along_legal_edges")
    # Controllers of a cluster born in KRaft mode have a migration state, too, and no znodes to claim.
    if history.of(EventKind.MIGRATION_STATE) and history.znodes:
        names += (_ONE_PER_EPOCH, "controller_epoch_never_falls")
    elif any(quorum_claims(history)):
        names.append(_ONE_PER_EPOCH)
    if history.of(EventKind.FAULT_BEGAN, EventKind.FAULT_NOT_WITNESSED):
        names.append("every_fault_was_witnessed")
    if history.header.extra.get("byteman"):
        names.append("mutant_was_in_force")
    if history.of(EventKind.METADATA_CHANGE):
        names.append("metadata_changes_stay_accepted")
    if history.of(EventKind.EXPECTATION):
        names.append("expectations_met")
    if any(change.path == MIGRATION and change.data is not None for change in history.znodes):
        names += ("migration_znode_never_moves_back", "controller_znodes_tell_who_and_how_far")
    if has_log_images(history):
        names += ("copy_is_one_transaction", "migration_metrics_agree_with_the_log")
    standing = [Check(name) for name in names if name not in {check.name for check in asked}]
    return [*asked, *standing]


def judged(history: History) -> list[Verdict]:
    """The verdicts on a history; of a test that ended before it asked for any, at best inconclusive ones."""
    verdicts = with_known_bugs(judge(history, checks_of(history)), kafka_asked_for(history.header))
    if history.of(EventKind.CHECKS):
        return verdicts
    return [doubted(verdict, Kind.VACUOUS, _UNFINISHED) for verdict in verdicts]


def judge_folder(folder: RunFolder) -> Judgement:
    """Judge a run folder, which is read once, and (re)write its ``verdicts.jsonl``."""
    history = read_history(folder)
    verdicts = judged(history)
    write_verdicts(folder, verdicts)
    return Judgement(history.header, verdicts)


def with_known_bugs(verdicts: Iterable[Verdict], kafka: str) -> list[Verdict]:
    """The same, each red one with the known Kafka bugs that look like it; ``kafka`` as it was asked for.

    A distribution given by path has none of them, whatever release its jars name: see ``KnownBug.breaks``.
    """
    return [
        replace(verdict, known_bugs=tuple(bug.id for each in _signatures(verdict) for bug in known_bugs(each, kafka)))
        for verdict in verdicts
    ]


def outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    """The worst verdict; none at all is INCONCLUSIVE."""
    return merged(verdict.outcome for verdict in verdicts)


def _signatures(verdict: Verdict) -> list[str]:
    return verdict.listed("signatures") if verdict.outcome is Outcome.VIOLATES else []
