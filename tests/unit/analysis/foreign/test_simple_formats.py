"""Results as Visual Studio, CTRF, pytest-json-report and ``go test -json`` write them; what a name must not hold."""

import json

import pytest

from pytest_kmigrate.analysis.foreign import is_foreign
from pytest_kmigrate.analysis.foreign.attempts import lasting
from pytest_kmigrate.analysis.foreign.ducktape import read_ducktape
from pytest_kmigrate.analysis.foreign.json_formats import read_json
from pytest_kmigrate.analysis.foreign.junit import read_junit
from pytest_kmigrate.analysis.foreign.results import Reading

TRX = """<?xml version="1.0" encoding="utf-8"?>
<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
 <Results>
  <UnitTestResult testId="1" testName="Adds" outcome="Passed" duration="00:00:01.5000000"
    startTime="2026-10-01T03:00:00.0000000+00:00" computerName="host-1"/>
  <UnitTestResult testId="2" testName="Acme.Sums.Divides" outcome="Failed" duration="00:00:00.1">
   <Output><ErrorInfo><Message>System.DivideByZeroException: no</Message>
    <StackTrace>at x</StackTrace></ErrorInfo></Output>
  </UnitTestResult>
  <UnitTestResult testId="3" testName="Waits" outcome="NotExecuted"/>
 </Results>
 <TestDefinitions>
  <UnitTest id="1"><TestMethod className="Acme.Sums, Acme"/></UnitTest>
  <UnitTest id="2"><TestMethod className="Acme.Sums"/></UnitTest>
 </TestDefinitions>
</TestRun>"""
CTRF = {
    "results": {
        "tool": {"name": "x"},
        "summary": {"start": 1_790_000_000_000},
        "tests": [
            {"name": "a", "status": "passed", "duration": 12, "suite": "s"},
            {"name": "b", "status": "failed", "duration": 3, "message": "AssertionError: no"},
            {"name": "c", "status": "passed", "duration": 3, "flaky": True, "retries": 2},
            {"name": "d", "status": "pending", "duration": 0},
            {"name": "e", "status": "other", "duration": 0},
        ],
    }
}
PYTEST = {
    "created": 1_790_000_000.5,
    "exitcode": 1,
    "tests": [
        {"nodeid": "f.py::a", "outcome": "passed", "setup": {"duration": 1}, "call": {"duration": 0.5}},
        {"nodeid": "f.py::b", "outcome": "failed", "call": {"duration": 1, "crash": {"message": "E: no"}}},
        {"nodeid": "f.py::c", "outcome": "error", "setup": {"duration": 1, "longrepr": "fixture broke"}},
        {"nodeid": "f.py::d", "outcome": "xfailed"},
    ],
}
GO = [
    {"Time": "2026-10-01T03:00:00Z", "Action": "run", "Package": "p", "Test": "TestA"},
    {"Action": "output", "Package": "p", "Test": "TestA", "Output": "    a_test.go:7: no leader\\n"},
    {"Time": "2026-10-01T03:00:01Z", "Action": "fail", "Package": "p", "Test": "TestA", "Elapsed": 1.0},
    {"Action": "pass", "Package": "p", "Test": "TestB/one", "Elapsed": 0},
    {"Action": "skip", "Package": "p", "Test": "TestC", "Elapsed": 0},
    {"Action": "fail", "Package": "p", "Elapsed": 1.2},
    {"Action": "fail", "Package": "broken", "Elapsed": 0},
]


def outcomes(found: Reading) -> list[tuple[str, str]]:
    """Each result by its test and outcome."""
    return [(each.test_id, each.outcome.name) for each in found.results]


def test_visual_studio() -> None:
    """Classes come from the definitions; a message is the first of the summary."""
    found = read_junit(TRX)
    assert outcomes(found) == [
        ("Acme.Sums.Adds", "CONFORMS"),
        ("Acme.Sums.Divides", "VIOLATES"),
        ("Waits", "NOT_APPLICABLE"),
    ]
    passed, failed, _ = found.results
    assert (passed.duration_ms, passed.host, passed.tool) == (1_500.0, "host-1", "trx")
    assert passed.started_at is not None
    assert failed.check == "System.DivideByZeroException"


