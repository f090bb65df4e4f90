"""Histories that a known bug does not explain, made from one that it does: each must stay red."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_kmigrate.catalogue import deviations
from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.checkers.run.steps import expectations_met, steps_completed
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome, Verdict, Violation
from tests.tampered import ANOTHER, NOTED, OUTSIDE, WITHOUT
from tests.unit.checkers.histories import MS, change, event

_ASKED = ("images", "pairs", "families", "partition_fields", "too_long_ns")
"""Facts of a verdict that say what was asked, and not what was found."""
_OF_STEPS = (EventKind.STEP_BEGAN, EventKind.STEP_ENDED)
_TIMELESS = ("expected_ends_came", "documented_steps_end_finalized")
"""Checks whose violations are of nodes and steps: these events have the time."""
_BEFORE_NS = -60_000_000_000
"""Before anything else happened."""
_LATER_NS = 120_000_000_000
_FOUND = ("metrics", "metric", "numbers", "times", "not_ready", "are_registrations")
"""Facts that hold all that a check found, whatever its violations are."""
_AGAIN = {each.name: each for each in (expectations_met, steps_completed, no_unexpected_death)}
"""Checks that have no arguments: what they find in a tampered history is judged anew."""

Tampered = tuple[str, History, Verdict]


def tampered(run: History, verdict: Verdict, found: Sequence[str]) -> Iterator[Tampered]:
    """The tampered forms of a history that these explain, as far as its check allows them."""
    yield from ((ANOTHER, *each) for each in _with_another(run, verdict))
    if all(each in _deviations(run) for each in found):
        return  # by what was observed, at any time
    yield from ((OUTSIDE, *each) for each in _earlier(run, verdict))
    events = [_silent(each) for each in run.events if each.kind is not EventKind.NODE_INSTALLED]
    bare = replace(run, logs={}, transactions=(), znodes=(), samples=(), events=events)
    yield WITHOUT, bare, _bare(bare, verdict)


def _deviations(run: History) -> set[str]:
    return {each.id for each in deviations(run.header.profile)}


def note(kind: str, bug: str) -> None:
    """A tampered history of a bug stayed red."""
    NOTED.add((bug, kind))


def _silent(event: Event) -> Event:
    """A node or thread that ended without a word."""
    return replace(event, data={**event.data, "said": ""}) if "said" in event.data else event


def _bare(run: History, verdict: Verdict) -> Verdict:
    if verdict.check in _AGAIN and (again := _AGAIN[verdict.check].judge(run)).outcome is Outcome.VIOLATES:
        return again
    return replace(verdict, facts={key: value for key, value in verdict.facts.items() if key in _ASKED})


def _with_another(run: History, verdict: Verdict) -> Iterator[tuple[History, Verdict]]:
    """Something else of the same kind is wrong, too."""
    if verdict.listed("images"):
        yield from _with_another_place(run, verdict)
        return
    more = _another_event(run, verdict)
    if more is not None:
        worse = replace(run, events=[*run.events, more])
        yield worse, _AGAIN[verdict.check].judge(worse)
    elif found := {key: value for key, value in verdict.facts.items() if key in _FOUND}:
        more_found = {key: _with_more(value) for key, value in found.items()}
        yield run, replace(verdict, facts={**verdict.facts, **more_found})
    elif "too_long_ns" not in verdict.facts:
        other = Violation("something else holds", "it does not", _BEFORE_NS)
        yield run, _with(verdict, (*(verdict.every or verdict.violations), other))


def _with_more(fact: object) -> object:
    """What was found, and something else."""
    if isinstance(fact, Mapping):
        return {**fact, "ELSEWHERE": 9}
    return [*fact, "something-else"] if isinstance(fact, list | tuple) else "something else"


def _another_event(run: History, verdict: Verdict) -> Event | None:
    last_ns = max((each.at_ns for each in run.events), default=0)
    if verdict.check == expectations_met.name:
        data = {"name": "whether something else holds", "expected": True, "observed": False, "met": False}
        more: dict[str, Any] = {"kind": "SAFETY", "within_s": 20, "took_ms": 20_000}
        return Event(len(run.events), last_ns, EventKind.EXPECTATION, None, {**data, **more})
    if verdict.check == no_unexpected_death.name:
        return event(EventKind.NODE_DIED, last_ns // MS, "zookeeper-9", exit_code=1, said="ERROR something else")
    if verdict.check == steps_completed.name:
        data = {"step": "something-else", "outcome": "failed", "reason": "something else: not within 5 s"}
        return Event(len(run.events), last_ns, EventKind.STEP_ENDED, None, data)
    return None


def _with_another_place(run: History, verdict: Verdict) -> Iterator[tuple[History, Verdict]]:
    """An object of the same family, made when the run began, that one side lacks."""
    wrong = wrong_in(run, verdict)
    labels = verdict.listed("images")
    for family in sorted({each for each, _ in wrong.places} if wrong else ()):
        made, key, held = _objects()[family]
        for source in {run.images[label].source for label in labels}:
            others = [label for label in run.images if run.images[label].source != source]
            images = {**run.images, **{label: _holding(run.images[label], family, key, held) for label in others}}
            yield replace(run, events=[made, *run.events], images=images), verdict


def _objects() -> dict[str, tuple[Event, str, object]]:
    """By family: how an object is made, its key, and what an image holds of it."""
    topic = change(-60_000, "create-topic", "elsewhere", wanted={"partitions": 1})
    partition = {"replicas": [0], "isr": [0], "leader": 0, "leader_epoch": 0}
    quota, config = {"producer_byte_rate": 7.0}, {"flush.ms": "7"}
    scram = change(-60_000, "set-scram", "elsewhere:SCRAM-SHA-512", wanted={"iterations": 4570})
    acl = change(-60_000, "set-acl", "TOPIC:LITERAL:elsewhere", wanted={"binding": "x"})
    token = change(-60_000, "create-token", "elsewhere", wanted={"owner": "x"})
    return {
        "topics": (topic, "elsewhere", {"id": "elsewhere"}),
        "partitions": (topic, "elsewhere-0", partition),
        "quotas": (change(-60_000, "set-quota", "user=elsewhere", wanted=quota), "user=elsewhere", quota),
        "configs": (change(-60_000, "alter-config", "broker:99", wanted=config), "broker:99", config),
        "scram": (scram, "elsewhere:SCRAM-SHA-512", {"iterations": 4570}),
        "acls": (acl, "TOPIC:LITERAL:elsewhere", ["x"]),
        "delegation_tokens": (token, "elsewhere", {"owner": "x"}),
        "producer_ids": (topic, "elsewhere", None),
    }


def _holding(image: MetadataImage, family: str, key: str, held: object) -> MetadataImage:
    if held is None:
        return image
    entries: Any = {**getattr(image, family), key: held}
    more: dict[str, Any] = {"topics": {**image.topics, "elsewhere": {"id": "elsewhere"}}}
    more = more if family == "partitions" else {}
    return replace(image, **{family: entries}, **more)


def _earlier(run: History, verdict: Verdict) -> Iterator[tuple[History, Verdict]]:
    """What is wrong came about, or was seen, as the run began; what was written for it, long after a take-over."""
    if verdict.listed("images"):
        early = [_at_once(each) if each.kind is EventKind.METADATA_CHANGE else each for each in run.events]
        late = [replace(each, at_ns=each.at_ns + _LATER_NS) if not _claims(each) else each for each in run.transactions]
        wrong = wrong_in(run, verdict)
        if wrong is not None and wrong.all_lost:
            in_order = sorted(early, key=lambda each: each.at_ns)
            yield replace(run, events=in_order, transactions=late), verdict
    elif verdict.check == expectations_met.name:
        early = [_at_once(each) if _is_unmet(each) else each for each in run.events]
        before = replace(run, events=sorted(early, key=lambda each: each.at_ns))
        yield before, expectations_met.judge(before)
    elif verdict.check == steps_completed.name:
        early = [_at_once(each) if each.kind in _OF_STEPS else each for each in run.events]
        before = replace(run, events=sorted(early, key=lambda each: each.at_ns))
        yield before, steps_completed.judge(before)
    elif "too_long_ns" in verdict.facts:
        yield run, replace(verdict, facts={**verdict.facts, "too_long_ns": [[_BEFORE_NS - 1, _BEFORE_NS]]}, count=1)
    elif verdict.check not in (*_AGAIN, *_TIMELESS) and not set(verdict.facts) & set(_FOUND):
        yield run, _with(verdict, [replace(each, at_ns=_BEFORE_NS) for each in verdict.every or verdict.violations])


def _claims(transaction: Transaction) -> bool:
    return any(write.path == CONTROLLER for write in transaction.writes)


def _is_unmet(event: Event) -> bool:
    return event.kind is EventKind.EXPECTATION and not event.data.get("met")


def _at_once(event: Event) -> Event:
    data = {**event.data, "began_ns": _BEFORE_NS} if "began_ns" in event.data else event.data
    return replace(event, at_ns=_BEFORE_NS, data=data)


def _with(verdict: Verdict, found: Sequence[Violation]) -> Verdict:
    observed = tuple(each.observed for each in found)
    about = [replace(each, observed=observed) if each.observed else each for each in verdict.about]
    return replace(verdict, violations=tuple(found), every=tuple(found), count=len(found)).about_each(about)
