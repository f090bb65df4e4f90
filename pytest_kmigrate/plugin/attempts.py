"""Attempts at a test: a plugin such as pytest-rerunfailures runs the same item again, and nothing may stay of the last.

A violation stays: it was seen on a real cluster, and a further attempt cannot undo it.
"""

import pytest

from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.plugin.outcomes import Judged, ViolationError, forget, judged_of, met_by, remember, remember_ending

_VIOLATED = pytest.StashKey[Judged]()


def begin_attempt(item: pytest.Item) -> None:
    """Forget the last attempt at a test; ViolationError if its run violated a requirement."""
    judged = judged_of(item)
    if judged is not None and judged.outcome is Outcome.VIOLATES and met_by(item) is None:
        item.stash[_VIOLATED] = judged
    forget(item)
    violated = item.stash.get(_VIOLATED, None)
    if violated is not None:
        remember(item, violated)
        raise ViolationError(
            "an earlier attempt at this test violated a requirement, and running it again cannot undo that\n"
            f"evidence: {violated.folder}"
        )


def passed_call(item: pytest.Item) -> None:
    """The test itself has passed; its report may say otherwise later, if anybody makes one."""
    remember_ending(item, Ending.PASSED)
