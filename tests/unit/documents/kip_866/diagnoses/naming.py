"""What the tests of diagnoses share: a run is judged as ever, and asked which known bugs it names."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.checkers.run.steps import expectations_met, steps_completed
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome, Verdict
from tests.unit.checkers.histories import MS, event, history, snapshot, znode
from tests.unit.documents.tampering import note, tampered


def named(run: History, verdict: Verdict) -> tuple[str, ...]:
    """The bugs that explain a violated verdict on this run; of what is explained, no tampered form is."""
    found = explained_by(run, verdict)
    for kind, worse, about in tampered(run, verdict, found) if found else ():
        left = explained_by(worse, about)
        assert not left, f"{kind}: {left}"
        for bug in found:
            note(kind, bug)
    return found


def explained_by(run: History, verdict: Verdict) -> tuple[str, ...]:
    """The bugs that explain a violated verdict."""
    assert verdict.outcome is Outcome.VIOLATES
    (found,) = explained(run, [verdict], document(run.header.profile).diagnoses)
    assert "diagnoses_failed" not in found.facts
    return found.known_bugs


def named_of_expectations(run: History) -> tuple[str, ...]:
    """The bugs that explain the expectations that this run did not meet."""
    return named(run, expectations_met.judge(run))


def named_of_steps(run: History) -> tuple[str, ...]:
    """The bugs that explain the steps that failed in this run."""
    return named(run, steps_completed.judge(run))


def named_of_deaths(run: History) -> tuple[str, ...]:
    """The bugs that explain the nodes and threads that ended in this run."""
    return named(run, no_unexpected_death.judge(run))


def unmet(at_ms: int, name: str, *, expected: object, observed: object, **more: Any) -> Event:
    """An expectation that was not met."""
    data: dict[str, Any] = {"name": name, "expected": expected, "observed": observed, "met": False, "took_ms": 20_000}
    return Event(0, at_ms * MS, EventKind.EXPECTATION, None, {**data, "kind": "SAFETY", "within_s": 20, **more})


def failed_step(at_ms: int, reason: str) -> list[Event]:
    """A step that began, and failed at that time."""
    step = {"step": "roll-brokers-into-migration"}
    ended = event(EventKind.STEP_ENDED, at_ms, outcome="failed", reason=reason, **step)
    return [event(EventKind.STEP_BEGAN, at_ms - 1, **step), ended]


def started(*nodes: str, at_ms: int = 0, **more: Any) -> list[Event]:
    """Nodes that were started; their role is in their name."""
    return [event(EventKind.NODE_STARTED, at_ms, node, role=node.partition("-")[0], **more) for node in nodes]


CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")
BROKERS = ("broker-0", "broker-1", "broker-2")
CLAIM = znode(11_000, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": 1}))


WRITTEN = znode(8_000, "/migration", json.dumps({"kraft_metadata_offset": 1, "kraft_controller_id": 3001}))
"""The last that a controller wrote to ZooKeeper, soon after the run began."""


def compared(log: MetadataImage, zookeeper: MetadataImage, kafka: str = "3.4.1") -> History:
    """A run whose sides were looked at once."""
    return seen_at_last({"log": log, "zookeeper": zookeeper}, kafka=kafka, znodes=[CLAIM])


def seen_at_last(images: Mapping[str, MetadataImage], *events: Event, **more: Any) -> History:
    """A run of these events, after which its sides were looked at once, under these labels."""
    taken = [snapshot(60_000, label, 0) for label in images]
    return history(events=[*events, *taken], images=images, **more)


BEGAN_AT = "2026-11-30T08:00:00+00:00"


def timed(run: History) -> History:
    """A run that says when it began, so that times in logs can be compared."""
    return replace(run, header=replace(run.header, started_at=BEGAN_AT))
