"""Expectations: something a test wants to become true of the live cluster, recorded whether it does or not."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.expectation import Expectation
from pytest_kmigrate.model.verdict import Kind
from pytest_kmigrate.waiting import NotYet, until


def expect(
    recorder: Recorder,
    expected: str | Expectation,
    actual: Callable[[], object],
    equals: object,
    *,
    within_s: float,
    kind: Kind | None = Kind.SAFETY,
    requirements: Sequence[str] = (),
) -> bool:
    """Ask ``actual`` until it equals ``equals`` or time is up; record and return which. A checker judges it.

    ``requirements``: those it speaks for; none means all that the test claims. ``kind=None``: only ask, so that
    nothing is judged by the answer.
    """
    name, id_, places = _named(expected)
    began = time.monotonic()
    observed: object = None

    def as_expected() -> bool | NotYet:
        nonlocal observed
        try:
            observed = actual()
        except ClusterError as error:
            observed = str(error)
        return observed == equals or NotYet(observed)

    try:
        met = until(as_expected, awaited=name, within_s=within_s, every_s=0.1)
    except AwaitTimeoutError:
        met = False
    recorder.record(
        ExpectationEnded(
            name=name,
            expected=equals,
            observed=observed,
            met=bool(met),
            kind=kind.value if kind else None,
            within_s=within_s,
            took_ms=int((time.monotonic() - began) * 1000),
            requirements=list(requirements) or None,
            expectation=id_,
            places=places,
        )
    )
    return bool(met)


def expect_to_stay(
    recorder: Recorder,
    expected: str | Expectation,
    actual: Callable[[], object],
    equals: object,
    *,
    for_s: float,
    requirements: Sequence[str] = (),
) -> bool:
    """Ask ``actual`` until it equals something else or time is up; record and return whether it stayed.

    ``requirements``: as for ``expect``. ClusterError while it cannot be asked.
    """
    name, id_, places = _named(expected)
    began = time.monotonic()
    observed: object = None

    def has_changed() -> bool:
        nonlocal observed
        observed = actual()
        return observed != equals

    with suppress(AwaitTimeoutError):
        until(has_changed, awaited=f"another value of {name}", within_s=for_s, every_s=0.1)
    recorder.record(
        ExpectationEnded(
            name=name,
            expected=equals,
            observed=observed,
            met=observed == equals,
            kind=Kind.SAFETY.value,
            within_s=for_s,
            took_ms=int((time.monotonic() - began) * 1000),
            requirements=list(requirements) or None,
            expectation=id_,
            places=places,
        )
    )
    return observed == equals


def _named(expected: str | Expectation) -> tuple[str, str | None, Mapping[str, str] | None]:
    """The words of an expectation, and its id and places if diagnoses look for it."""
    if isinstance(expected, Expectation):
        return expected.name, expected.id, expected.places or None
    return expected, None, None
