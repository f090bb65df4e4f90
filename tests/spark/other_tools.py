"""Nights of other tools' results, as files: each tool in a folder of its own."""

import json
from collections.abc import Iterator
from pathlib import Path

SECRETS = ("correct-horse", "battery-staple")

SUREFIRE = """<testsuite name="org.x.LogTest" timestamp="2026-10-{night:02}T03:00:00" time="{night}">
<testcase name="rolls" classname="org.x.LogTest" time="1.{night}">{ending}</testcase></testsuite>"""
TIMEOUT = '<error message="after 30000 ms" type="java.util.concurrent.TimeoutException">at LogTest.rolls</error>'
BARE = """<testsuite name="x.org/log">
<testcase classname="log" name="TestRolls" time="0.000">{ending}</testcase></testsuite>"""
TESTNG = """<testsuite name="org.x.ReplicaTest" hostname="ci" timestamp="{night} Oct 2026 03:00:00 GMT">
<testcase name="counts" classname="org.x.ReplicaTest" time="0.{night:03}">{ending}</testcase></testsuite>"""
GTEST = """<testsuites name="AllTests" timestamp="2026-10-{night:02}T03:10:00"><testsuite name="Quorum">
<testcase name="NeedsDisks" status="run" result="skipped" classname="Quorum" time="0.{night:03}"/>
<testcase name="DISABLED_Slow" status="notrun" result="suppressed" classname="Quorum" time="0"/>
</testsuite></testsuites>"""
MATRIX = """<testsuite name="org.x.PathTest" timestamp="2026-10-{night:02}T03:00:00" hostname="runner-{system}">
<properties><property name="os.name" value="{system}"/></properties>
<testcase name="joins" classname="org.x.PathTest" time="0.0{night}">{ending}</testcase></testsuite>"""
FAILURE = '<failure message="was 4" type="AssertionError"/>'
COVERAGE = '<!DOCTYPE coverage SYSTEM "http://x.example/coverage-04.dtd"><coverage line-rate="0.9"/>'
LOST_SETUPS = """<testsuite name="pytest" timestamp="2026-10-{night:02}T04:00:00" hostname="ci">
<testcase classname="tests.test_disk" name="test_fills" time="{night}">{ending}</testcase></testsuite>"""
NO_DISK = """<error message='failed on setup with "OSError"'/>"""


def write_nights(root: Path) -> None:
    """A folder for each tool and each thing that once went wrong with it."""
    for path, text in _files():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def write_matrix(root: Path) -> None:
    """Eight nights on two systems, of which one is always red."""
    for night in range(1, 9):
        for system, ending in (("alpha", ""), ("beta", FAILURE)):
            path = root / f"night-{night}" / f"test-results-{system}" / "TEST-org.x.PathTest.xml"
            path.parent.mkdir(parents=True)
            path.write_text(MATRIX.format(night=night, system=system, ending=ending))


def _files() -> Iterator[tuple[str, str]]:
    for night in range(1, 9):
        timed_out = TIMEOUT if night % 3 == 0 else ""
        yield f"surefire/{night}/TEST-org.x.LogTest.xml", SUREFIRE.format(night=night, ending=timed_out)
        yield f"go/{night}/report.xml", BARE.format(ending=FAILURE if night == 6 else "")
        yield f"gtest/{night}/unit.xml", GTEST.format(night=night)
        yield f"pytest/{night}/junit.xml", LOST_SETUPS.format(night=night, ending=NO_DISK if night % 3 == 0 else "")
        yield f"allure/{night}-result.json", _allure(night)
    yield "surefire/9/TEST-org.x.LogTest.xml", SUREFIRE.format(night=9, ending=TIMEOUT)
    yield "pytest/9/junit.xml", LOST_SETUPS.format(night=9, ending=NO_DISK)
    for night in range(1, 17):
        yield f"testng/{night}/TEST.xml", TESTNG.format(night=night, ending=FAILURE if night > 8 else "")
    yield "reports/coverage.xml", COVERAGE
    yield "reports/checkstyle.xml", "<checkstyle/>"
    session = "ducktape/2026-10-01--001"
    results = [_ducktape(*each) for each in (("test_rolls", "PASS"), ("test_cleans", "OFAIL"), ("test_waits", "OPASS"))]
    yield f"{session}/report.json", json.dumps({"ducktape_version": "0.12.0", "results": results})
    yield f"{session}/LogTest/test_rolls/1/report.json", json.dumps(results[0])
    cases = '<testcase name="test_rolls" classname="LogTest" status="pass"/>'
    yield (
        f"{session}/report.xml",
        f'<testsuites name="ducktape"><testsuite name="log_test">{cases}</testsuite></testsuites>',
    )


def _ducktape(name: str, status: str) -> dict[str, object]:
    times = {"start_time": 1_790_823_600.5, "stop_time": 1_790_823_690.5, "run_time_seconds": 90.0}
    return {"test_id": f"log_test.LogTest.{name}", "test_status": status, "summary": "", **times}


def _allure(night: int) -> str:
    start_ms = 1_790_823_600_000 + night * 86_400_000
    parameters = [
        {"name": "password", "value": SECRETS[0], "mode": "masked"},
        {"name": "session", "value": SECRETS[1], "mode": "hidden"},
    ]
    result = {"uuid": f"u{night}", "fullName": "org.x.LoginTest.logsIn", "status": "passed", "parameters": parameters}
    if night % 3 == 0:
        result |= {"status": "failed", "statusDetails": {"message": f"401 for {SECRETS[0]}", "trace": SECRETS[1]}}
    return json.dumps({**result, "start": start_ms, "stop": start_ms + 500})
