"""Which known bugs of Kafka explain what a run violates: asked when everything is judged."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.model.document import Diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.recording.asking import kafka_asked_for


def explained(history: History, verdicts: Iterable[Verdict], diagnoses: Sequence[Diagnosis]) -> list[Verdict]:
    """The verdicts, each violated one with the bugs of the release that explain it.

    A distribution given by path has no known bug, see ``KnownBug.breaks``. Nothing explains what a run against a
    mutant (``--kmigrate-byteman``) violates.
    """
    kafka, is_mutant = kafka_asked_for(history.header), bool(history.header.extra.get("byteman"))
    possible = [] if is_mutant else [each for each in diagnoses if known_bug(each.bug_id).breaks(kafka)]
    return [_explained(history, verdict, possible) for verdict in verdicts]


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