@pytest.mark.parametrize("text", [TRX[:300], TRX.replace("<TestRun", "<!DOCTYPE TestRun><TestRun", 1)])
def test_a_broken_file_of_visual_studio_is_a_doubt(text: str) -> None:
    """Whatever is wrong with it, the verdict stays open."""
    assert any(each.is_doubt for each in read_junit(text).unread)


@pytest.mark.parametrize("reference", ["&#27;", "&#x1B;", "&#0;", "&#0000000000000027;", "&#xFFFE;", "&#99999999999;"])
@pytest.mark.parametrize("of", [TRX, '<testsuite><testcase name="t"><failure message="{}no"/></testcase></testsuite>'])
def test_a_character_that_xml_forbids_loses_no_result(of: str, reference: str) -> None:
    """Colours of a terminal are in messages, as they are or as references; in every format of XML."""
    whole = of.replace("System.Divide", f"{reference}System.Divide").replace("{}", reference)
    found = read_junit(whole)
    assert len(found.results) == len(read_junit(of).results)
    assert found.unread == ()
    assert any(each.outcome.name == "VIOLATES" for each in found.results)


@pytest.mark.parametrize("total", ["", "many", "-1"])
def test_a_count_that_is_no_number_is_no_count(total: str) -> None:
    """Of a file without results."""
    empty = f'<TestRun><ResultSummary><Counters total="{total}"/></ResultSummary></TestRun>'
    assert read_junit(empty).results == ()


@pytest.mark.parametrize("time", [1e300, float("nan"), 1, 4e12, "yesterday", None, True])
def test_a_time_at_which_no_test_began_is_none(time: object) -> None:
    """A clock that was not set puts no run into 1970 or the year 128,000."""
    ctrf = {"results": {"summary": {"start": time}, "tests": [{"name": "a", "status": "passed", "start": time}]}}
    for report in (ctrf, {**PYTEST, "created": time}):
        assert {each.started_at for each in read_json(json.dumps(report)).results} == {None}


def test_a_number_that_is_none_loses_no_result() -> None:
    """A duration in words, a summary that is not there."""
    ctrf = {"results": {"summary": None, "tests": [{"name": "a", "status": "failed", "duration": "long"}]}}
    assert outcomes(read_json(json.dumps(ctrf))) == [("a", "VIOLATES")]
    odd = [{**each, "Elapsed": "long"} for each in GO]
    assert outcomes(read_json("\n".join(map(json.dumps, odd)))) == outcomes(read_json("\n".join(map(json.dumps, GO))))


def test_ctrf() -> None:
    """The retries of a flaky test are attempts that failed."""
    found = read_json(json.dumps(CTRF))
    assert outcomes(found) == [
        ("s.a", "CONFORMS"),
        ("b", "VIOLATES"),
        ("c", "VIOLATES"),
        ("c", "VIOLATES"),
        ("c", "CONFORMS"),
        ("d", "NOT_APPLICABLE"),
        ("e", "INCONCLUSIVE"),
    ]
    assert [each.attempt for each in found.results if each.test_id == "c"] == [1, 2, 3]


@pytest.mark.parametrize("read", [read_json, read_ducktape])
def test_pytest_json_report(read: object) -> None:
    """Under its own name and as ``report.json``; an error of a fixture is no answer of the test."""
    found = read(json.dumps(PYTEST))  # type: ignore[operator]  # either reader
    assert outcomes(found) == [
        ("f.py::a", "CONFORMS"),
        ("f.py::b", "VIOLATES"),
        ("f.py::c", "INCONCLUSIVE"),
        ("f.py::d", "NOT_APPLICABLE"),
    ]
    assert found.results[0].duration_ms == 1_500.0


