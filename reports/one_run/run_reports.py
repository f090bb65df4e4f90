"""The reports of one run, made of its folder alone: a timeline page and results for Allure."""

from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.one_run.allure_results import write_allure_results
from pytest_kmigrate.reports.one_run.run_evidence import read_evidence
from pytest_kmigrate.reports.one_run.timeline import timeline_page


def write_run_reports(folder: RunFolder) -> None:
    """(Re)write ``timeline.html`` and ``allure-results/`` of a closed run, also of one that was interrupted."""
    evidence = read_evidence(folder)
    partial = folder.timeline.with_name(f".{folder.timeline.name}.partial")
    partial.write_text(timeline_page(evidence), encoding="utf-8")
    partial.replace(folder.timeline)
    write_allure_results(evidence)
