"""Each check of KIP-866 was seen red on real Kafka: by a mutant, or because released Kafka itself violates it."""

from pathlib import Path

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.checkers.registry import general_checkers
from pytest_kmigrate.documents import document
from pytest_kmigrate.reports.planted import red_anyway

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "mutants-of-kip-866.md"
RED_BY_A_KNOWN_BUG = {
    "takeover_waits_for_every_broker": "takeover-without-a-broker",
    "only_live_brokers_count_as_ready": "fenced-brokers-counted-as-ready",
}
"""Checks that the tests of known bugs of 3.9.1 see red."""
NEVER_SEEN_RED_THERE = {
    "admin_changes_reach_the_log",
    "brokers_are_rolled_one_by_one",
    "brokers_register_before_the_takeover",
    "brokers_register_with_their_mode",
    "brokers_start_in_zookeeper_mode_again",
    "clients_are_told_of_every_broker",
    "clients_read_the_answers_of_ready_brokers",
    "copy_is_one_transaction",
    "documented_steps_end_finalized",
    "failover_copies_nothing_again",
    "former_controllers_report_no_lag",
    "metadata_changed_in_the_migration_outlives_it",
    "metadata_changes_stay_accepted",
    "migration_metrics_end_with_the_migration",
    "partitions_stay_available",
    "phase_not_reached",
    "phase_reached",
    "recorded_states_mean_what_they_say",
    "zookeeper_is_left_alone_after_finalization",
    "zookeeper_lag_grows_and_falls_back",
}
"""What made-up histories alone show red. The list may only get shorter."""


def test_each_check_was_seen_red_on_real_kafka() -> None:
    """The page of mutants says which checks saw each; a deviation is red in every run that meets it."""
    general = {each.name for each in general_checkers()}
    own = [each for each in document("kip-866").checks if each.name not in general]
    anyway = red_anyway("kip-866")
    by_kafka = {each.name for each in own if anyway & set(each.requirements)}
    unseen = {each.name for each in own} - _seen() - by_kafka - RED_BY_A_KNOWN_BUG.keys()
    assert unseen == NEVER_SEEN_RED_THERE


def test_known_bugs_that_show_a_check_red_are_in_the_release() -> None:
    """One that was fixed would prove nothing any more."""
    for each in RED_BY_A_KNOWN_BUG.values():
        assert known_bug(each).breaks("3.9.1")


def _seen() -> set[str]:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {name for row in rows if row[3] == "killed" for name in row[4].removesuffix(" |").split(", ")}
