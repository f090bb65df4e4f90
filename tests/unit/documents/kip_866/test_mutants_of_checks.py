"""Each check of KIP-866 was itself seen red on real Kafka: by a mutant, or by a named bug or deviation of a release."""

import ast
from pathlib import Path

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.checkers.registry import general_checkers
from pytest_kmigrate.documents import document
from pytest_kmigrate.model.checks import by_name
from tests.checks_seen import NEVER_RED

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "reference" / "mutants-of-kip-866.md"
REAL = ROOT / "tests" / "real" / "test_mutants.py"
RED_BY_A_KNOWN_BUG = {
    "takeover_waits_for_every_broker": "takeover-without-a-broker",
    "only_live_brokers_count_as_ready": "fenced-brokers-counted-as-ready",
    "clients_are_told_the_same": "dead-broker-listed-by-zookeeper-brokers",
    "metrics_of_the_document": "no-metrics-of-features",
    "migration_state_has_its_documented_number": "numbers-of-the-states",
    "node_identity_stays": "directory-id-added-to-meta-properties",
    "recorded_states_have_their_documented_numbers": "numbers-of-the-states",
    "standbys_report_no_migration_metrics": "metrics-of-the-image",
    "zookeeper_brokers_report_no_migration_state": "zookeeper-brokers-report-a-state",
}
"""Checks whose own verdict on runs of 3.9.1 is VIOLATES, and what explains that."""
RED_IN_A_REAL_TEST = {
    "metadata_changes_stay_accepted": "test_what_mutants_do_to_metadata_is_told",
    "phase_reached": "test_a_position_and_an_override_that_stay_and_a_phase_that_is_not_reached_are_seen",
}
"""Checks that speak for no requirement of their own, so that no mutant of the page can name them."""


def test_each_check_was_seen_red_on_real_kafka() -> None:
    """The page of mutants says which checks saw each."""
    general = {each.name for each in general_checkers()}
    own = [each for each in document("kip-866").checks if each.name not in general]
    seen = _seen() | RED_BY_A_KNOWN_BUG.keys() | RED_IN_A_REAL_TEST.keys()
    assert {each.name for each in own} - seen == NEVER_RED.keys() - general


def test_known_bugs_that_show_a_check_red_are_in_the_release() -> None:
    """One that was fixed would prove nothing any more, nor would one of other requirements."""
    checks = by_name(document("kip-866").checks)
    for check, bug in RED_BY_A_KNOWN_BUG.items():
        assert known_bug(bug).breaks("3.9.1")
        assert set(known_bug(bug).requirements) & set(checks[check].requirements), check


def test_real_tests_that_show_a_check_red_name_it() -> None:
    """A test that was renamed, or expects something else now, would show nothing."""
    tests = {each.name: each for each in ast.parse(REAL.read_text("utf-8")).body if isinstance(each, ast.FunctionDef)}
    for check, test in RED_IN_A_REAL_TEST.items():
        assert check in {each.value for each in ast.walk(tests[test]) if isinstance(each, ast.Constant)}


def _seen() -> set[str]:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {name for row in rows if row[3] == "killed" for name in row[4].removesuffix(" |").split(", ")}
