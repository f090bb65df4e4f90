"""Times in which a fault had set the clock of a node: what the node says of the time of day is no evidence then."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pytest_kmigrate.checkers.evidence.logs import READ_WITHIN_NS
from pytest_kmigrate.checkers.evidence.moments import healed_ns
from pytest_kmigrate.faults.effect import effect_name
from pytest_kmigrate.faults.resources import Clock
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan
from pytest_kmigrate.model.history import History


def set_clocks(history: History) -> Mapping[str, Sequence[tuple[int, int]]]:
    """By node when its clock was another one, in nanoseconds from the begin of the run."""
    healed = healed_ns(history)
    targets = {each.what.fault_id: each.what.targets for each in history.of(FaultApplied)}
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for began in history.of(FaultBegan):
        if began.what.effect == effect_name(Clock):
            until_ns = healed.get(began.what.fault_id, history.events[-1].at_ns) + READ_WITHIN_NS
            for node in targets.get(began.what.fault_id, ()):
                found[node].append((began.at_ns, until_ns))
    return found


def is_set(spans: Sequence[tuple[int, int]], since_ns: int, until_ns: int) -> bool:
    """Whether a clock was another one at any time between two moments."""
    return any(from_ns <= until_ns and since_ns <= to_ns for from_ns, to_ns in spans)
