"""A procedure that an operator walks himself, on a cluster that stands: watched into a run folder, and judged."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from pytest_kmigrate.documents import document
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.event import PHASE, Ending, is_a
from pytest_kmigrate.model.events.steps import StateChanged
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.header import Claim, RunSettings
from pytest_kmigrate.running.run import Run, open_run
from pytest_kmigrate.waiting import NotYet, until

_LOOKED_EVERY_S = 0.2
_FOR_EVER_S = float("inf")


@dataclass(frozen=True)
class Observation:
    """What is watched, until its document's procedure has come to ``value``; ``command`` watches once more."""

    profile: str
    value: str
    command: Sequence[str]

    @property
    def document(self) -> Document:
        """The document; WrongUseError when no procedure of it can be watched, or none comes to this value."""
        found = document(self.profile)
        values = [step.reaches[1] for step in found.procedure]
        if found.watching is None:
            raise WrongUseError(f"--profile: expected a document whose procedure can be watched; got {self.profile}")
        if self.value not in values:
            raise WrongUseError(f"--until: expected one of {', '.join(values)}; got {self.value}")
        return found


def observe(
    settings: RunSettings,
    provider: Provider,
    topology: Topology,
    observation: Observation,
    finish: Callable[[RunFolder], None],
    notify: Callable[[str], None],
) -> RunFolder:
    """Watch until the value is reached, or until a Ctrl-C; what was seen up to then is judged either way."""
    of = observation.document
    settings = replace(settings, profile=observation.profile)
    claim = Claim(f"observed/{topology.name}", observed=observation.command)
    with open_run(settings, provider, topology, claim, finish) as run:
        watch = _Watch(run, of, notify)
        notify(f"watching {topology.name} into {run.folder.path}; Ctrl-C judges what was seen until then")
        with suppress(KeyboardInterrupt):
            until(
                lambda: watch.look() == observation.value or NotYet(watch.last),
                awaited=observation.value,
                within_s=_FOR_EVER_S,
                every_s=_LOOKED_EVERY_S,
            )
        judgement = run.verify(watch.checks(observation.value))
        is_green = judgement.outcome in (Outcome.CONFORMS, Outcome.NOT_APPLICABLE)
        run.ended(Ending.PASSED if is_green else Ending.FAILED)
    return run.folder


class _Watch:
    """Follows the states that a run records; at each value of the procedure images are taken."""

    def __init__(self, run: Run, of: Document, notify: Callable[[str], None]) -> None:
        assert of.watching is not None, "the observation has a document that can be watched"
        self.last: str | None = None
        self._images: list[Sequence[str]] = []
        self._watching = of.watching
        self._run = run
        self._tell = notify
        self._looked = 0

    def look(self) -> str | None:
        """The phase as last recorded; a new one is reported, and what can be seen of the metadata compared."""
        events = self._run.recorder.events
        new = [event for event in events[self._looked :] if is_a(event, StateChanged)]
        self._looked = len(events)
        for event in new:
            if event.what.of == PHASE:
                self.last = event.what.state
                self._tell(f"{event.at_ns / 1e9:6.1f} s  {self.last}")
                self._compare(self.last)
        return self.last

    def checks(self, value: str) -> Sequence[Check]:
        """What is judged besides every run."""
        return self._watching.checks(value, self._images)

    def _compare(self, value: str) -> None:
        label = value.lower()
        sides = self._run.metadata.visible(self._watching.sides.get(value, ()))
        if len(sides) > 1 and all(f"{label}-{side}" not in labels for labels in self._images for side in sides):
            with suppress(ClusterError):  # an election, say: what cannot be seen now is not compared
                self._run.metadata.settle(label, sides)
                self._images.append([f"{label}-{side}" for side in sides])
