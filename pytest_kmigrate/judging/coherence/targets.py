"""The nodes that a fault hit are those that its text means: what happens to any other is not its doing."""

import re
from collections.abc import Collection, Iterator

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.faults.targets import EVERY
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan
from pytest_kmigrate.model.history import History
from pytest_kmigrate.recording.disagreement import Disagreement

_ONE_TARGET = re.compile(r"[a-z-]+\((?P<target>[\w.-]+(?:\([\w.-]+\))?)(?:, [^|]*| from [^|]*| and clients)?\)")
"""The text of a fault of nodes, with the name of its target; those of links, znodes and crash points have others."""


def targets_are_meant(history: History) -> Iterator[Disagreement]:
    """A fault of one node hit one, a fault of a node by its name that one, and one of a role none of another role."""
    began = {event.what.fault_id: event.what.fault for event in history.of(FaultBegan)}
    for applied in history.of(FaultApplied):
        named = _ONE_TARGET.fullmatch(began.get(applied.what.fault_id, ""))
        if named is None:
            continue
        hit = sorted(set(applied.what.targets))
        if not _is_meant(history, named["target"], hit):
            yield Disagreement(
                f"{began[applied.what.fault_id]} means {named['target']}",
                f"event {applied.seq} applies it to {', '.join(hit) or 'nothing'}",
            )


def _is_meant(history: History, target: str, hit: Collection[str]) -> bool:
    by_role = roles(history)
    if target in EVERY:
        return all(node not in by_role or plays(by_role[node], EVERY[target]) for node in hit)
    return set(hit) == {target} if target in by_role else len(hit) == 1
