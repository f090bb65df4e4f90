"""Judges a run by another document than the one that it is of."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.documents import document, documents
from pytest_kmigrate.judging.coherence.coherence import disagreements, fitted
from pytest_kmigrate.judging.judge import judge, judged, read_to_judge, unfinished
from pytest_kmigrate.model.checks import by_name
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.events.evidence import ChecksRequested
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import About, Outcome, Verdict, merged
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.still_folder import StillFolder


def judged_by(of: Document, history: History) -> list[Verdict]:
    """What a document's own checks say of a run of another one, which asked for none of them.

    Nothing conforms in a run whose test ended before it asked for any checks.
    """
    seen = replace(history, header=replace(history.header, profile=of.id, requirements=()))
    found = judge(seen, (), by_name(of.checks), of)
    return found if history.of(ChecksRequested) else unfinished(found)


def evidence_by(of: Document, history: History, found: Sequence[Disagreement] = ()) -> list[Verdict]:
    """What counts of that as evidence for the document; nothing conforms if disagreements were ``found`` in the run.

    A run that was made for another document may prove nothing of a requirement, as one in which a node has to die. That
    is not held against the requirement, which has runs of its own.
    """
    return [
        verdict.about_each(
            each for each in verdict.about if each.is_vacuous or each.outcome is not Outcome.INCONCLUSIVE
        )
        for verdict in fitted(judged_by(of, history), found)
    ]


def evidence_in(folder: RunFolder, of: Document) -> list[Verdict]:
    """The same of a run folder."""
    still = StillFolder(folder.path)
    history = read_to_judge(still)
    return evidence_by(of, history, disagreements(still, history))


def judging(profile: str, own: str) -> Document:
    """The document of a profile; WrongUseError if it judges no run of the profile ``own``."""
    if profile != own and own not in document(profile).judges_runs_of:
        possible = ", ".join([own, *(each.id for each in documents() if own in each.judges_runs_of)])
        raise WrongUseError(f"--profile: expected a document that judges a run of {own} ({possible}), got {profile}")
    return document(profile)


def judged_as(of: Document, history: History) -> list[Verdict]:
    """The verdicts on a run by the document it is of, or by another one that judges its runs.

    What the run's own document says of a requirement, it says of those that are the same as it.
    """
    if of.id == history.header.profile:
        return judged(history)
    return [*_inherited(judged(history), _heirs(of.id)), *judged_by(of, history)]


def _heirs(profile: str) -> Mapping[str, Sequence[str]]:
    """By each requirement of another document, those of the profile that are the same."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in requirements(profile):
        for each in row.same_as:
            found[each].append(row.id)
    return found


def _inherited(verdicts: Sequence[Verdict], heirs: Mapping[str, Sequence[str]]) -> Iterator[Verdict]:
    """The verdicts about what is the same, and those that speak for no requirement at all."""
    for verdict in verdicts:
        about = [replace(each, requirement=heir) for each in verdict.about for heir in heirs.get(each.requirement, ())]
        if about or not verdict.about:
            yield _about(verdict, about) if about else verdict


def _about(verdict: Verdict, about: Sequence[About]) -> Verdict:
    """The verdict about less; one that violates something else only is none of a violation any more."""
    outcome = merged(each.outcome for each in about)
    if outcome is verdict.outcome:
        return verdict.about_each(about)
    summary = next((each.summary for each in about if each.outcome is outcome and each.summary), verdict.summary)
    kind = next(each.kind for each in about if each.outcome is outcome)
    if outcome is Outcome.VIOLATES:
        return replace(verdict, outcome=outcome, kind=kind, summary=summary).about_each(about)
    bare = replace(verdict, outcome=outcome, kind=kind, summary=summary, violations=(), count=0, known_bugs=())
    return bare.about_each(about)
