"""Facts about the known bugs that explain a violated verdict: asked when all is judged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.checkers.run.steps import expectations_met
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.judging.judge import judged
from pytest_kmigrate.judging.outcomes import outcomes_by_requirement
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.document import Diagnosis
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import SEEN_AS, Kind, Verdict, Violation, conforms, violates
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.verdicts import as_json, from_json
from tests.unit.checkers.histories import MS, event, history
from tests.unit.reports.recorded_runs import faulty_run

RED = violates(Kind.SAFETY, [Violation("a", "b")]).by("no_unexpected_death")
GREEN = conforms("all").by("expectations_met")
ALWAYS = Diagnosis("KAFKA-15605", lambda _history, _verdict: True)


def of_360(reproduce: str | None = None, **extra: object) -> History:
    """A run of a release that has the bug; how it was asked for, and more of its header."""
    reported = {**extra, **({"reproduce": reproduce} if reproduce else {})}
    return replace(history(), header=replace(history().header, kafka="3.6.0", extra=reported))


def test_only_violations_of_releases_that_have_a_bug_are_explained_by_it() -> None:
    """No diagnosis is asked about a verdict that conforms; on a fixed release no diagnosis is asked."""
    assert [each.known_bugs for each in explained(of_360(), [GREEN, RED], [ALWAYS])] == [(), ("KAFKA-15605",)]
    assert [each.known_bugs for each in explained(history(kafka="3.9.1"), [GREEN, RED], [ALWAYS])] == [(), ()]


@pytest.mark.parametrize(
    ("kafka", "bugs"),
    [
        ("3.6.0", ("KAFKA-15605",)),
        ("3.6.0+acme.0a1b2c3d", ("KAFKA-15605",)),
        ("3.9.1+acme.0a1b2c3d", ()),
        ("3.6.0-acme", ("KAFKA-15605",)),
        ("3.9.2-SNAPSHOT+mine.0a1b2c3d", ()),
        ("trunk", ()),
    ],
)
@pytest.mark.parametrize("named", ["3.6.0", "/opt/acme"])
def test_bugs_excuse_by_what_the_jars_are(kafka: str, bugs: tuple[str, ...], named: str) -> None:
    """However the distribution was named; of a version with words of its own the numbers count."""
    run = of_360(f"pytest t --kmigrate-kafka {named}")
    run = replace(run, header=replace(run.header, kafka=kafka))
    assert [each.known_bugs for each in explained(run, [RED], [ALWAYS])] == [bugs]


def test_a_run_against_a_mutant_is_explained_alike() -> None:
    """What excuses a defect that was planted excuses too much, and has to show."""
    assert [each.known_bugs for each in explained(of_360(byteman="x.btm"), [RED], [ALWAYS])] == [("KAFKA-15605",)]


def test_a_diagnosis_that_fails_excuses_nothing_and_is_recorded() -> None:
    """It cannot keep a run from being judged, and the others are asked all the same."""

    def failing(_history: History, _verdict: Verdict) -> bool:
        raise KeyError("sent")

    (found,) = explained(of_360(), [RED], [Diagnosis("KAFKA-16121", failing), ALWAYS])
    assert found.known_bugs == ("KAFKA-15605",)
    assert found.facts["diagnoses_failed"] == {"KAFKA-16121": "KeyError: 'sent'"}


def test_each_bug_has_its_own_first_violation() -> None:
    """Readers of many runs show what this bug did, not what the check saw first."""
    first, second = (Violation("x", text) for text in ("one is gone", "two is gone"))

    def of(text: str) -> Callable[[History, Verdict], bool]:
        return lambda _history, verdict: [each.observed for each in verdict.violations] == [text]

    red = violates(Kind.SAFETY, [first, second]).by("any")
    by = [Diagnosis("KAFKA-15605", of("two is gone")), Diagnosis("KAFKA-16121", of("one is gone"))]
    (found,) = explained(of_360(), [red], by)
    assert found.facts[SEEN_AS] == {"KAFKA-16121": "one is gone", "KAFKA-15605": "two is gone"}


ONE, OTHER, BOTH = "K866-DW-acls", "K866-DW-quotas", "K866-DW-topic-config"
OF_ONE = Diagnosis("KAFKA-15605", lambda _history, verdict: "acls" in verdict.summary)
OF_OTHER = Diagnosis("KAFKA-15799", lambda _history, verdict: "quotas" in verdict.summary)


@pytest.mark.parametrize(
    ("diagnoses", "of_rows"),
    [
        ([OF_ONE, OF_OTHER], [("KAFKA-15605",), ("KAFKA-15799",), ("KAFKA-15605", "KAFKA-15799")]),
        ([OF_ONE], [("KAFKA-15605",), (), ()]),
        ([], [(), (), ()]),
    ],
    ids=["each by its own", "one is left", "both are left"],
)
def test_a_requirement_has_what_explains_its_own_violations(
    diagnoses: list[Diagnosis], of_rows: list[tuple[str, ...]]
) -> None:
    """A verdict violates several, each by causes of its own; it is stored so, and read back."""
    rows = ([ONE, BOTH], [OTHER, BOTH])
    events = [unmet(5, name, *own) for name, own in zip(("acls", "quotas"), rows, strict=True)]
    run = replace(of_360(), events=events)
    verdict = expectations_met.judged(run, Check(expectations_met.name))
    (found,) = explained(run, [verdict], diagnoses)
    assert {each.requirement: each.known_bugs for each in found.about} == dict(
        zip((ONE, OTHER, BOTH), of_rows, strict=True)
    )
    assert [each.known_bugs for each in from_json(as_json(found)).about] == [each.known_bugs for each in found.about]
    said = {row: its.said for row, its in outcomes_by_requirement([found]).items()}
    assert [said[row].known for row in (ONE, OTHER, BOTH)] == [frozenset(each) for each in of_rows]


def unmet(at_ms: int, name: str, *own: str) -> Event:
    """An expectation of these requirements that was not met."""
    data = {"name": name, "expected": True, "observed": False, "met": False, "kind": "SAFETY", "within_s": 0}
    return Event(0, at_ms * MS, EventKind.EXPECTATION, None, {**data, "took_ms": 0, "requirements": list(own)})


def test_what_older_folders_know_of_a_verdict_is_known_of_each_requirement_that_it_violates() -> None:
    """They do not keep it apart."""
    red = replace(RED, known_bugs=("KAFKA-15605",)).speaking_for(ONE)
    written = as_json(red)
    for each in written["about"]:
        del each["known_bugs"]
    assert [each.known_bugs for each in from_json(written).about] == [("KAFKA-15605",)]


@pytest.mark.parametrize("profile", ["kip-866", "kip-866-draft"])
def test_a_run_is_explained_by_the_diagnoses_of_its_document(profile: str) -> None:
    """The draft's too: the bugs are those of the software, whichever revision it is judged by."""
    said = "Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1"
    died = event(EventKind.NODE_DIED, 2, "controller-3000", exit_code=1, said=said)
    seen = history(events=[event(EventKind.NODE_STARTED, 1, "controller-3000", role="controller"), died])
    verdicts = judged(replace(seen, header=replace(seen.header, profile=profile)))
    assert {each.check: each.known_bugs for each in verdicts}["no_unexpected_death"] == ("kmigrate-3",)


def test_the_logs_of_a_folder_are_read_when_they_are_looked_up(tmp_path: Path) -> None:
    """Whatever bytes they have; a node without a log has none."""
    folder = faulty_run(tmp_path).end(3000)
    folder.log_folder("broker-1").mkdir(parents=True, exist_ok=True)
    folder.log("broker-1").write_bytes(b"WARN caf\xc3\xa9 \xff\n")
    logs = read_history(folder).logs
    assert (logs["broker-1"], logs.get("broker-7")) == ("WARN caf\u00e9 \ufffd\n", None)
    assert "broker-1" in list(logs)
    assert len(logs) == len(list(logs))
