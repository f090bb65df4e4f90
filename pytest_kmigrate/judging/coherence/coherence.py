"""Applies all coherence checks to one run folder: what does not fit together proves nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_kmigrate.checkers.run.doubts import doubted
from pytest_kmigrate.judging.coherence import (
    beginning,
    clients,
    completeness,
    events,
    header,
    logs,
    seeds,
    streams,
    targets,
)
from pytest_kmigrate.judging.planning.planned import of_its_plan
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, inconclusive
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.log_digests import broken_logs
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.seals import broken_seals, recorded_seals

COHERENT = "evidence_fits_together"
"""The check of a run whose evidence does not."""

_MOST_NAMED = 5

_OF_HISTORIES: tuple[Callable[[History], Iterator[Disagreement]], ...] = (
    events.numbered,
    events.in_order,
    events.states_follow,
    events.faults_begin,
    events.expectations_agree,
    events.lives_follow,
    events.images_are_there,
    clients.counts_are_rows,
    clients.within_the_workload,
    clients.sends_are_numbered,
    clients.offsets_have_no_holes,
    streams.within_the_run,
    streams.samples_are_numbered,
    streams.znodes_are_numbered,
    streams.znodes_grow,
    streams.transactions_grow,
    streams.znodes_have_their_transactions,
    streams.znodes_have_the_time,
    header.releases_are_named,
    header.releases_have_their_jars,
    beginning.inherited_was_there,
    beginning.scenes_have_a_cluster,
    completeness.streams_are_there,
    completeness.kills_have_ends,
    seeds.seeds_agree,
    seeds.keys_are_drawn,
    seeds.changes_are_drawn,
    seeds.targets_are_drawn,
    targets.targets_are_meant,
    of_its_plan,
)


def disagreements(folder: RunFolder, history: History) -> list[Disagreement]:
    """Pairs of facts of one run that exclude each other; none in honest evidence."""
    found = [each for check in _OF_HISTORIES for each in check(history)]
    found += header.run_id_is_derived(folder, history.header)
    found += broken_logs(folder, history.events)
    found += logs.logs_have_their_release(folder, history)
    found += logs.logs_have_the_time(folder, history)
    seals = recorded_seals(tuple(history.events))
    return [*found, *(broken_seals(folder, seals) if seals is not None else ())]


def fitted(verdicts: Iterable[Verdict], found: Sequence[Disagreement]) -> list[Verdict]:
    """The verdicts of a run with these disagreements: violations stand, nothing conforms."""
    if not found:
        return list(verdicts)
    named = "; ".join(map(str, found[:_MOST_NAMED]))
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    because = f"the evidence does not fit together: {named}{more}"
    return [
        *(doubted(each, Kind.HARNESS, because) for each in verdicts),
        inconclusive(Kind.HARNESS, because).by(COHERENT),
    ]
