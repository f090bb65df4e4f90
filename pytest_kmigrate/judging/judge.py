"""Judges a run from its folder alone: the same for a run just ended and for one of last year."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.checkers.registry import checker_of, general_checkers
from pytest_kmigrate.checkers.run.doubts import doubted, doubts, not_blamed, spared
from pytest_kmigrate.checkers.run.losses import until_loss
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.checks import all_checkers
from pytest_kmigrate.judging.coherence.coherence import disagreements, fitted
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.judging.interrupted import without_its_tail
from pytest_kmigrate.judging.speaking import (
    declared,
    inapplicable,
    named_by_expectations,
    speaks_for_the_free,
    spoken,
    unseen,
    unspoken,
    without_what_others_own,
)
from pytest_kmigrate.model.capabilities import not_offered
from pytest_kmigrate.model.checks import AnyChecker, Check, CheckersByName, by_name
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import CapabilityLacking, ChecksRequested
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, inconclusive, merged, not_applicable
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.still_folder import StillFolder
from pytest_kmigrate.recording.verdicts import write_verdicts

_UNFINISHED = "the test ended before it said what shall be judged"


@dataclass(frozen=True)
class Judgement:
    """All that judging a folder returns: whose run it is, and the verdicts."""

    header: RunHeader
    verdicts: Sequence[Verdict]

    @property
    def outcome(self) -> Outcome:
        """The worst verdict of those that count."""
        return outcome_of(self.verdicts)


def recorded_checks(history: History) -> list[Check]:
    """The checks the run itself asked for, without repetitions: what judging it again has to judge."""
    checks: list[Check] = []
    for event in history.of(ChecksRequested):
        checks += [check for check in _checks_in(event) if check not in checks]
    return checks


@dataclass(frozen=True)
class Trial:
    """What the steps of judging look at: a run, and by what it is judged."""

    history: History
    """Up to the moment in which a part of the harness was lost, if one was."""
    whole: History
    """All that was recorded."""
    of: Document
    asked: Sequence[Check]
    checkers: CheckersByName
    was_asked: bool = True
    """Whether the test came to ask for its checks."""

    @property
    def claimed(self) -> Sequence[str]:
        """The requirements that the test of the run claims."""
        return self.history.header.requirements


Step = Callable[[Trial, list[Verdict]], list[Verdict]]
"""Takes the verdicts so far, and returns those that judging goes on with."""


def judge(
    history: History, asked: Sequence[Check], checkers: CheckersByName, of: Document | None = None
) -> list[Verdict]:
    """One verdict per check that was asked for, in their order, then one per checker that judges every run.

    Each has an outcome for each requirement it speaks for. ``of``: the document that judges, if not the run's own.
    WrongUseError for a check of no known name.
    """
    trial = Trial(until_loss(history), history, of or document(history.header.profile), asked, checkers)
    return reduce(lambda verdicts, step: step(trial, verdicts), STEPS, [])


def judged(history: History) -> list[Verdict]:
    """The verdicts on a history; of a test that ended before it asked for any, at best inconclusive ones."""
    checkers = by_name([*general_checkers(), *document(history.header.profile).checks])
    asked, of = recorded_checks(history), document(history.header.profile)
    trial = Trial(until_loss(history), history, of, asked, checkers, was_asked=bool(history.of(ChecksRequested)))
    return reduce(lambda verdicts, step: step(trial, verdicts), (*STEPS, *AT_THE_END), [])


def each_check(trial: Trial, _: list[Verdict]) -> list[Verdict]:
    """1. Each check that was asked for, then each that judges every run, speaks for its requirements."""
    history, checkers = trial.history, trial.checkers
    named = {check.name: _checker(check.name, checkers) for check in trial.asked}
    unasked = [each for each in checkers.values() if each.name not in named and _judges(each, history)]
    found = [_judged(named[check.name], history, check) for check in trial.asked]
    found += [replace(_judged(each, history, Check(each.name)), standing=bool(each.requirements)) for each in unasked]
    by = [*(named[check.name] for check in trial.asked), *unasked]
    expected, declaring = named_by_expectations(history), declared(checkers.values())
    free = [each for each in trial.claimed if each not in declaring | expected]
    found = [without_what_others_own(*each, expected | {*free}) for each in zip(found, by, strict=True)]
    speaking = speaks_for_the_free(found, by, len(trial.asked), free)
    return [
        spoken(verdict, each, free if is_speaking else (), history)
        for verdict, each, is_speaking in zip(found, by, speaking, strict=True)
    ]


def without_what_is_ours(trial: Trial, verdicts: list[Verdict]) -> list[Verdict]:
    """2. What did not happen in time on a machine, or in a harness, that lacked something is not Kafka's."""
    lacking = spared(trial.history)
    if lacking is None:
        return verdicts
    still = _observed_in_the_whole(trial) if trial.history is not trial.whole else {}
    return [not_blamed(each, lacking, still.get(each.check, ())) for each in verdicts]


def _observed_in_the_whole(trial: Trial) -> Mapping[str, set[str]]:
    """By check, what violates it in the run with all that was recorded after a part of the harness was lost."""
    found = defaultdict[str, set[str]](set)
    for verdict in each_check(replace(trial, history=trial.whole), []):
        found[verdict.check] |= {each.observed for each in verdict.every or verdict.violations}
    return found


def with_claims_left(trial: Trial, verdicts: list[Verdict]) -> list[Verdict]:
    """3. A requirement that the test claims and that nothing could have violated is INCONCLUSIVE."""
    return [*verdicts, *unspoken(verdicts, trial.claimed)]


