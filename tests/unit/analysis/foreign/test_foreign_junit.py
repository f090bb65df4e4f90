"""JUnit XML of many tools: what counts, which attempts were made, and what is set aside."""

import datetime as dt

import pytest

from pytest_kmigrate.analysis.foreign.junit import read_junit

SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="org.x.LogTest" time="1,234.5"
           timestamp="2026-03-01T10:00:00">
  <properties><property name="kafka.version" value="3.9.1"/><property name="os.name" value="Linux"/></properties>
  <testcase name="appends" classname="org.x.LogTest" time="0.25"/>
  <testcase name="rolls" classname="org.x.LogTest" time="0.5">
    <flakyFailure message="expected 3" type="org.opentest4j.AssertionFailedError" time="0.75">
      <stackTrace><![CDATA[org.opentest4j.AssertionFailedError: expected 3
  at org.x.LogTest.rolls(LogTest.java:12)]]></stackTrace>
      <system-out>noise</system-out>
    </flakyFailure>
    <flakyError message="no disk" type="java.io.IOException"/>
  </testcase>
  <testcase name="compacts" classname="org.x.LogTest" time="1">
    <failure message="was 4" type="java.lang.AssertionError">java.lang.AssertionError: was 4</failure>
    <rerunFailure message="was 5" type="java.lang.AssertionError"/>
    <rerunError type="java.io.EOFException"><stackTrace>java.io.EOFException</stackTrace></rerunError>
  </testcase>
  <testcase name="deletes" classname="org.x.LogTest"><skipped message="not here"/></testcase>
  <system-out>noise of the suite</system-out>
</testsuite>
"""


def test_every_attempt_of_surefire_counts() -> None:
    """Failures before a success, the first failure and its reruns: each is an attempt, in the order it was made."""
    reading = read_junit(SUREFIRE)
    reported = [
        (each.test_id.removeprefix("org.x.LogTest."), each.outcome.name, each.check) for each in reading.results
    ]
    assert reading.unread == ()
    assert reported == [
        ("appends", "CONFORMS", "test passes"),
        ("rolls", "VIOLATES", "org.opentest4j.AssertionFailedError"),
        ("rolls", "VIOLATES", "java.io.IOException"),
        ("rolls", "CONFORMS", "test passes"),
        ("compacts", "VIOLATES", "java.lang.AssertionError"),
        ("compacts", "VIOLATES", "java.lang.AssertionError"),
        ("compacts", "VIOLATES", "java.io.EOFException"),
        ("deletes", "NOT_APPLICABLE", "test passes"),
    ]
    assert [each.attempt for each in reading.results] == [1, 1, 2, 3, 1, 2, 3, 1]
    assert len({each.run for each in reading.results}) == 4


def test_times_texts_and_conditions_are_kept() -> None:
    """A suite's start and properties are its cases'; a message that its trace repeats is kept once, output never."""
    _, flaky, _, passed, *_ = read_junit(SUREFIRE).results
    assert flaky.started_at == dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)
    assert (flaky.duration_ms, passed.duration_ms) == (750.0, 500.0)
    assert flaky.conditions == {"kafka": "3.9.1"}
    assert flaky.summary == (
        "org.opentest4j.AssertionFailedError: expected 3\n  at org.x.LogTest.rolls(LogTest.java:12)"
    )


def test_a_violation_is_never_called_safety() -> None:
    """A failure or an error is LIVENESS: a foreign file proves no more."""
    kinds = {(each.outcome.name, each.kind.value if each.kind else None) for each in read_junit(SUREFIRE).results}
    assert kinds == {
        ("CONFORMS", None),
        ("VIOLATES", "LIVENESS"),
        ("NOT_APPLICABLE", None),
    }


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ("<testcase name='t'/>", "CONFORMS"),
        ("<testcase name='t' status='notrun'/>", "NOT_APPLICABLE"),
        ("<testcase name='t'><failure/><error message='while cleaning up'/></testcase>", "VIOLATES"),
        ("<testcase name='t'><error/><skipped/></testcase>", "VIOLATES"),
        ("<testcase name='t'><system-out>&lt;failure/></system-out></testcase>", "CONFORMS"),
        ("<testcase name='t'><failure>\x1b[31mred\x1b[0m</failure></testcase>", "VIOLATES"),
    ],
)
def test_one_case_ends_in_one_way(case: str, outcome: str) -> None:
    """The worst ending of a case counts; colours of a terminal do not break the file."""
    (result,) = read_junit(f"<testsuites><testsuite name='s'>{case}</testsuite></testsuites>").results
    assert (result.test_id, result.outcome.name) == ("s.t", outcome)


def test_namespaces_and_nested_suites_are_read() -> None:
    """A default namespace, suites in suites: the nearest suite's name and start count."""
    (result,) = read_junit(
        "<testsuites xmlns='urn:junit'><testsuite name='outer' timestamp='2026-03-01T12:00:00+02:00'>"
        "<testsuite name='inner'><testcase name='t'/></testsuite></testsuite></testsuites>"
    ).results
    assert result.test_id == "inner.t"
    assert result.started_at == dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)


