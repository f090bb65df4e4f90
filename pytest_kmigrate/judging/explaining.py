"""Which known bugs of Kafka explain what a run violates: asked when everything is judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_kmigrate.catalogue import Deviation, deviations, is_release, known_bug
from pytest_kmigrate.model.document import Diagnosis
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.verdict import About, Outcome, Verdict


def explained(history: History, verdicts: Iterable[Verdict], diagnoses: Sequence[Diagnosis]) -> list[Verdict]:
    """The verdicts, each violated one with the bugs and deviations of the release that explain it.

    The release is what the jars are, whether they were named by a version or by a path. Nothing explains what a run
    against a mutant (``--kmigrate-byteman``) violates.
    """
    kafka, is_mutant = history.header.kafka, bool(history.header.extra.get("byteman"))
    possible = [] if is_mutant else [each for each in diagnoses if known_bug(each.bug_id).breaks(kafka)]
    deviating = {} if is_mutant else _deviating(history.header.profile, kafka)
    return [_deviated(_explained(history, verdict, possible), deviating) for verdict in verdicts]


def deviations_gone(header: RunHeader, verdicts: Iterable[Verdict]) -> list[Deviation]:
    """The deviations that a test of this release must see, as it claims their requirements, and that did not show.

    Each of these requirements conforms, by evidence that could have violated it. A build of somebody may have mended
    any.
    """
    if header.extra.get("byteman") or not is_release(header.kafka):
        return []
    said = [about for verdict in verdicts for about in verdict.about if not about.is_vacuous]
    violated = {about.requirement for about in said if about.outcome is not Outcome.CONFORMS}
    conforming = {about.requirement for about in said} & set(header.requirements) - violated
    listed = _deviating(header.profile, header.kafka)
    return [each for row in sorted(conforming) for each in listed.get(row, ()) if each.when == "always"]


def _deviating(profile: str, kafka: str) -> dict[str, list[Deviation]]:
    """The known deviations of this release, by requirement."""
    found: dict[str, list[Deviation]] = {}
    for each in deviations(profile):
        if known_bug(each.id).breaks(kafka):
            found.setdefault(each.requirement, []).append(each)
    return found


def _deviated(verdict: Verdict, deviating: Mapping[str, Sequence[Deviation]]) -> Verdict:
    """The verdict, known as the deviations that explain everything it observed of each requirement it violates."""
    violated = [about for about in verdict.about if about.outcome is Outcome.VIOLATES]
    known = [_known_as(about, deviating.get(about.requirement, ())) for about in violated]
    if verdict.outcome is not Outcome.VIOLATES or not violated or not all(known):
        return verdict
    return replace(verdict, known_bugs=(*verdict.known_bugs, *dict.fromkeys(id_ for ids in known for id_ in ids)))


def _known_as(about: About, possible: Sequence[Deviation]) -> list[str]:
    """The deviations that explain all that was observed; none if anything is left."""
    explaining = [next((each.id for each in possible if each.explains(text)), "") for text in about.observed]
    return explaining if all(explaining) else []


def _explained(history: History, verdict: Verdict, possible: Sequence[Diagnosis]) -> Verdict:
    if verdict.outcome is not Outcome.VIOLATES:
        return verdict
    known, failed = list[str](), dict[str, str]()
    for each in possible:
        try:
            known += [each.bug_id] if each.explains(history, verdict) else []
        # What a diagnosis cannot read excuses nothing, and must not keep the run from being judged.
        except Exception as error:  # noqa: BLE001
            failed[each.bug_id] = f"{type(error).__name__}: {error}"
    facts = {**verdict.facts, "diagnoses_failed": failed} if failed else verdict.facts
    return replace(verdict, known_bugs=tuple(known), facts=facts)
