"""Files beside results of tests: most hold none, some hold what is not read."""

import pytest

from pytest_kmigrate.analysis.foreign.junit import read_junit
from pytest_kmigrate.analysis.foreign.other_formats import TESTNG
from pytest_kmigrate.analysis.foreign.results import Unread

COBERTURA = '<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "http://x.example/coverage-04.dtd"><coverage/>'
JACOCO = '<?xml version="1.0"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report/>'


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        (COBERTURA, "Cobertura or Clover"),
        (JACOCO, "JaCoCo"),
        ('<checkstyle version="10.3"/>', "Checkstyle"),
        ('<project xmlns="http://maven.example/POM"/>', "Maven or Ant"),
        ("<!DOCTYPE html><html/>", "a page"),
    ],
)
def test_what_is_known_to_be_no_results_is_no_doubt(text: str, sort: str) -> None:
    """Files of one sort are one line, and none is advised to lose its document type."""
    (unread,) = read_junit(text).unread
    assert unread == Unread(f"{sort}: no results of tests", is_doubt=False, sort=sort)


@pytest.mark.parametrize(
    ("text", "tool"),
    [("<test-run/>", "NUnit 3"), ("<assemblies/>", "xUnit.net"), ("<robot/>", "Robot Framework"), ("<Site/>", "CTest")],
)
def test_results_that_are_not_read_leave_the_verdict_open(text: str, tool: str) -> None:
    """They may hold a failure."""
    (unread,) = read_junit(text).unread
    assert unread.reason.startswith(f"results of tests in a format that is not read: {tool}")
    assert unread.is_doubt


def test_any_other_xml_is_named_and_is_no_doubt() -> None:
    """JUnit XML begins with suites, and what begins otherwise is none."""
    (unread,) = read_junit("<notes/>").unread
    assert (unread.reason, unread.is_doubt) == ("not JUnit XML: expected testsuites or testsuite, got notes", False)


def test_what_testng_writes_beside_its_junit_xml_is_a_sort_of_its_own() -> None:
    """Whether there is such XML, no single file can say."""
    (unread,) = read_junit("<testng-results/>").unread
    assert (unread.sort, unread.is_doubt) == (TESTNG, False)
