"""Facts about tests that another plugin runs again, as pytest-rerunfailures does: no attempt is a false green."""

import pytest

from pytest_kmigrate.model.verdict import Kind, Violation, conforms, inconclusive, violates
from tests.unit.plugin.conftest import Plant

pytest_plugins = ["pytester"]
QUIET = ("-p", "no:cacheprovider")
RERUN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in (1, 2):
        item.attempt = attempt
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if attempt == 2 or all(each.passed for each in reports):
            break
        for each in reports:
            if each.failed:
                each.outcome = "rerun"
                item.ihook.pytest_runtest_logreport(report=each)
        item._initrequest()
    for each in reports:
        item.ihook.pytest_runtest_logreport(report=each)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""
"""What ``pytest --reruns 1`` does: the whole protocol again with the same item, and the last reports count."""

RETRY = """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and report.failed and not hasattr(item, "again"):
        item.again = True
        item.ihook.pytest_runtest_teardown(item=item, nextitem=None)
        item._initrequest()
        def again():
            item.ihook.pytest_runtest_setup(item=item)
            item.ihook.pytest_runtest_call(item=item)
        if pytest.CallInfo.from_call(again, "call").excinfo is None:
            report.outcome, report.longrepr = "passed", None
    return report
"""
"""What pytest-retry does: the phases again, and no further report."""

LOST = violates(Kind.SAFETY, [Violation("every record is read", "3 were not")]).by("no_acked_record_lost")


def test_a_violation_stays_one_at_the_second_attempt(pytester: pytest.Pytester, plant: Plant) -> None:
    """A test that never calls verify, and whose run violates a requirement: the second attempt fails as well."""
    runs = plant(LOST)
    pytester.makeconftest(RERUN)
    pytester.makepyfile("def test_it(verify): pass\n")
    result = pytester.runpytest_inprocess(*QUIET)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["an earlier attempt at this test violated a requirement, and running it again *", "evidence: runs/run-1"]
    )
    assert len(runs) == 1


def test_a_violation_is_not_undone_by_an_attempt_that_conforms(pytester: pytest.Pytester, plant: Plant) -> None:
    """It was seen on a real cluster: a rare one is one."""
    plant(LOST)
    pytester.makeconftest(RERUN)
    pytester.makepyfile("def test_it(verify, request):\n    if request.node.attempt == 1: verify()\n")
    result = pytester.runpytest_inprocess(*QUIET)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["VIOLATES * test_it  runs/run-1"])


@pytest.mark.parametrize("plugin", [RERUN, RETRY])
@pytest.mark.parametrize("planted", [conforms("all").by("a"), inconclusive(Kind.VACUOUS, "no record").by("a"), LOST])
def test_the_second_attempt_is_judged_as_the_first(
    pytester: pytest.Pytester, plant: Plant, plugin: str, planted: object
) -> None:
    """The first fails before verify, the second forgets it: nothing was judged, so nothing passes."""
    plant(planted)
    pytester.makeconftest(plugin)
    pytester.makepyfile(
        """
        TRIES = []

        def test_it(verify):
            TRIES.append(1)
            if len(TRIES) == 1:
                raise RuntimeError("flaky")
        """
    )
    result = pytester.runpytest_inprocess(*QUIET)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_test_that_conforms_at_the_second_attempt_passes(pytester: pytest.Pytester, plant: Plant) -> None:
    """Each attempt has a run of its own."""
    runs = plant(conforms("all").by("a"))
    pytester.makeconftest(RERUN)
    pytester.makepyfile(
        "TRIES = []\n\ndef test_it(verify):\n    TRIES.append(1)\n    assert len(TRIES) > 1\n    verify()\n"
    )
    result = pytester.runpytest_inprocess(*QUIET)
    assert result.ret == pytest.ExitCode.OK
    assert len(runs) == 2
