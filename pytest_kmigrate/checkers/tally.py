"""The tally: what many runs show about one requirement, by one rule for coverage, certificate and report."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.verdict import Outcome


class Word(StrEnum):
    """Where a requirement stands; the order is that of a page, the gravest first.

    - defect: Kafka breaks what the document asks, and a user can be hurt;
    - departure: Kafka differs from the text on purpose or without harm;
    - remark: the text is unclear, or the difference is not in the text.
    """

    VIOLATION = "new violation"
    DEFECT = "defect"
    DEPARTURE = "departure"
    REMARK = "remark"
    INCONCLUSIVE = "inconclusive"
    CONFORMS = "conforms"
    NOT_APPLICABLE = "does not apply"
    NOT_JUDGED = "not judged"


CLASSES = (Word.DEFECT, Word.DEPARTURE, Word.REMARK)
"""The words of what is known, the gravest first."""


@dataclass(frozen=True)
class Grade:
    """What one known bug or deviation is to one requirement."""

    word: Word
    """One of ``CLASSES``."""
    is_own: bool
    """Whether it breaks this requirement by itself; otherwise it breaks another one, and hit a run of this one."""


@dataclass(frozen=True)
class Said:
    """What one run shows about one requirement, or so many runs that show the same."""

    outcome: Outcome | None
    """The worst of the verdicts that could have violated it; None: no verdict could."""
    known: frozenset[str] = frozenset()
    """What explains all that is violated, by id; empty if anything is left unexplained."""
    runs: int = 1


@dataclass(frozen=True)
class Tally:
    """One requirement over many runs; all numbers are numbers of runs."""

    word: Word
    conforming: int = 0
    violating: int = 0
    """Runs that violate it by themselves: by what is new, or by what breaks this requirement."""
    new: int = 0
    """Those of them in which anything is left unexplained."""
    inconclusive: int = 0
    not_applicable: int = 0
    unseen: int = 0
    """Runs in which nothing could have violated it."""
    by: tuple[tuple[str, int], ...] = ()
    """The known bugs and deviations that break it, each with the number of runs."""
    hit_by: tuple[tuple[str, int], ...] = ()
    """Known bugs of other requirements that hit runs of this one."""

    @property
    def n(self) -> int:
        """The runs that could have violated it and gave an answer."""
        return self.conforming + self.violating

    @property
    def is_red(self) -> bool:
        """Whether Kafka breaks what the requirement asks."""
        return self.word in (Word.VIOLATION, Word.DEFECT)


def tally(runs: Iterable[Said], graded: Callable[[str], Grade], required: int = 1) -> Tally:
    """The tally of a requirement over runs; ``required``: so many have to conform before it does.

    A run that an unexplained violation, or a bug of this requirement, makes red decides. A run that the bug of another
    requirement hit shows neither: it is named, and counts for nothing. What runs leave open hides nothing that others
    show: enough conforming runs are enough.
    """
    listed = [each for each in runs if each.runs]
    counts = Counter[Outcome | None]()
    by, hit, new, hits = Counter[str](), Counter[str](), 0, 0
    for each in listed:
        counts[each.outcome] += each.runs
        if each.outcome is not Outcome.VIOLATES:
            continue
        own = [known for known in each.known if graded(known).is_own]
        if not each.known:
            new += each.runs
        elif not own:
            hits += each.runs
            hit.update(dict.fromkeys(each.known, each.runs))
        by.update(dict.fromkeys(own, each.runs))
    violating = counts[Outcome.VIOLATES] - hits
    grades = [] if new else [graded(known).word for known in by]
    word = word_of(Outcome.VIOLATES, grades) if violating else _unviolated(counts, required)
    return Tally(
        word,
        conforming=counts[Outcome.CONFORMS],
        violating=violating,
        new=new,
        inconclusive=counts[Outcome.INCONCLUSIVE],
        not_applicable=counts[Outcome.NOT_APPLICABLE],
        unseen=counts[None],
        by=tuple(sorted(by.items())),
        hit_by=tuple(sorted(hit.items())),
    )


BY_OUTCOME = {
    Outcome.VIOLATES: Word.VIOLATION,
    Outcome.INCONCLUSIVE: Word.INCONCLUSIVE,
    Outcome.CONFORMS: Word.CONFORMS,
    Outcome.NOT_APPLICABLE: Word.NOT_APPLICABLE,
}
"""The word of an outcome that nothing known explains."""


def word_of(outcome: Outcome, classes: Iterable[Word] = ()) -> Word:
    """The word of one outcome; ``classes``: of what explains all of a violation, the gravest of which counts."""
    if outcome is not Outcome.VIOLATES:
        return BY_OUTCOME[outcome]
    return min(classes, key=CLASSES.index, default=Word.VIOLATION)


def exit_status(words: Iterable[Word], *, is_strict: bool = False) -> ExitStatus:
    """How a command ends that found these words: of runs, or of requirements. All commands end by this rule.

    A new violation decides; then what is left open; what is known does not. Without anything that was judged all is
    open. ``is_strict``, for auditors: what is known is a violation, too, and what was never judged is open.
    """
    found = set(words)
    if Word.VIOLATION in found or (is_strict and not found.isdisjoint(CLASSES)):
        return ExitStatus.VIOLATED
    is_open = Word.INCONCLUSIVE in found or (is_strict and Word.NOT_JUDGED in found)
    return ExitStatus.OPEN if is_open or found <= {Word.NOT_JUDGED} else ExitStatus.DONE


def tally_together(several: Sequence[Sequence[Said]], graded: Callable[[str], Grade], required: int = 1) -> Tally:
    """The tally of requirements that say the same only together: one of them violates, and the weakest conforms."""
    weakest = min(several, key=lambda each: sum(one.runs for one in each if one.outcome is Outcome.CONFORMS))
    violating = [one for each in several for one in each if one.outcome is Outcome.VIOLATES]
    return tally([*violating, *(one for one in weakest if one.outcome is not Outcome.VIOLATES)], graded, required)


def _unviolated(counts: Counter[Outcome | None], required: int) -> Word:
    if counts[Outcome.CONFORMS] >= required:
        return Word.CONFORMS
    if counts[Outcome.INCONCLUSIVE] or counts[Outcome.CONFORMS]:
        return Word.INCONCLUSIVE
    return Word.NOT_APPLICABLE if counts[Outcome.NOT_APPLICABLE] else Word.NOT_JUDGED
