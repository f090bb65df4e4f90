"""``pytest --alluredir``: each test once, with all that its run folder shows."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]

CONFTEST = """
import psutil
from types import SimpleNamespace
from pytest_kmigrate.plugin import collecting, living
from pytest_kmigrate.providers.fake import FakeProvider

psutil.virtual_memory = lambda: SimpleNamespace(available=2**40)
for room in (living, collecting):
    room.provider_of = lambda *_: FakeProvider()
"""
TESTS = """
import allure
import pytest
from pytest_kmigrate import Pause, targets

@allure.severity("critical")
@pytest.mark.sample
@pytest.mark.requirement("K866-TEST-controller-failures")
@pytest.mark.parametrize("node", ["broker-0", "broker-1"])
def test_pause(node, inject, expect, verify):
    with allure.step("of the test"), inject(Pause(targets.node(node))) as fault:
        fault.await_bitten()
    expect("one", lambda: 1, equals=1)
    verify()

def test_nothing_asked(cluster): pass

def test_broken_after_its_verdict(expect, verify):
    expect("one", lambda: 1, equals=1)
    verify()
    raise ZeroDivisionError

def test_without_a_run(): pass

@pytest.mark.needs("change")
def test_not_offered(cluster): pass
"""
Results = dict[str, dict[str, Any]]


def results_in(*folders: Path) -> Results:
    """The results of these folders by the names of their tests, which stand there once."""
    found = [json.loads(file.read_text()) for folder in folders for file in folder.glob("*-result.json")]
    assert len({each["name"] for each in found}) == len(found)
    return {each["name"]: each for each in found}


def run(pytester: pytest.Pytester, *options: str) -> tuple[Results, Results]:
    """What ``--alluredir`` got of these tests, and what their run folders hold."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--alluredir", "results", *options)
    result.assert_outcomes(passed=4, failed=1, errors=1, skipped=1)
    folders = pytester.path.glob("reports/runs/*/allure-results")
    return results_in(pytester.path / "results"), results_in(*folders)


def rows(result: dict[str, Any], key: str, *, of: Sequence[str]) -> list[tuple[Any, ...]]:
    """Some keys of each label, parameter, step or attachment."""
    return [tuple(each.get(name) for name in of) for each in result.get(key, [])]


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two-workers"])
def test_results_are_those_of_the_run_folders(pytester: pytest.Pytester, options: Sequence[str]) -> None:
    """Status, labels, parameters, steps, attachments, ids; environment and categories are there once."""
    theirs, ours = run(pytester, *options)
    assert set(theirs) == {*ours, "test_without_a_run", "test_not_offered"}
    assert len(ours) == 4
    for name, own in ours.items():
        full = theirs[name]
        assert [full[key] for key in ("historyId", "testCaseId", "fullName")] == [
            own[key] for key in ("historyId", "testCaseId", "fullName")
        ]
        for key, of in {
            "labels": ("name", "value"),
            "parameters": ("name", "value"),
            "steps": ("name", "start", "stop", "status"),
            "attachments": ("name", "source", "type"),
        }.items():
            assert set(rows(own, key, of=of)) <= set(rows(full, key, of=of)), key
        for _, source, _ in rows(own, "attachments", of=("name", "source", "type")):
            assert (pytester.path / "results" / source).stat().st_size
    statuses = {name: each["status"] for name, each in theirs.items()}
    assert statuses == {
        "test_pause[broker-0]": "passed",
        "test_pause[broker-1]": "passed",
        "test_nothing_asked": "broken",
        "test_broken_after_its_verdict": "broken",
        "test_without_a_run": "passed",
        "test_not_offered": "skipped",
    }
    assert "ZeroDivisionError" in theirs["test_broken_after_its_verdict"]["statusDetails"]["trace"]
    environment = (pytester.path / "results" / "environment.properties").read_text()
    assert "provider=fake\n" in environment
    assert "Kafka=3.9.1\n" in environment
    assert json.loads((pytester.path / "results" / "categories.json").read_text())[-1]["name"] == "Not applicable here"


def test_what_the_test_itself_reports_stays(pytester: pytest.Pytester) -> None:
    """Its own steps, labels, markers, parameters and fixtures stand beside what the run adds; no label twice."""
    theirs, _ = run(pytester)
    full = theirs["test_pause[broker-0]"]
    labels = rows(full, "labels", of=("name", "value"))
    assert ("severity", "critical") in labels
    assert ("tag", "sample") in labels
    assert ("story", "K866-TEST-controller-failures") in labels
    assert len(labels) == len(set(labels))
    assert [name for name, _ in labels].count("suite") == 1
    assert ("node", "'broker-0'") in rows(full, "parameters", of=("name", "value"))
    steps = rows(full, "steps", of=("start", "name"))
    assert {name.partition(" ·")[0] for _, name in steps} == {"of the test", "fault: pause(broker-0)"}
    assert steps == sorted(steps)
    groups = [json.loads(file.read_text()) for file in (pytester.path / "results").glob("*-container.json")]
    assert any(full["uuid"] in each.get("children", ()) for each in groups)