def with_causes(trial: Trial, verdicts: list[Verdict]) -> list[Verdict]:
    """4. A violation has the known bugs and deviations that explain it; whatever else happened, it stands."""
    history = trial.history
    if history.header.profile != trial.of.id:
        history = replace(history, header=replace(history.header, profile=trial.of.id))
    return explained(history, verdicts, trial.of.diagnoses)  # of the same instance, what checks derived is kept


def with_doubts(trial: Trial, verdicts: list[Verdict]) -> list[Verdict]:
    """5. What conforms in a run that had trouble, an unexpected death or an unwitnessed fault is INCONCLUSIVE.

    Where known bugs explain all of that, the run shows nothing about requirements but what it violates.
    """
    reasons = doubts(trial.history)
    if not reasons:
        return verdicts
    known = {each.doubt for each in trial.checkers.values() if each.doubt and _is_known(verdicts, each)}
    because, is_known = "; ".join(each.text for each in reasons), all(each.of in known for each in reasons)
    return [doubted(each, reasons[0].kind, because, is_known=is_known) for each in verdicts]


def of_an_operator(trial: Trial, verdicts: list[Verdict]) -> list[Verdict]:
    """6. What an observed procedure shows nothing of is NOT_APPLICABLE."""
    if not trial.history.header.circumstances.observed:
        return verdicts
    return [*verdicts, *unseen(verdicts, [each.id for each in requirements(trial.history.header.profile)])]


def of_an_early_end(trial: Trial, verdicts: list[Verdict]) -> list[Verdict]:
    """7. Nothing conforms in a run whose test ended before it asked for its checks.

    One that ended since the provider cannot do what it needs is NOT_APPLICABLE; a violation stands all the same. One
    that ended by a known bug shows nothing about requirements but what it violates.
    """
    if trial.was_asked:
        return verdicts
    lacking = trial.history.of(CapabilityLacking)
    if lacking:
        red = [each for each in verdicts if each.outcome is Outcome.VIOLATES]
        return [*red, inapplicable(lacking[-1], trial.claimed)]
    is_known = _is_known(verdicts, *(each for each in trial.checkers.values() if each.ends_test))
    return unfinished(verdicts, is_known=is_known)


def unfinished(verdicts: Iterable[Verdict], *, is_known: bool = False) -> list[Verdict]:
    """The verdicts on a run whose test ended before it asked for its checks; ``is_known``: by a known bug."""
    return [doubted(each, Kind.VACUOUS, _UNFINISHED, is_known=is_known) for each in verdicts]


STEPS: Sequence[Step] = (each_check, without_what_is_ours, with_claims_left, with_causes, with_doubts)
"""The steps of judging by any document, in their order."""

AT_THE_END: Sequence[Step] = (of_an_operator, of_an_early_end)
"""Those of judging a run by its own document."""


def read_to_judge(folder: RunFolder, *, is_live: bool = False) -> History:
    """Read a run folder, with what its document says of nodes that end themselves by design.

    ``is_live``: the run goes on, so that it has no end yet.
    """
    history = read_history(folder) if is_live else without_its_tail(folder, read_history(folder))
    by_design = document(history.header.profile).dies_by_design
    return replace(history, dies_by_design=by_design) if by_design else history


def judge_folder(folder: RunFolder) -> Judgement:
    """Judge the folder of a live run, which is read once, and write its ``verdicts.jsonl``."""
    judgement = judged_folder(StillFolder(folder.path), is_live=True)
    write_verdicts(folder, judgement.verdicts)
    return judgement


def judged_folder(folder: RunFolder, *, is_live: bool = False) -> Judgement:
    """Judge a run folder without writing; nothing conforms by evidence that does not fit together."""
    history = read_to_judge(folder, is_live=is_live)
    return Judgement(history.header, fitted(judged(history), disagreements(folder, history)))


def outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    """The worst verdict of those that count; none at all is INCONCLUSIVE."""
    return merged(verdict.outcome for verdict in verdicts if verdict.counts)


def _judges(each: AnyChecker, history: History) -> bool:
    return each.in_every_run is not None and (bool(_lacking(each, history.header)) or each.in_every_run(history))


def _is_known(verdicts: Iterable[Verdict], *checkers: AnyChecker) -> bool:
    """Whether one of these checkers found a violation, and known bugs explain each that they found."""
    names = {each.name for each in checkers}
    red = [each for each in verdicts if each.check in names and each.outcome is Outcome.VIOLATES]
    return bool(red) and all(each.known_bugs for each in red)


def _lacking(each: AnyChecker, header: RunHeader) -> list[str]:
    """What a checker needs and the provider of the run did not offer; runs of 0.1 say of none what it could do."""
    return sorted(each.needs - header.offered) if header.offered is not None else []


def _checker(name: str, checkers: CheckersByName) -> AnyChecker:
    """The checker of that name; one of another document may be asked for, too."""
    return checkers[name] if name in checkers else checker_of(name, all_checkers())


def _judged(each: AnyChecker, history: History, check: Check) -> Verdict:
    if lacking := _lacking(each, history.header):
        return not_applicable(not_offered(check.name, lacking)).by(check.name)
    try:
        return each.judged(history, check)
    # A checker is third-party code as far as a run is concerned: whatever it raises must never pass for a verdict.
    except Exception as error:  # noqa: BLE001
        text = f"the checker itself failed: {type(error).__name__}: {error}"
        return inconclusive(Kind.HARNESS, text).by(check.name)


def _checks_in(event: Recorded[ChecksRequested]) -> list[Check]:
    found = []
    for each in event.what.checks:
        arguments = each.get("arguments")
        found.append(Check(str(each.get("name")), dict(arguments) if isinstance(arguments, Mapping) else {}))
    return found
