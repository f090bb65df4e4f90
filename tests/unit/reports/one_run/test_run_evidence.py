"""What per-run reports read of a run folder: slices of logs, and no secrets."""

import re
from pathlib import Path

import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.recording import recorder, seals
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.one_run import run_evidence, timeline, timeline_verdicts
from pytest_kmigrate.reports.one_run.run_evidence import read_evidence
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from pytest_kmigrate.reports.one_run.timeline import timeline_page
from tests.unit.reports.recorded_runs import GREEN, faulty_run, lost

PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END PRIVATE KEY-----\n"


def test_the_log_is_shown_up_to_the_moment_and_no_further_than_the_next_event(tmp_path: Path) -> None:
    """Lines before the violation, those until the next event set apart, and nothing from later."""
    run = faulty_run(tmp_path)
    run.log("controller-3000", "".join(f"early line {number}\n" for number in range(50)))
    at = run.at(2100, EventKind.EXPECTATION, name="x", met=False)
    run.log("controller-3000", "line just after\n")
    run.at(2200, EventKind.EXPECTATION, name="y", met=True)
    run.log("controller-3000", "line of much later\n")
    page = timeline_page(read_evidence(run.end(3000, lost(2150, f"event {at}"))))

    log = page.partition("log of controller-3000 up to 2.15 s")[2].partition("</details>")[0]
    assert "early line 20\n" in log
    assert "early line 19\n" not in log
    assert log.index("early line 49") < log.index("2.15 s") < log.index("line just after")
    assert "line of much later" not in log


@pytest.fixture
def _recorded_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier release recorded less redacted; its folders have reports, too."""
    monkeypatch.setattr(seals, "redacted_values", lambda values: values)
    monkeypatch.setattr(recorder, "hide_secrets", lambda _: None)


def _run_with_secrets(folder: Path) -> RunFolder:
    run = faulty_run(folder)
    run.log("controller-3000", f"x\nssl.keystore.password=hunter2\n{PEM[:40]}")
    run.at(
        2100, EventKind.HARNESS_TROUBLE, what="start", error='KafkaServer { LoginModule required password="hunter2"; }'
    )
    run.log("controller-3000", f"{PEM[40:]}y\n")
    return run.end(3000, lost(2150))


@pytest.mark.usefixtures("_recorded_as_it_comes")
def test_no_secret_reaches_a_report(tmp_path: Path) -> None:
    """Passwords in logs and events, and a key across the moment, are in neither the page nor Allure's files."""
    folder = _run_with_secrets(tmp_path)

    write_run_reports(folder)

    texts = [file.read_text() for file in (folder.timeline, *folder.allure.iterdir())]
    assert any("[redacted PRIVATE KEY]" in text for text in texts)
    assert not [text for text in texts if re.search("hunter2|MIIEvQ|BgkqhkiG", text)]


@pytest.mark.usefixtures("_recorded_as_it_comes")
def test_without_redaction_the_secrets_would_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted defect: the same run through reports that do not redact does show them."""
    monkeypatch.setattr(run_evidence, "redacted", lambda text: text)
    for room in (run_evidence, timeline, timeline_verdicts):
        monkeypatch.setattr(room, "redacted_values", lambda values: values)
    folder = _run_with_secrets(tmp_path)

    write_run_reports(folder)

    assert re.search(r"hunter2[\s\S]*BgkqhkiG|BgkqhkiG[\s\S]*hunter2", folder.timeline.read_text())


def test_a_window_that_begins_inside_a_key_shows_none_of_it(tmp_path: Path) -> None:
    """The beginning of the key lies before what is read; its end shows that what precedes it is secret."""
    run = faulty_run(tmp_path)
    run.log(
        "controller-3000", "-----BEGIN PRIVATE KEY-----\n" + "QUJDREVG\n" * 3000 + "-----END PRIVATE KEY-----\nafter\n"
    )
    evidence = read_evidence(run.end(3000, GREEN))

    piece = evidence.log_slice("controller-3000", None, 30)

    assert piece is not None
    assert piece.before[-1] == "after"
    assert "QUJDREVG" not in "".join(piece.before)
