"""Faults: an effect on a target, begun by a trigger, witnessed, healed."""
