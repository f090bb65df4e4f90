"""JUnit XML as each tool writes it: what passed, failed, was left out, or is no answer of a test."""

from dataclasses import dataclass

import pytest

from pytest_kmigrate.analysis.foreign.junit import read_junit

PASS, FAIL, SKIP, OPEN = "CONFORMS", "VIOLATES", "NOT_APPLICABLE", "INCONCLUSIVE"


@dataclass(frozen=True)
class Dialect:
    """A tool, what it writes, and what each test in it comes to."""

    tool: str
    xml: str
    outcomes: dict[str, str]


SUREFIRE = Dialect(
    "Maven Surefire, Gradle",
    """<testsuite name="org.x.A">
    <testcase name="times out" classname="org.x.A"><error type="java.util.concurrent.TimeoutException"/></testcase>
    <testcase name="" classname="org.x.Broken"><error message="no disk" type="java.io.IOException"/></testcase>
    <testcase name="initializationError" classname="org.x.Gradle"><failure message="no disk"/></testcase>
    <testcase name="forked" classname="org.x.A"><error message="The forked VM terminated without saying"/></testcase>
    </testsuite>""",
    {
        "org.x.A.times out": FAIL,
        "org.x.Broken": OPEN,
        "org.x.Gradle.initializationError": OPEN,
        "org.x.A.forked": OPEN,
    },
)
TESTNG = Dialect(
    "TestNG",
    """<testsuite name="org.x.A" hostname="h">
    <testcase name="opens" classname="org.x.A"><failure type="java.lang.AssertionError" message="was 4"/></testcase>
    <testcase name="@BeforeMethod setUp" classname="org.x.A"><failure message="no disk"/></testcase>
    <testcase name="waits" classname="org.x.A"><skipped/></testcase><testcase name="@AfterHours" classname="org.x.A"/>
    </testsuite>""",
    {"org.x.A.opens": FAIL, "org.x.A.@BeforeMethod setUp": OPEN, "org.x.A.waits": SKIP, "org.x.A.@AfterHours": PASS},
)
GTEST = Dialect(
    "googletest",
    """<testsuites name="AllTests"><testsuite name="Log">
    <testcase name="Rolls" status="run" result="completed" time="0.4" classname="Log"/>
    <testcase name="NeedsDisks" status="run" result="skipped" time="0.1" classname="Log"/>
    <testcase name="DISABLED_Slow" status="notrun" result="suppressed" time="0" classname="Log"/>
    <testcase name="Old" status="notrun" time="0" classname="Log"/>
    <testcase name="Cleans" status="run" result="completed" classname="Log"><failure message="x.cc:3"/></testcase>
    </testsuite></testsuites>""",
    {"Log.Rolls": PASS, "Log.NeedsDisks": SKIP, "Log.DISABLED_Slow": SKIP, "Log.Old": SKIP, "Log.Cleans": FAIL},
)
CTEST = Dialect(
    "ctest",
    """<testsuite name="Linux-c++" tests="4" failures="1" disabled="1" skipped="1" hostname="" time="3"
       timestamp="2026-10-01T03:00:00">
    <testcase name="rolls" classname="rolls" time="0.02" status="run"><system-out>ok</system-out></testcase>
    <testcase name="cleans" classname="cleans" time="0.02" status="fail"><failure message=""/></testcase>
    <testcase name="slow" classname="slow" time="0" status="disabled"><skipped message="Disabled"/></testcase>
    <testcase name="far" classname="far" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=4"/></testcase>
    </testsuite>""",
    {"rolls.rolls": PASS, "cleans.cleans": FAIL, "slow.slow": SKIP, "far.far": SKIP},
)
GO = Dialect(
    "gotestsum, go-junit-report",
    """<testsuites><testsuite name="x.org/log">
    <testcase classname="log" name="TestRolls" time="0.000"/>
    <testcase classname="log" name="TestCleans" time="0.1"><failure message="Failed" type="">boom</failure></testcase>
    <testcase classname="log" name="TestSkips"><skipped message="short"/></testcase>
    <testcase classname="log" name="TestMain"><failure message="Failed" type=""/></testcase>
    <testcase classname="x.org/other" name="[build failed]"><error message="Build error">x.go:3</error></testcase>
    <testcase classname="log" name="TestHangs"><error message="No test result found"/></testcase>
    </testsuite></testsuites>""",
    {
        "log.TestRolls": PASS,
        "log.TestCleans": FAIL,
        "log.TestSkips": SKIP,
        "log.TestMain": OPEN,
        "x.org/other.[build failed]": OPEN,
        "log.TestHangs": OPEN,
    },
)
JEST = Dialect(
    "jest-junit",
    """<testsuites name="jest tests"><testsuite name="log" errors="1" failures="1" skipped="1">
    <testcase classname="log rolls" name="log rolls" time="0.002"/>
    <testcase classname="log cleans" name="log cleans"><failure>Error: expect(received)</failure></testcase>
    <testcase classname="log waits" name="log waits"><skipped/></testcase>
    <testcase classname="Test suite failed to run" name="/app/log.test.js"><error>SyntaxError</error></testcase>
    </testsuite></testsuites>""",
    {
        "log rolls.log rolls": PASS,
        "log cleans.log cleans": FAIL,
        "log waits.log waits": SKIP,
        "Test suite failed to run./app/log.test.js": OPEN,
    },
)
BAZEL = Dialect(
    "Bazel",
    """<testsuites><testsuite name="log" tests="4" errors="3">
    <testcase name="log/ok" status="run" duration="1" time="1"/>
    <testcase name="log/red" status="run" duration="1" time="1"><error message="exited with error code 1"/></testcase>
    <testcase name="log/killed" status="run"><error message="exited with error code 142"/></testcase>
    <testcase name="log/gone" status="run"><error message="exited with error code 127"/></testcase>
    <testcase name="rolls" classname="Log" status="run" result="completed"/>
    <testcase name="cleans" classname="Log" status="notrun" result="filtered"/>
    <testcase name="waits" classname="Log" status="run" result="interrupted"/>
    </testsuite></testsuites>""",
    {
        "log.log/ok": PASS,
        "log.log/red": FAIL,
        "log.log/killed": FAIL,
        "log.log/gone": OPEN,
        "Log.rolls": PASS,
        "Log.cleans": SKIP,
        "Log.waits": OPEN,
    },
)
PYTEST = Dialect(
    "pytest",
    """<testsuites><testsuite name="pytest" errors="3" failures="1">
    <testcase classname="tests.test_log" name="test_rolls[3.9.1]" time="0.1"/>
    <testcase classname="tests.test_log" name="test_setup"><error message='failed on setup with "OSError"'/></testcase>
    <testcase classname="tests.test_log" name="test_after"><error message='failed on teardown with "E"'/></testcase>
    <testcase classname="" name="tests.test_broken"><error message="collection failure">ImportError</error></testcase>
    <testcase classname="tests.test_log" name="test_red"><failure message="assert 4 == 3"/></testcase>
    <testcase classname="tests.test_log" name="test_xfail"><skipped type="pytest.xfail" message=""/></testcase>
    </testsuite></testsuites>""",
    {
        "tests.test_log.test_rolls[3.9.1]": PASS,
        "tests.test_log.test_setup": OPEN,
        "tests.test_log.test_after": OPEN,
        "pytest.tests.test_broken": OPEN,
        "tests.test_log.test_red": FAIL,
        "tests.test_log.test_xfail": SKIP,
    },
)
OTHERS = Dialect(
    "unittest-xml-reporting, Mocha, NUnit, MSTest, PHPUnit, cargo-nextest, nose",
    """<testsuites><testsuite name="s">
    <testcase classname="u" name="setUpClass (tests.TestLog)"><error message="no disk"/></testcase>
    <testcase classname="m" name='"before each" hook for "rolls"'><failure>Error</failure></testcase>
    <testcase classname="n" name="Rolls"><failure message="OneTimeSetUp: no disk"/></testcase>
    <testcase classname="n" name="Sets"><failure message="SetUpDisk was never called"/></testcase>
    <testcase classname="v" name="Rolls"><failure message="Class Initialization method X threw"/></testcase>
    <testcase classname="p" name="rolls"><warning type="PHPUnit\\Framework\\Warning">no data</warning></testcase>
    <testcase classname="p" name="thinks"><risky/></testcase>
    <testcase classname="r" name="rolls"><failure type="test failure with exit code 101"/></testcase>
    <testcase classname="r" name="gone"><error type="execution failure"/></testcase>
    <testcase classname="nose.failure.Failure" name="runTest"><error type="ImportError"/></testcase>
    </testsuite></testsuites>""",
    {
        "u.setUpClass (tests.TestLog)": OPEN,
        'm."before each" hook for "rolls"': OPEN,
        "n.Rolls": OPEN,
        "n.Sets": FAIL,
        "v.Rolls": OPEN,
        "p.rolls": OPEN,
        "p.thinks": SKIP,
        "r.rolls": FAIL,
        "r.gone": OPEN,
        "nose.failure.Failure.runTest": OPEN,
    },
)
DUCKTAPE = Dialect(
    "ducktape",
    """<testsuites name="ducktape"><testsuite name="log_test" tests="3">
    <testcase name="test_rolls.from=3.6" classname="LogTest" status="pass"/>
    <testcase name="test_red" classname="LogTest" status="fail"><failure message="runs 1, 2 summary:"/></testcase>
    <testcase name="test_out" classname="LogTest" status="ignore"><skipped/></testcase>
    </testsuite></testsuites>""",
    {
        "log_test.LogTest.test_rolls.from=3.6": PASS,
        "log_test.LogTest.test_red": FAIL,
        "log_test.LogTest.test_out": SKIP,
    },
)
DIALECTS = (SUREFIRE, TESTNG, GTEST, CTEST, GO, JEST, BAZEL, PYTEST, OTHERS, DUCKTAPE)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.tool)
def test_each_dialect_is_understood(dialect: Dialect) -> None:
    """A test passed only if nothing says otherwise; setup, teardown and broken suites are no answer of a test."""
    reading = read_junit(dialect.xml)

    assert {each.test_id: each.outcome.name for each in reading.results} == dialect.outcomes
    assert reading.unread == ()


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ('status="sideways"', "s.t: unknown status, got sideways; expected one of run, passed, "),
        ('status="run" result="maybe"', "s.t: unknown status, got maybe; expected one of run, passed, "),
    ],
)
def test_an_unknown_word_is_set_aside(case: str, reason: str) -> None:
    """Nobody knows whether such a test passed; the word is shown, and the verdict stays open."""
    reading = read_junit(f"<testsuite name='s'><testcase name='t' {case}/><testcase name='u'/></testsuite>")

    assert [each.test_id for each in reading.results] == ["s.u"]
    (unread,) = reading.unread
    assert unread.reason.startswith(reason)
    assert unread.is_doubt


@pytest.mark.parametrize("case", ["<failure/>", "<error message='while it ran'/>"])
def test_an_unknown_word_beside_a_known_ending_costs_nothing(case: str) -> None:
    """The ending says how the test ended."""
    (result,) = read_junit(f"<testsuite name='s'><testcase name='t' status='-7'>{case}</testcase></testsuite>").results
    assert result.outcome.name == "VIOLATES"


def test_a_flaky_test_of_ducktape_has_failed_and_passed() -> None:
    """Its XML has the word only, no attempts."""
    xml = DUCKTAPE.xml.replace('status="pass"', 'status="flaky"')
    results = [each for each in read_junit(xml).results if each.test_id.endswith("from=3.6")]
    assert [(each.outcome.name, each.attempt) for each in results] == [("VIOLATES", 1), ("CONFORMS", 2)]
