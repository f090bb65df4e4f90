"""Judges a run from its folder alone: the same for a run just ended and for one of last year."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.checkers.registry import checker_of, general_checkers
from pytest_kmigrate.checkers.run.doubts import doubted, doubts, not_blamed, spared
from pytest_kmigrate.checkers.run.losses import until_loss
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.checks import all_checkers
from pytest_kmigrate.judging.coherence.coherence import disagreements, fitted
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.judging.speaking import declared, inapplicable, named_by_expectations, spoken, unseen, unspoken
from pytest_kmigrate.model.capabilities import not_offered
from pytest_kmigrate.model.checks import AnyChecker, Check, CheckersByName, by_name
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, inconclusive, merged, not_applicable
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.run_folder import RunFolder
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
    for event in history.of(EventKind.CHECKS):
        checks += [check for check in _checks_in(event) if check not in checks]
    return checks


def judge(history: History, asked: Sequence[Check], checkers: CheckersByName) -> list[Verdict]:
    """One verdict per check that was asked for, in their order, then one per checker that judges every run.

    Each has an outcome for each requirement it speaks for. A violation stands whatever else happened; only where this
    machine lacked something is nothing violated that did not happen in time, and nothing is judged by what came after
    a part of the harness was lost. A check that holds in a run in which the harness had trouble, a node died
    unexpectedly or a fault was not witnessed proves nothing: it becomes INCONCLUSIVE, and its summary gives the reason.
    One that needs what the provider of the run did not offer is NOT_APPLICABLE, also where it would judge the run
    unasked. WrongUseError for a check of no known name.
    """
    history = until_loss(history)
    named = {check.name: _checker(check.name, checkers) for check in asked}
    unasked = [each for each in checkers.values() if each.name not in named and _judges(each, history)]
    found = [_judged(named[check.name], history, check) for check in asked]
    found += [replace(_judged(each, history, Check(each.name)), standing=bool(each.requirements)) for each in unasked]
    claimed, owned = history.header.requirements, declared(checkers.values())
    by = [*(named[check.name] for check in asked), *unasked]
    owned |= named_by_expectations(history)
    free = [each for each in claimed if each not in owned]
    found = [
        spoken(verdict, each, free if number < len(asked) else (), history)
        for number, (verdict, each) in enumerate(zip(found, by, strict=True))
    ]
    if lacking := spared(history):
        found = [not_blamed(verdict, lacking.kind, lacking.text) for verdict in found]
    reasons = doubts(history)
    if reasons:
        because = "; ".join(reason.text for reason in reasons)
        found = [doubted(verdict, reasons[0].kind, because) for verdict in found]
    return [*found, *unspoken(found, claimed)]


def judged(history: History) -> list[Verdict]:
    """The verdicts on a history; of a test that ended before it asked for any, at best inconclusive ones.

    One that ended since the provider cannot do what it needs is not applicable; a violation stands all the same.
    """
    checkers = by_name([*general_checkers(), *document(history.header.profile).checks])
    found = judge(history, recorded_checks(history), checkers)
    verdicts = explained(history, found, document(history.header.profile).diagnoses)
    if history.header.extra.get("observed"):
        verdicts = [*verdicts, *unseen(verdicts, [each.id for each in requirements(history.header.profile)])]
    if history.of(EventKind.CHECKS):
        return verdicts
    lacking = history.of(EventKind.NOT_OFFERED)
    if lacking:
        red = [verdict for verdict in verdicts if verdict.outcome is Outcome.VIOLATES]
        return [*red, inapplicable(lacking[-1], history.header.requirements)]
    return [doubted(verdict, Kind.VACUOUS, _UNFINISHED) for verdict in verdicts]


def judge_folder(folder: RunFolder) -> Judgement:
    """Judge a run folder, which is read once, and (re)write its ``verdicts.jsonl``.

    Nothing conforms by evidence that does not fit together.
    """
    history = read_history(folder)
    verdicts = fitted(judged(history), disagreements(folder, history))
    write_verdicts(folder, verdicts)
    return Judgement(history.header, verdicts)


def outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    """The worst verdict of those that count; none at all is INCONCLUSIVE."""
    return merged(verdict.outcome for verdict in verdicts if verdict.counts)


def _judges(each: AnyChecker, history: History) -> bool:
    return each.in_every_run is not None and (bool(_lacking(each, history.header)) or each.in_every_run(history))


def _lacking(each: AnyChecker, header: RunHeader) -> list[str]:
    """What a checker needs and the provider of the run did not offer; runs of 0.1 say of none what it could do."""
    return sorted(each.needs - header.offered) if header.offered is not None else []


def _checker(name: str, checkers: CheckersByName) -> AnyChecker:
    """The checker of that name; one of another document may be asked for, too."""
    return checkers[name] if name in checkers else checker_of(name, all_checkers())


def _judged(each: AnyChecker, history: History, check: Check) -> Verdict:
    if lacking := _lacking(each, history.header):
        return not_applicable(check.name, not_offered(check.name, lacking))
    try:
        return each.judged(history, check)
    # A checker is third-party code as far as a run is concerned: whatever it raises must never pass for a verdict.
    except Exception as error:  # noqa: BLE001
        text = f"the checker itself failed: {type(error).__name__}: {error}"
        return inconclusive(check.name, Kind.HARNESS, text)


def _checks_in(event: Event) -> list[Check]:
    listed = event.data.get("checks")
    found = []
    for each in listed if isinstance(listed, list | tuple) else ():
        arguments = each.get("arguments") if isinstance(each, Mapping) else None
        if isinstance(each, Mapping):
            found.append(Check(str(each.get("name")), dict(arguments) if isinstance(arguments, Mapping) else {}))
    return found
