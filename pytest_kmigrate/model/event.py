"""Events: everything that happened in a run except client operations, in one order."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


class EventKind(enum.StrEnum):
    """What happened; the comment names the keys of ``data``."""

    RUN_BEGAN = "run-began"  # {}
    RUN_ENDED = (
        "run-ended"  # test (Ending), outcome (its name), known_bug; none of them where the test's end was not seen
    )
    NODE_STARTED = "node-started"  # role, mode, pid, kafka, incarnation (1, 2, ...)
    NODE_READY = "node-ready"  # took_ms
    NODE_STOPPED = "node-stopped"  # how ("controlled" | "killed" | "hung": killed at last), exit_code, took_ms, said
    NODE_DIED = "node-died"  # exit_code, said (the last error in its log): nobody asked for it
    THREAD_DIED = "thread-died"  # thread, said: an error ended it; found in the log later
    NODE_PAUSED = "node-paused"  # {}
    NODE_RESUMED = "node-resumed"  # {}
    NODE_RECONFIGURED = "node-reconfigured"  # changed: {key: value or None}, mode
    NODE_WIPED = "node-wiped"  # {}
    STEP_BEGAN = "step-began"  # step, first_move, last_move, of_moves (how far it is to be taken)
    STEP_ENDED = "step-ended"  # step, outcome ("done" | "stopped" | "failed"), reason, signature
    STATE = "state"  # of (a state of the document), state, previous; node: which reported it, if one did
    FAULT_BEGAN = "fault-began"  # fault (its str), fault_id, effect, trigger
    FAULT_APPLIED = "fault-applied"  # fault_id, targets [node], began (seq of its fault-began): now in force
    FAULT_WITNESSED = "fault-witnessed"  # fault_id, witness (a sentence), facts
    FAULT_NOT_WITNESSED = "fault-not-witnessed"  # fault_id, fault, witness (what was looked for)
    FAULT_HEALED = "fault-healed"  # fault_id, fault
    WORKLOAD_BEGAN = "workload-began"  # workload, and its settings
    WORKLOAD_ENDED = "workload-ended"  # workload, its counts, final_read (records; None: not read back), withheld
    METADATA_CHANGE = "metadata-change"  # change, subject, wanted, outcome (ok|failed|indefinite), error, began_ns
    ACTIVE_CONTROLLER = "active-controller"  # controller (node name or None), previous; epochs are in the znodes
    SNAPSHOT = "snapshot"  # label, file, began_ns: a MetadataImage or another whole view stored in the folder
    EXPECTATION = "expectation"  # name, expected, observed, met, kind, signature, within_s, took_ms
    SETTLED = "settled"  # label, images [label], took_s: images of several sides were taken until they agreed
    RULES_TOLD = "rules-told"  # rules: {name: RuleOutcome, or "failed: ..."} of a mutant in one process
    NOT_OFFERED = "not-offered"  # what, lacking [Capability]: what a test asked for and the provider cannot do
    CHECKS = "checks"  # checks: [{name, arguments}]; what judge shall judge
    HARNESS_TROUBLE = "harness-trouble"  # what, error: our own failure, makes verdicts INCONCLUSIVE


PHASE = "phase"
"""The state that a document's procedure walks along: reports and analysis place faults by it."""

OLDER_STATES: Mapping[str, tuple[str, str]] = {
    "phase": (PHASE, "phase"),
    "migration-state": ("migration_state", "state"),
}
"""Kinds that folders of version 0.1 have instead of STATE: the state's name, and the key that holds its value."""


class Ending(enum.StrEnum):
    """How the test of a run ended."""

    PASSED = "passed"
    KNOWN_BUG = "known-bug"  # of Kafka, and one that is expected of this test
    NOT_APPLICABLE = "not-applicable"
    FAILED = "failed"  # or ended in any other way


class RuleOutcome(enum.StrEnum):
    """What becomes of a Byteman rule in one process, best first; a failure is told in Byteman's own words instead."""

    CARRIED_OUT = "carried out"
    WOVEN = "woven in, never reached"
    NOWHERE = "woven into nothing"


@dataclass(frozen=True)
class Event:
    """One event; ``seq`` counts from 0 without a gap, ``at_ns`` is nanoseconds since the run began (monotonic)."""

    seq: int
    at_ns: int
    kind: EventKind
    node: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)


class Recorder(Protocol):
    """Where events go as they happen; safe to call from any thread."""

    @property
    def events(self) -> Sequence[Event]:
        """Everything recorded so far."""
        ...

    def record(self, kind: EventKind, node: str | None = None, /, **data: object) -> Event:
        """Append one event; the system has it when this returns, so that our end loses none."""
        ...

    def now_ns(self) -> int:
        """Nanoseconds since the run began."""
        ...
