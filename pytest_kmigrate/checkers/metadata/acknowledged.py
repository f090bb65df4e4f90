"""Check of acknowledged metadata changes: what was acknowledged is in a view of the metadata."""

from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted, listed
from pytest_kmigrate.checkers.metadata.changes import State, admissible_states
from pytest_kmigrate.checkers.metadata.snapshots import changes_before, missing_images
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


@dataclass(frozen=True)
class Lost:
    """Something acknowledged that does not hold."""

    state: State
    observed: object

    @property
    def place(self) -> tuple[str, str]:
        """Family and key of the metadata."""
        return self.state.family, self.state.slot[1]


@dataclass(frozen=True)
class Looked:
    """What became of all that had been changed when an image was taken."""

    held: list[State]
    lost: list[Lost]
    unknown: list[str]
    """Families that were changed and that the image does not know."""
    silent: list[str]
    """Brokers whose configs were changed and that did not report them."""
    unanswered: list[str]
    """Families that were changed, each with the brokers that did not answer about it, in words."""


def looked_for(history: History, label: str) -> Looked:
    """Every acknowledged change made before the image of this label was taken, looked for in it."""
    image = history.images[label]
    states = admissible_states(changes_before(history, label))
    unknown = sorted({state.family for state in states if state.family not in image.known})
    silent = sorted(image.silent & {state.slot[1] for state in states if state.family == "configs"})
    changed = {state.family for state in states}
    unanswered = [
        f"{', '.join(who)} did not answer about {what}"
        for what, who in image.of_brokers.get("unanswered", {}).items()
        if what in changed
    ]
    gone = _rightly_gone(states, image)
    held, lost = [], []
    for state in states:
        if not state.is_acknowledged or state.family not in image.known or state.slot[1] in silent:
            continue
        observed = state.observed_in(image)
        if state.admits(observed) or (observed is None and state.topic in gone):
            held.append(state)
        else:
            lost.append(Lost(state, observed))
    return Looked(held, lost, unknown, silent, unanswered)


@checker(needs=[Capability.CHANGE])
def acknowledged_metadata_changes_present(history: History, label: str) -> Verdict:
    """Every acknowledged metadata change made before the image was taken holds in it, unless a later one undid it.

    An indefinite change may take effect at any time after it began, so it may hold or not, also after later ones.
    Acknowledged changes that overlap in time may hold in either order.
    """
    lacking = missing_images(history, label)
    if lacking:
        return inconclusive(Kind.HARNESS, lacking)
    looked = looked_for(history, label)
    judged = len(looked.held) + len(looked.lost)
    facts = {"images": [label], "judged": judged, "families_not_judged": looked.unknown}
    if not judged:
        text = f"no acknowledged metadata change that {label} could show"
        return inconclusive(Kind.VACUOUS, text, **facts)
    if looked.lost:
        found = [_violation(history, label, each) for each in looked.lost]
        names = listed([violation.expected for violation in found], "value", "; ")
        text = f"{len(found)} of {_values(judged)} not in {label}: {names}"
        return violates(Kind.SAFETY, found, text, **facts)
    untold = [
        *([f"{', '.join(looked.silent)} did not report its configs"] if looked.silent else []),
        *looked.unanswered,
    ]
    if untold:
        text = f"{'; '.join(untold)} in {label}; all else that was acknowledged holds"
        return inconclusive(Kind.INFRA, text, **facts)
    return conforms(f"{_values(judged)} {'holds' if judged == 1 else 'hold'} in {label}", **facts)


def _values(judged: int) -> str:
    """What is judged in words: a change may be acknowledged for several values, as a new topic's partitions."""
    return counted(judged, "acknowledged value of metadata", "acknowledged values of metadata")


def _violation(history: History, label: str, lost: Lost) -> Violation:
    state, at = lost.state, lost.state.last.at_ns
    expected = f"{state.subject} is {state.expected} (acknowledged {when(history, at)})"
    reported = f"{state.reported(lost.observed)} in {label}"
    return violation_at(history, expected, reported, at, f"event {state.last.seq}", f"image {label}")


def _rightly_gone(states: list[State], image: MetadataImage) -> set[str]:
    """Topics that are absent and may be: what was said of them otherwise need not hold either."""
    absent = [state for state in states if state.family == "topics" and state.observed_in(image) is None]
    return {state.topic for state in absent if None in state.admissible}
