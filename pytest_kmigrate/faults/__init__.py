"""Faults: an effect on a target, begun by a trigger, witnessed, healed."""

from pytest_kmigrate.faults.injection import Injection, inject
from pytest_kmigrate.faults.links import Cut, Isolate, Partition, Refuse, Reset, Slice, Slow, Throttle
from pytest_kmigrate.faults.processes import Kill, Pause, Stop
from pytest_kmigrate.faults.znodes import ExpireSession, Tamper

__all__ = [
    "Cut",
    "ExpireSession",
    "Injection",
    "Isolate",
    "Kill",
    "Partition",
    "Pause",
    "Refuse",
    "Reset",
    "Slice",
    "Slow",
    "Stop",
    "Tamper",
    "Throttle",
    "inject",
]
