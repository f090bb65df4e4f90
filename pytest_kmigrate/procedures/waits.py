"""Waits of a test that failed, as the expectations that they were."""

from collections.abc import Sequence

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.verdict import Kind


def waited_in_vain(recorder: Recorder, name: str, error: AwaitTimeoutError, requirements: Sequence[str] = ()) -> None:
    """Record a wait that a test asked for, and that failed, as the expectation of liveness that it was.

    ``requirements``: those it speaks for; none: all of its test for which nothing else speaks.
    """
    recorder.record(
        ExpectationEnded(
            name=name,
            expected=error.awaited,
            observed=error.last_seen,
            met=False,
            kind=Kind.LIVENESS.value,
            within_s=error.within_s,
            took_ms=int(error.within_s * 1000),
            requirements=list(requirements) or None,
        )
    )
    error.is_recorded = True
