"""Check that nothing of a copy is seen before its transaction has ended, and nothing of an aborted one ever."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns, processes
from pytest_kmigrate.checkers.controllers.raft_logs import high_watermark
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.log_images import LogImage, log_images
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates


@dataclass(frozen=True)
class _Look:
    """Samples of one process, all of before the end of the copy was committed as far as that process knew."""

    shown: Sequence[Sample]
    """Those in which it showed topics."""
    hidden: Sequence[Sample]
    """Those in which it showed none, with topics of a copy committed in its log."""


@checker("K866-PROC-transaction-invisible", needs=[Capability.METRICS, Capability.METADATA_LOG])
def copy_shows_only_when_ended(history: History) -> Verdict:
    """No controller publishes a topic of the copy before the copy's transaction has ended; an aborted copy adds none.

    Judged by ``GlobalTopicCount``, which a controller takes from the image that its metadata loader published, as
    brokers in KRaft mode take theirs. Offsets say what is early, not times: a high watermark only rises, so a count
    that was read before a high watermark at or below the end of the copy is from before that end. Brokers in
    ZooKeeper mode know all the topics anyway, and show nothing. Before metadata.version 3.6-IV1 there are no
    transactions. Source: K866-PROC-transaction-invisible, K866-FAIL-crash-during-copy.
    """
    images = log_images(history)
    if images and not any(log.has_transactions for log in images):
        return not_applicable("the metadata version knows no transactions")
    by_life = {log.life: log for log in reversed(images) if log.hidden}
    if not by_life:
        return inconclusive(Kind.VACUOUS, "no image of a metadata log shows where topics were copied")
    looks = _looks(history, by_life)
    found = [_shown(history, by_life, look.shown[0]) for look in looks if look.shown]
    if found:
        return violates(Kind.SAFETY, found)
    hidden = [sample for look in looks for sample in look.hidden]
    if len(hidden) < FEWEST:
        return inconclusive(Kind.VACUOUS, "no controller was looked at with topics copied and the copy not ended")
    nodes = {sample.node for sample in hidden}
    text = f"{counted(len(hidden), 'sample')} of {counted(len(nodes), 'controller')} with copied topics in the log"
    return conforms(f"{text} and the copy not ended, none of which shows a topic", samples=len(hidden))


def _looks(history: History, by_life: Mapping[int, LogImage]) -> list[_Look]:
    starts = life_starts_ns(history)
    found = []
    for samples in processes(history, "controller"):
        log = by_life.get(life_at(starts, samples[0].at_ns))
        if log and log.hidden:
            found.append(_look(samples, *log.hidden))
    return found


def _look(samples: Sequence[Sample], first_topic: int, end: int) -> _Look:
    """What was read between the first high watermark above the first topic and the last one not above the end."""
    committed = [high_watermark(sample) for sample in samples]
    last = max((at for at, up_to in enumerate(committed) if 0 <= up_to <= end), default=0)
    first = next((at for at, up_to in enumerate(committed) if up_to > first_topic), last)
    return _Look(
        shown=[sample for sample in samples[:last] if (sample.values.get("GlobalTopicCount") or 0) > 0],
        hidden=[sample for sample in samples[first + 1 : last] if sample.values.get("GlobalTopicCount") == 0],
    )


def _shown(history: History, by_life: Mapping[int, LogImage], sample: Sample) -> Violation:
    log = by_life[life_at(life_starts_ns(history), sample.at_ns)]
    expected = f"no topic is seen before the copy ends (offset {log.hidden[1] if log.hidden else '?'})"
    topics = counted(int(sample.values["GlobalTopicCount"] or 0), "topic")
    observed = f"{sample.node} showed {topics} {when(history, sample.at_ns)}, before that was committed"
    return violation_at(history, expected, observed, sample.at_ns, log.file, "metrics/metrics.jsonl")
