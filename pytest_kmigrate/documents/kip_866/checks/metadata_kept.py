"""Check of what a way back leaves: every change of metadata that was made during the migration is in effect."""

from pytest_kmigrate.checkers.controllers.lives import life_starts_ns
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.acknowledged import Lost, looked_for
from pytest_kmigrate.checkers.metadata.changes import State
from pytest_kmigrate.documents.kip_866.checks.settled import LOG, Settled, settled_images
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_ROW = "K866-RB-metadata-kept"


@checker(
    _ROW,
    in_every_run=lambda history: bool(life_starts_ns(history)),
    anomaly="metadata lost on the way back",
)
def metadata_changed_in_the_migration_outlives_it(history: History) -> Verdict:
    """After a way back ZooKeeper and the brokers hold what had been acknowledged before, in the migration or earlier.

    Judged by images taken in the phase ZOOKEEPER, by changes that no later one undid.
    """
    rows, looked, images = ByRequirement(_ROW), 0, list[str]()
    for settled in settled_images(history):
        if settled.phase != Phase.ZOOKEEPER.name or not settled.life:
            continue
        for label in (each for side, each in settled.labels.items() if side != LOG):
            found = looked_for(history, label)
            held = sum(_is_of_former_life(history, settled, state) for state in found.held)
            lost = [each for each in found.lost if _is_of_former_life(history, settled, each.state)]
            rows.looked_at(_ROW, held)
            looked += held
            for each in lost:
                rows.violated(_ROW, _violation(history, settled, label, each))
            if lost:
                images.append(label)
    text = f"{counted(looked, 'value')} acknowledged before a way back, all there after it"
    lacking = "no metadata was looked at after a way back"
    return rows.verdict(text, lacking, images=images)


def _is_of_former_life(history: History, settled: Settled, state: State) -> bool:
    """Whether it was changed last while the metadata log lived that has been left since, or before."""
    return state.last.at_ns <= life_starts_ns(history)[settled.life - 1]


def _violation(history: History, settled: Settled, label: str, lost: Lost) -> Violation:
    state = lost.state
    observed = f"it is {state.reported(lost.observed)}"
    expected = f"{state.subject} is {state.expected} in {label}, as acknowledged before the way back"
    return timed_violation(history, expected, observed, settled.ended_ns, f"image {label}", f"event {state.last.seq}")
