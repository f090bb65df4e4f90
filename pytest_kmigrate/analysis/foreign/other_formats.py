"""Files beside results of tests: known to be something else, or results in a format that is not read."""

from collections.abc import Mapping

from pytest_kmigrate.analysis.foreign.json_formats import of_report
from pytest_kmigrate.analysis.foreign.results import Reading, Unread, no_results

_NO_RESULTS = {
    "BugCollection": "SpotBugs",
    "CodeCoverageReport": "coverage of .NET",
    "checkstyle": "Checkstyle",
    "coverage": "Cobertura or Clover",
    "CoverageSession": "OpenCover",
    "html": "a page",
    "issues": "Android lint",
    "pmd": "PMD",
    "pmd-cpd": "PMD",
    "project": "Maven or Ant",
    "report": "JaCoCo",
    "suite": "a list of tests for TestNG",
}
"""Root elements of what stands beside results of tests in many projects."""

_RESULTS_NOT_READ = {
    "assemblies": "xUnit.net",
    "assembly": "xUnit.net",
    "Site": "CTest for a dashboard; ctest --output-junit FILE writes JUnit XML",
    "robot": "Robot Framework; --xunit FILE writes JUnit XML",
    "test-results": "NUnit 2",
    "test-run": "NUnit 3",
}
"""Root elements of results of tests for which there is no reader."""

TESTNG = "TestNG's own report"
"""TestNG writes it beside JUnit XML of the same results. Only where there is none it leaves a verdict open."""


def document_type() -> Reading:
    """A file of XML that declares a document type."""
    reason = "a document type is not read, for its entities may have any size: remove the DOCTYPE"
    return Reading(unread=(Unread(reason, 1),))


def another_xml(root: str, line: int) -> Reading:
    """What is known of an XML file whose root element, or document type, is none of JUnit's."""
    if root in _NO_RESULTS:
        return no_results(_NO_RESULTS[root])
    if root == "testng-results":
        reported = (
            f"{TESTNG}: not read, as there is JUnit XML of the same results beside it, or in its folder junitreports"
        )
        return Reading(unread=(Unread(reported, is_doubt=False, sort=TESTNG),))
    if root in _RESULTS_NOT_READ:
        reported = f"results of tests in a format that is not read: {_RESULTS_NOT_READ[root]}"
        return Reading(unread=(Unread(reported, line),))
    return Reading(
        unread=(Unread(f"not JUnit XML: expected testsuites or testsuite, got {root}", line, is_doubt=False),)
    )


def another_json(report: Mapping[str, object]) -> Reading:
    """What is known of a ``report.json`` that is not ducktape's."""
    found = of_report(report)
    if found is not None:
        return found
    expected = "expected a list of results, or one result with a test_status"
    return Reading(unread=(Unread(f"not a report of ducktape: {expected}", is_doubt=False),))
