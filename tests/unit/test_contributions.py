"""All that a contribution lacks is in one message; each kind of mistake was planted once."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from tests import contributions
from tests.contributions import Project, absent_files, all_missing, missing, project

real = cache(project)


@pytest.fixture
def ours() -> Project:
    """The project as it is."""
    try:
        return real()
    except WrongUseError:
        pytest.skip("the project cannot be read, as test_nothing_is_missing reports")


def test_nothing_is_missing() -> None:
    """Of any bug, check, fault and document: one line for each thing to do."""
    found = all_missing()
    assert not found, "\n".join(["", *found])


def bugs(of: Project, **changed: Any) -> dict[str, Any]:
    """One more bug, like the first of ours."""
    like = next(each for each in of.bugs if each.id.startswith("kmigrate-") and each.recognized and not each.met_by)
    return {"bugs": [*of.bugs, replace(like, **{"id": "kmigrate-99", **changed})]}


PLANTED: list[tuple[Callable[[Project], dict[str, Any]], list[str]]] = [
    (
        bugs,
        [
            'bug kmigrate-99: expected a diagnosis, @diagnosis("kmigrate-99"), or recognized = false',
            'bug kmigrate-99: expected a unit test of its diagnosis, named(run, verdict) == ("kmigrate-99",); got none',
            "bug kmigrate-99: expected a section '## kmigrate-99: ...' in docs/bugs-found.md; got none",
        ],
    ),
    (
        lambda of: {**bugs(of, recognized=False), "sections": {**of.sections, "kmigrate-99": "Text."}},
        ["bug kmigrate-99: expected the command that shows it ('$ pytest ...') in docs/bugs-found.md; got none"],
    ),
    (
        lambda of: {"diagnoses": {*of.diagnoses, "kmigrate-98"}},
        ["diagnosis of kmigrate-98: expected a table [[bug]] in known-bugs.toml"],
    ),
    (
        lambda of: {"sections": {**of.sections, "kmigrate-98": "Text."}},
        ["docs/bugs-found.md: kmigrate-98 is in no known-bugs.toml"],
    ),
    (
        lambda of: {"checks": {**of.checks, "brokers_are_polite": ()}},
        [
            "check brokers_are_polite: expected unit tests with three histories in tests/unit; got none",
            "check brokers_are_polite: expected in one [[family]] of tests/faults_and_checks.toml; got 0",
        ],
    ),
    (lambda of: {"faults": of.faults[1:]}, ["tests/faults_and_checks.toml: there is no fault "]),
    (
        lambda of: {"faults": [*of.faults, "Flood"]},
        [
            "fault Flood: expected in pytest_kmigrate/__init__.py (import, __all__, _ROOMS); got not all",
            "fault Flood: expected a unit test in tests/unit/faults/; got none",
            "fault Flood: expected under one effect of tests/faults_and_checks.toml; got 0",
        ],
    ),
    (
        lambda of: {"rows": {"planted": of.rows["kip-500"][:1]}, "declared": {"planted": {"K0-ID-stays"}}},
        [
            "document planted: expected a suite in suites/planted/; got none",
            "requirement K500-",
            "document planted: a check declares K0-ID-stays, which is in no requirements.toml of it",
        ],
    ),
]


@pytest.mark.parametrize(("planted", "expected"), PLANTED)
def test_what_is_missing_is_listed_at_once(
    ours: Project, planted: Callable[[Project], dict[str, Any]], expected: list[str]
) -> None:
    """A line for each, with what to do, and no other; what is missing by itself is the first test's."""
    before = set(missing(ours))
    found = [each for each in missing(replace(ours, **planted(ours))) if each not in before]
    assert len(found) == len(expected), found
    assert all(got.startswith(line) for got, line in zip(found, expected, strict=True)), found


def test_the_files_that_a_document_lacks_are_listed_at_once(tmp_path: Path) -> None:
    """From one file on, here or among the suites; a folder of bytecode is none."""
    for begun in (
        "suites/__pycache__/x.pyc",
        "suites/kip_998/test_x.py",
        "pytest_kmigrate/documents/kip_999/document.py",
    ):
        (tmp_path / begun).parent.mkdir(parents=True)
        (tmp_path / begun).touch()
    found = list(absent_files(tmp_path))
    assert [each for each in found if "kip-999" in each] == [
        "document kip-999: expected pytest_kmigrate/documents/kip_999/__init__.py; got none",
        "document kip-999: expected pytest_kmigrate/documents/kip_999/requirements.toml; got none",
        "document kip-999: expected suites/kip_999/__init__.py; got none",
        "document kip-999: expected suites/kip_999/conftest.py; got none",
        "document kip-999: expected suites/kip_999/test_*.py; got none",
        "document kip-999: expected unit tests in tests/unit/documents/, in kip_999/ or test_kip_999.py; got none",
        "document kip-999: expected pytest_kmigrate/judging/planning/plans/kip-999.json; got none: make docs writes it",
    ]
    assert len(found) == 14


def test_a_document_that_cannot_be_read_is_one_line_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are listed all the same."""

    def unreadable() -> Project:
        raise WrongUseError("a.toml: b: severity: expected 1\na.toml: b: area: expected text")

    monkeypatch.setattr(contributions, "absent_files", lambda _: ["document a: expected a file"])
    monkeypatch.setattr(contributions, "project", unreadable)
    first, *found = all_missing()
    assert first == "document a: expected a file"
    assert found[:2] == ["a.toml: b: severity: expected 1", "a.toml: b: area: expected text"]
