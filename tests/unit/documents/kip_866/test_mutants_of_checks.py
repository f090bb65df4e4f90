"""Each check of KIP-866 was seen red on real Kafka: by a mutant, or because released Kafka itself violates it."""

import ast
from pathlib import Path

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.checkers.registry import general_checkers
from pytest_kmigrate.documents import document
from pytest_kmigrate.reports.planted import red_anyway

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "reference" / "mutants-of-kip-866.md"
REAL = ROOT / "tests" / "real" / "test_mutants.py"
RED_BY_A_KNOWN_BUG = {
    "takeover_waits_for_every_broker": "takeover-without-a-broker",
    "only_live_brokers_count_as_ready": "fenced-brokers-counted-as-ready",
}
"""Checks that the tests of known bugs of 3.9.1 see red."""
RED_IN_A_REAL_TEST = {
    "metadata_changes_stay_accepted": "test_what_mutants_do_to_metadata_is_told",
    "phase_reached": "test_a_position_that_stands_still_is_seen_and_a_phase_that_is_not_reached",
}
"""Checks that speak for no requirement of their own, so that no mutant of the page can name them."""
NEVER_RED = {"phase_not_reached"}
"""Checks that say what a run is about: INCONCLUSIVE is the worst of their verdicts."""


def test_each_check_was_seen_red_on_real_kafka() -> None:
    """The page of mutants says which checks saw each; a deviation is red in every run that meets it."""
    general = {each.name for each in general_checkers()}
    own = [each for each in document("kip-866").checks if each.name not in general]
    anyway = red_anyway("kip-866")
    by_kafka = {each.name for each in own if anyway & set(each.requirements)}
    seen = _seen() | by_kafka | RED_BY_A_KNOWN_BUG.keys() | RED_IN_A_REAL_TEST.keys()
    assert {each.name for each in own} - seen == NEVER_RED


def test_known_bugs_that_show_a_check_red_are_in_the_release() -> None:
    """One that was fixed would prove nothing any more."""
    for each in RED_BY_A_KNOWN_BUG.values():
        assert known_bug(each).breaks("3.9.1")


def test_real_tests_that_show_a_check_red_name_it() -> None:
    """A test that was renamed, or expects something else now, would show nothing."""
    tests = {each.name: each for each in ast.parse(REAL.read_text("utf-8")).body if isinstance(each, ast.FunctionDef)}
    for check, test in RED_IN_A_REAL_TEST.items():
        assert check in {each.value for each in ast.walk(tests[test]) if isinstance(each, ast.Constant)}


def _seen() -> set[str]:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {name for row in rows if row[3] == "killed" for name in row[4].removesuffix(" |").split(", ")}