def test_go() -> None:
    """Output is that of its test; a package that fails without a failed test leaves the verdict open."""
    found = read_json("\n".join(map(json.dumps, GO)))
    assert outcomes(found) == [("p.TestA", "VIOLATES"), ("p.TestB/one", "CONFORMS"), ("p.TestC", "NOT_APPLICABLE")]
    assert "no leader" in found.results[0].summary
    assert [each.reason for each in found.unread] == ["package broken broke outside of its tests"]
    odd = [{**each, "Output": "a\x85b\u2028c\r\n"} for each in GO]
    written = "\r\n".join(json.dumps(each, ensure_ascii=False) for each in odd)
    assert outcomes(read_json(written)) == outcomes(found)
    assert [each.reason for each in read_json(written).unread] == ["package broken broke outside of its tests"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"results": {"tests": [1, {"status": "passed"}]}}', "null\n7"])
def test_what_is_not_such_a_report_breaks_nothing(text: str) -> None:
    """It holds no result, and what could not be understood is listed."""
    found = read_json(text)
    assert not found.results
    assert found.unread


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/TEST-x.xml.gz", "junit"),
        ("results.trx", "junit"),
        ("ctrf-report.json", "json"),
        ("go-test.json", "json"),
        (".report.json", "json"),
        ("test-results.json", "json"),
        ("package.json", None),
        ("sessions.jsonl", None),
    ],
)
def test_names_of_files(name: str, kind: str | None) -> None:
    """What a file may hold is known by its name; JSON of any other name is not opened."""
    assert is_foreign(name) == kind


@pytest.mark.parametrize("reference", ["&#0;", "&#27;", "&#x1B;", "&#xFFFE;", "&#99999999;"])
def test_a_reference_that_xml_forbids_loses_no_case(reference: str) -> None:
    """The case that has it counts, and so do all after it."""
    cases = f'<testcase name="a"><failure message="red {reference}[31m"/></testcase><testcase name="b"/>'
    found = read_junit(f'<testsuite name="s">{cases}</testsuite>')
    assert outcomes(found) == [("s.a", "VIOLATES"), ("s.b", "CONFORMS")]
    assert not found.unread
    assert found.results[0].summary == "red \ufffd[31m"


@pytest.mark.parametrize(
    ("names", "one"),
    [
        (("t[<Foo object at 0x7f01ab>]", "t[<Foo object at 0x7fffab>]"), "t[<Foo object at <hex>>]"),
        (("C.m(org.x.Y@1b2c3d4)", "C.m(org.x.Y@5f6a7b8)"), "C.m(org.x.Y@<hex>)"),
        (("t[127.0.0.1:53412]", "t[127.0.0.1:41001]"), "t[127.0.0.1:<port>]"),
        (("t[localhost:9092]",), "t[localhost:<port>]"),
        (("t[5f0c1d2e-1234-4abc-9def-0123456789ab]",), "t[<id>]"),
        (("t[0x10-a@b.example-12:30]",), "t[0x10-a@b.example-12:30]"),
    ],
)
def test_a_name_is_the_same_every_night(names: tuple[str, ...], one: str) -> None:
    """Addresses, hashes of objects, ports and random ids are no part of it; what a test was given is."""
    assert {lasting(each) for each in names} == {one}


def _suite(*failed: bool) -> str:
    case = '<testcase classname="C" name="assigns">{}</testcase>'
    return f"<testsuite>{''.join(case.format('<failure/>' * each) for each in failed)}</testsuite>"


@pytest.mark.parametrize(
    ("failed", "names"),
    [
        ((False, False, True), ["C.assigns #1", "C.assigns #2", "C.assigns #3"]),
        ((True, False), ["C.assigns", "C.assigns"]),
        ((True, True, False), ["C.assigns"] * 3),
        ((False,), ["C.assigns"]),
    ],
)
def test_what_follows_a_pass_is_no_retry(failed: tuple[bool, ...], names: list[str]) -> None:
    """Cases of one name are retries after failures, and invocations of their own where one passed before another."""
    assert [each.test_id for each in read_junit(_suite(*failed)).results] == names
