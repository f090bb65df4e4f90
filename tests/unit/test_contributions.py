"""All that a contribution lacks is in one message; each kind of mistake was planted once."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.contributions import Project, missing, project

real = cache(project)
"""As it is."""


def test_nothing_is_missing() -> None:
    """Of any bug, check, fault and document: one line for each thing to do."""
    found = missing(real())
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
        lambda of: {"rows": {"kip-999": of.rows["kip-500"][:1]}, "declared": {"kip-999": {"K999-ID-stays"}}},
        [
            "document kip-999: expected a suite in suites/kip_999/; got none",
            "requirement K500-",
            "document kip-999: a check declares K999-ID-stays, which is in no requirements.toml of it",
        ],
    ),
]


@pytest.mark.parametrize(("planted", "expected"), PLANTED)
def test_what_is_missing_is_listed_at_once(planted: Callable[[Project], dict[str, Any]], expected: list[str]) -> None:
    """A line for each, with what to do, and no other."""
    found = missing(replace(real(), **planted(real())))
    assert len(found) == len(expected), found
    assert all(got.startswith(line) for got, line in zip(found, expected, strict=True)), found
