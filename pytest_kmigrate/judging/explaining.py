"""What explains that a run violates something, when everything is judged: known bugs, or pressure of the machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from pytest_kmigrate.catalogue import Deviation, deviations, is_release, known_bug
from pytest_kmigrate.checkers.metadata.wrong import by_side
from pytest_kmigrate.checkers.run.losses import until_loss
from pytest_kmigrate.checkers.run.pressure import relieved, strains
from pytest_kmigrate.judging.parts import left_of, moments, parts
from pytest_kmigrate.model.document import Diagnosis
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.verdict import SEEN_AS, About, Outcome, Verdict


def explained(history: History, verdicts: Iterable[Verdict], diagnoses: Sequence[Diagnosis]) -> list[Verdict]:
    """The verdicts, each violated one with the bugs and deviations of the release that explain it.

    A verdict is explained if each of its violations is. Otherwise it stays red, and shows those that are left. The
    release is what the jars are, whether they were named by a version or by a path. A run against a mutant is
    judged alike: what excuses a planted defect excuses too much. What is left over is not
    Kafka's where it did not come in time while this machine was under pressure.
    """
    history = until_loss(history)
    kafka = history.header.kafka
    possible = [each for each in diagnoses if known_bug(each.bug_id).breaks(kafka)]
    deviating = _deviating(history.header.profile, kafka)
    under = strains(history)
    return [relieved(_explained(history, verdict, possible, deviating), under) for verdict in verdicts]


def deviations_gone(header: RunHeader, verdicts: Iterable[Verdict]) -> list[Deviation]:
    """The deviations that a test of this release must see, as it claims their requirements, and that did not show.

    Each of these requirements conforms, by evidence that could have violated it. A build of somebody may have mended
    any.
    """
    if header.has_mutant or not is_release(header.kafka):
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


def _explained(
    history: History, verdict: Verdict, possible: Sequence[Diagnosis], deviating: Mapping[str, Sequence[Deviation]]
) -> Verdict:
    """The verdict with what explains all of it, or with what is left if a part is explained."""
    if verdict.outcome is not Outcome.VIOLATES or not (possible or deviating):
        return verdict
    failed: dict[str, str] = {}
    whole = _deviated(verdict, deviating)
    if whole:
        verdict = verdict.about_each(_deviating_about(each, deviating) for each in verdict.about)
        ids = [each for each, _ in whole]
        facts = _with_seen(verdict.facts, whole)
        return replace(verdict, known_bugs=tuple(dict.fromkeys(ids)), causes=tuple((id_,) for id_ in ids), facts=facts)
    cut = parts(history, verdict)
    by_part = [(each, _ids_of(*each, possible, deviating, failed)) for each in cut.each]
    known = dict.fromkeys(id_ for _, ids in by_part for id_ in ids)
    facts = {**verdict.facts, "diagnoses_failed": failed} if failed else verdict.facts
    verdict = replace(verdict, facts=facts)
    if not cut.unseen:
        explaining = [(part, ids) for (_, part), ids in by_part]
        verdict = verdict.about_each(_explained_about(each, explaining) for each in verdict.about)
    left = [part for (_, part), ids in by_part if not ids]
    if left or cut.unseen:
        return left_of(verdict, left, cut.unseen, list(known)) if known else verdict
    seen = [(id_, part.violations[0].observed) for (_, part), ids in by_part for id_ in ids if part.violations]
    causes = tuple(tuple(ids) for _, ids in by_part)
    return replace(verdict, known_bugs=tuple(known), causes=causes, facts=_with_seen(verdict.facts, seen))


def _ids_of(
    history: History,
    part: Verdict,
    possible: Sequence[Diagnosis],
    deviating: Mapping[str, Sequence[Deviation]],
    failed: dict[str, str],
) -> list[str]:
    """What explains one part; or what explains each side that lacks something there, where no cause is that of all."""
    if ids := [*_diagnosed(history, part, possible, failed), *_named(part, deviating)]:
        return ids
    of_sides = [list(_diagnosed(history, each, possible, failed)) for each in by_side(history, part)]
    return list(dict.fromkeys(chain.from_iterable(of_sides))) if all(of_sides) else []


def _with_seen(facts: Mapping[str, object], seen: Sequence[tuple[str, str]]) -> dict[str, object]:
    """The facts with what was first observed of each known bug: a reader of many sees each by its own violation."""
    return {**facts, SEEN_AS: dict(reversed(seen))} if seen else dict(facts)


def _explained_about(about: About, by_part: Sequence[tuple[Verdict, Sequence[str]]]) -> About:
    """A requirement with what explains those of the violations that are its own."""
    if about.outcome is not Outcome.VIOLATES:
        return about
    own = [ids for part, ids in by_part if not part.about or _is_violated_in(part, about.requirement)]
    known = dict.fromkeys(each for ids in own for each in ids) if all(own) else {}
    return replace(about, known_bugs=tuple(known))


def _is_violated_in(part: Verdict, requirement: str) -> bool:
    return any(each.requirement == requirement and each.outcome is Outcome.VIOLATES for each in part.about)


def _diagnosed(
    history: History, verdict: Verdict, possible: Sequence[Diagnosis], failed: dict[str, str]
) -> Iterator[str]:
    """The bugs that explain a verdict; a diagnosis that fails is put into ``failed``."""
    for each in possible:
        try:
            if each.explains(history, verdict) and _is_in_time(history, verdict, each):
                yield each.bug_id
        # What a diagnosis cannot read excuses nothing, and must not keep the run from being judged.
        except Exception as error:  # noqa: BLE001
            failed[each.bug_id] = f"{type(error).__name__}: {error}"


def _is_in_time(history: History, verdict: Verdict, diagnosis: Diagnosis) -> bool:
    """Whether what a violation is about was made, or seen, while the bug was at work."""
    if diagnosis.windows is None:
        return True
    windows = diagnosis.windows(history)
    if not windows:
        return False  # whatever is known of the violation
    return all(any(each.from_ns <= at_ns <= each.to_ns for each in windows) for at_ns in moments(history, verdict))


def _named(part: Verdict, deviating: Mapping[str, Sequence[Deviation]]) -> list[str]:
    return [each for each, _ in _deviated(part, deviating)]


def _deviated(verdict: Verdict, deviating: Mapping[str, Sequence[Deviation]]) -> list[tuple[str, str]]:
    """The deviations that explain everything a verdict observed of each requirement it violates, each with what."""
    violated = [about for about in verdict.about if about.outcome is Outcome.VIOLATES]
    if len({text for about in violated for text in about.observed}) < verdict.count:
        return []  # something is violated that no requirement has observed
    known = [_known_as(about, deviating.get(about.requirement, ())) for about in violated]
    seen = [pair for about, ids in zip(violated, known, strict=True) for pair in zip(ids, about.observed, strict=False)]
    return seen if all(known) else []


def _deviating_about(about: About, deviating: Mapping[str, Sequence[Deviation]]) -> About:
    if about.outcome is not Outcome.VIOLATES:
        return about
    return replace(about, known_bugs=tuple(dict.fromkeys(_known_as(about, deviating.get(about.requirement, ())))))


def _known_as(about: About, possible: Sequence[Deviation]) -> list[str]:
    """The deviations that explain all that was observed; none if anything is left."""
    explaining = [next((each.id for each in possible if each.explains(text)), "") for text in about.observed]
    return explaining if all(explaining) else []
