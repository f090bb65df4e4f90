"""Under what a run of a planned test was made: provider, beginning, instruments and faults."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from pytest_kmigrate.faults.schedules.schedule import end_of_name
from pytest_kmigrate.judging.coherence.header import name_under_test
from pytest_kmigrate.judging.planning.plan import PlannedTest
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Event, only
from pytest_kmigrate.model.events.evidence import EndExpected
from pytest_kmigrate.model.events.faults import FaultBegan
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import MUTANT, RunHeader
from pytest_kmigrate.model.provider_names import ATTACH, DOCKER, PROCESS, PROVIDERS
from pytest_kmigrate.recording.asking import options_asked_for, options_in
from pytest_kmigrate.recording.disagreement import Disagreement

_BYTEMAN = "byteman"
"""The option by which rules are loaded, and the key of a header that has them."""


def other_conditions(header: RunHeader, events: Sequence[Event], planned: PlannedTest) -> Iterator[Disagreement]:
    """A condition that would weaken a test, or excuse what it shows; none of an honest run of this release."""
    if header.circumstances.observed:
        yield Disagreement("the plan is of tests", "run.json says that an operator was watched, and nothing tested")
    yield from _another_provider(header, events)
    yield from _beyond_the_provider(header, planned)
    yield from _without_classes(header)
    yield from _another_beginning(header, planned)
    yield from other_instruments(header)
    yield from _asked_otherwise(header)
    expected = next(iter(only(events, EndExpected)), None)
    if expected is not None and not planned.ends:
        nodes = ", ".join(expected.what.nodes)
        yield Disagreement("the plan expects no node to end by itself", f"event {expected.seq} expects that of {nodes}")
    if header.schedule is None:
        yield from _faults_beyond(events, planned)
    elif not planned.test.endswith(f"{end_of_name(header.schedule)}]"):
        yield Disagreement(f"the plan has the schedule of {planned.test.rpartition('::')[2]}", "run.json has another")


def _another_provider(header: RunHeader, events: Sequence[Event]) -> Iterator[Disagreement]:
    """A provider that is none, or that is said to offer less than it does, so that requirements do not apply."""
    named = f"run.json has the provider {header.provider}"
    if header.provider not in PROVIDERS:
        yield Disagreement(named, f"there are {', '.join(PROVIDERS)}")
    lacking = sorted(frozenset(Capability) - (header.offered or frozenset()))
    if header.provider == PROCESS and lacking:
        yield Disagreement(named, f"it offers all capabilities, and run.json lacks {', '.join(lacking)}")
    if header.provider == DOCKER and not header.images:
        yield Disagreement(named, "run.json has no image that its nodes ran in")
    if header.provider != DOCKER and header.images:
        yield Disagreement(named, f"it runs no image, and run.json has {', '.join(sorted(header.images))}")
    is_ours = any((header.digests or {}).values()) or any(each.what.digest for each in only(events, NodeStarted))
    if header.provider == ATTACH and is_ours:
        yield Disagreement(named, "it knows no jars, and the run has their digest")


def _beyond_the_provider(header: RunHeader, planned: PlannedTest) -> Iterator[Disagreement]:
    """What a test needs its provider offers: else tests that need it would not apply, and this one ran."""
    lacking = sorted(planned.needs - (header.offered or frozenset()))
    if lacking:
        yield Disagreement(f"the plan needs {', '.join(lacking)} for the test", "run.json has a provider without that")


def _without_classes(header: RunHeader) -> Iterator[Disagreement]:
    """The seeds of a challenge hang on the classes, as a digest of jars changes with any byte in them."""
    own = name_under_test(header)
    if own is not None and header.provider != ATTACH and not (header.circumstances.distribution_classes or {}).get(own):
        yield Disagreement(f"run.json has the digest of the jars of {own}", "it has none of their classes")


def _another_beginning(header: RunHeader, planned: PlannedTest) -> Iterator[Disagreement]:
    """What lay there before a run is not judged in it, so a checkpoint is of the state that the test begins in."""
    begun: Mapping[str, object] | None = header.circumstances.checkpoint
    if begun is not None and begun.get("state") != planned.starts_at:
        at = planned.starts_at or "a cluster that was just started"
        yield Disagreement(
            f"the plan begins the test in {at}", f"the run began from a checkpoint of {begun.get('state')}"
        )


def other_instruments(header: RunHeader) -> Iterator[Disagreement]:
    """Rules and changed classes are in the command and in the header, or in neither."""
    asked = {**options_in(header.circumstances.command), **options_asked_for(header)}
    has = {_BYTEMAN: header.circumstances.byteman is not None, MUTANT: header.circumstances.mutant is not None}
    for option, is_there in has.items():
        if is_there and option not in options_asked_for(header):
            yield Disagreement(f"run.json has {option}", "the command that does it again does not ask for it")
        if option in asked and not is_there:
            yield Disagreement(f"the run was asked for with --kmigrate-{option}", f"run.json has no {option}")


def _asked_otherwise(header: RunHeader) -> Iterator[Disagreement]:
    """The command that does the run again has the software, the document and the members of the header."""
    asked = options_asked_for(header)
    for option, value in (("kafka", name_under_test(header)), ("profile", header.profile)):
        if value is not None and asked.get(option, value) != value:
            again = f"the command that does it again has {asked[option]}"
            yield Disagreement(f"run.json has the {option} {value}", again)
    given = header.circumstances.member
    member = shlex.join(map(str, given)) if isinstance(given, list) else ""
    if asked.get("member", "") != member:
        again = f"the command that does it again has {asked.get('member', 'none')}"
        yield Disagreement(f"run.json has the members {member or 'of the reference'}", again)


def _faults_beyond(events: Sequence[Event], planned: PlannedTest) -> Iterator[Disagreement]:
    """A fault that no plan has excuses what the cluster does meanwhile."""
    texts = {each.fault for each in planned.faults}
    free = {each.effect for each in planned.faults if each.fault is None}
    for began in only(events, FaultBegan):
        fault, effect = began.what.fault, began.what.effect
        if fault not in texts and effect not in free and None not in free:
            known = ", ".join(sorted(each.text for each in planned.faults)) or "none"
            yield Disagreement(f"the plan has the faults {known}", f"event {began.seq} begins {fault}")
            return
