"""What becomes of a generated mutant."""

import enum


class Fate(enum.StrEnum):
    """What became of a mutant, by one test or by all, best first."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    REFUSED = "refused by the JVM"
    EXCUSED = "excused"
    WEAK = "red by a wait only"
    UNDECIDED = "failed, nothing violated"
    SURVIVED = "survived"
    NOT_JUDGED = "not judged"
    NOT_LOADED = "not loaded"
    NOT_EXECUTED = "never executed"


UNCOUNTED = (Fate.EQUIVALENT, Fate.REFUSED)
"""No defect, or none that could run: such mutants are no part of a score."""
