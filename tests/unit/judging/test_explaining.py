"""Facts about the known bugs that explain a violated verdict: asked when all is judged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.judging.judge import judged
from pytest_kmigrate.model.document import Diagnosis
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import SEEN_AS, Kind, Verdict, Violation, conforms, violates
from pytest_kmigrate.recording.reading import read_history
from tests.unit.checkers.histories import event, history
from tests.unit.reports.recorded_runs import faulty_run

RED = violates("no_unexpected_death", Kind.SAFETY, [Violation("a", "b")])
GREEN = conforms("expectations_met", "all")
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

    red = violates("any", Kind.SAFETY, [first, second])
    by = [Diagnosis("KAFKA-15605", of("two is gone")), Diagnosis("KAFKA-16121", of("one is gone"))]
    (found,) = explained(of_360(), [red], by)
    assert found.facts[SEEN_AS] == {"KAFKA-16121": "one is gone", "KAFKA-15605": "two is gone"}


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