def test_what_stands_before_a_break_counts() -> None:
    """A file cut off by a kill: the cases that were written whole are kept, the rest is set aside with its line."""
    whole = '<testsuite name="s">\n<testcase name="a"/>\n'
    reading = read_junit(whole + '<testcase name="b"><failure mess')
    assert [each.test_id for each in reading.results] == ["s.a"]
    (unread,) = reading.unread
    assert (unread.line, unread.reason) == (3, "broken XML: unclosed token; what stands before it counts")


def test_a_suite_that_broke_before_its_first_test_is_told() -> None:
    """What a suite counts and does not hold is missing: once, however many suites count it; an empty one lacks none."""
    broken = "<testsuite name='s' tests='3' errors='1'><error message='setUpClass died'/></testsuite>"
    empty = "<testsuite name='none' tests='0' failures='0'/><testsuite name='untold'/>"
    reading = read_junit(f"<testsuites tests='3' errors='1'>{empty}{broken}</testsuites>")
    whole = read_junit(
        "<testsuites tests='1'><testsuite name='s' tests='1'><testcase name='t'/></testsuite></testsuites>"
    )

    lost = "<testsuites tests='2'><testsuite name='s' tests='2' failures='1'/></testsuites>"
    assert [each.reason for each in reading.unread] == ["suite s broke outside of its test cases: setUpClass died"]
    assert [each.reason for each in read_junit(lost).unread] == [
        "suite s has no test case, though it counts tests 2, failures 1"
    ]
    assert (reading.results, whole.unread) == ((), ())


def test_a_name_of_blanks_is_none() -> None:
    """Of a case, of its class and of its suite: what is left names the test."""
    names = [
        "<testsuite name=' '><testcase name=' '/></testsuite>",
        "<testsuite name='s'><testcase name=' t '/></testsuite>",
    ]
    assert [read_junit(text).results[0].test_id for text in names] == ["", "s.t"]


LAUGHS = """<!DOCTYPE testsuite [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuite name="s"><testcase name="t"><failure>&b;</failure></testcase></testsuite>"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LAUGHS, "a document type is not read, for its entities may have any size: remove the DOCTYPE"),
        ('<!DOCTYPE testsuites SYSTEM "file:///etc/passwd"><testsuite/>', "a document type is not read"),
        ("<notes><testcase name='t'/></notes>", "not JUnit XML: expected testsuites or testsuite, got notes"),
        ("", "broken XML: no element found"),
        ("no XML at all", "broken XML: syntax error"),
    ],
)
def test_what_is_no_report_is_set_aside(text: str, reason: str) -> None:
    """Document types are refused before any entity is expanded; other XML and other text is named as such."""
    reading = read_junit(text)
    assert reading.results == ()
    assert reading.unread[0].reason.startswith(reason)


@pytest.mark.parametrize(
    ("time", "timestamp"),
    [
        ("NaN", "yesterday"),
        ("-1", ""),
        ("", "9999-12-31T23:59:59-12:00"),
        ("", "9999-12-31T23:59:59"),
        ("", "1970-01-01T00:00:07"),
    ],
)
def test_impossible_times_are_no_times(time: str, timestamp: str) -> None:
    """A result whose times cannot be read is a result all the same."""
    (result,) = read_junit(
        f"<testsuite name='s' timestamp='{timestamp}'><testcase name='t' time='{time}'/></testsuite>"
    ).results
    assert (result.outcome.name, result.duration_ms, result.started_at) == ("CONFORMS", None, None)
