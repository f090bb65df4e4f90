"""The catalogue: requirements by profile and id, and the known bugs of released Kafka."""

import re
from pathlib import Path

import pytest
from packaging.version import Version

from pytest_kmigrate import catalogue
from pytest_kmigrate.catalogue.places import Place
from pytest_kmigrate.catalogue.rows import records
from pytest_kmigrate.model.errors import WrongUseError

PROFILES = catalogue.profiles()
RELEASES = (
    *("3.3.2", "3.4.0", "3.4.1", "3.5.0", "3.5.1", "3.5.2", "3.6.0", "3.6.1", "3.6.2", "3.7.0", "3.7.1", "3.7.2"),
    *("3.8.0", "3.8.1", "3.9.0", "3.9.1", "3.9.2", "4.0.0"),
)
SEEN = {
    "KAFKA-16121": (
        {"3.5.0", "3.5.2", "3.6.0", "3.6.1"},
        {"3.6.2", "3.7.0", "3.7.1", "3.8.0", "3.9.1"},
    ),
    "KAFKA-15605": ({"3.6.0"}, {"3.6.1", "3.6.2", "3.7.0", "3.7.1", "3.8.0", "3.9.1"}),
    "KAFKA-15149": ({"3.5.0"}, {"3.5.2", "3.6.0", "3.9.1"}),
    "apache/kafka#14237": ({"3.5.1"}, {"3.5.2", "3.6.0", "3.9.1"}),
    "KAFKA-15799": ({"3.5.0", "3.5.2", "3.6.0"}, {"3.6.1", "3.6.2", "3.7.0", "3.9.1"}),
    "KAFKA-16539": (
        {"3.5.0", "3.5.1", "3.5.2", "3.6.0", "3.6.1", "3.6.2", "3.7.0"},
        {"3.7.1", "3.8.0", "3.9.1"},
    ),
    "KAFKA-16411": ({"3.5.0", "3.5.2", "3.6.0", "3.7.0"}, {"3.6.2", "3.7.1", "3.8.0", "3.9.1"}),
    "KAFKA-17457": ({"3.8.0"}, {"3.8.1", "3.7.2", "3.9.0"}),
    "KAFKA-14801": ({"3.4.1"}, {"3.5.0"}),
    "KAFKA-16003": ({"3.5.0", "3.6.0", "3.6.2", "3.7.0"}, {"3.7.1", "3.8.0", "3.9.1"}),
    "KAFKA-17146": ({"3.6.0", "3.9.1"}, {"4.0.0"}),
    "KAFKA-15532": ({"3.6.0", "3.6.2"}, {"3.7.2", "3.8.1", "3.9.1"}),
    "KAFKA-16171": ({"3.6.1"}, {"3.6.2"}),
    "metrics-of-the-image": ({"3.6.0", "3.9.1"}, {"4.0.0"}),
    "kmigrate-1": ({"3.8.1", "3.9.1"}, set[str]()),
    "kmigrate-20": ({"3.6.0", "3.6.2", "3.7.2"}, {"3.8.1", "3.9.1"}),
    "kmigrate-21": ({"3.6.0", "3.6.2"}, set[str]()),
    "kmigrate-22": ({"3.5.2", "3.6.0", "3.6.1", "3.7.0"}, {"3.6.2", "3.7.1", "3.9.1"}),
    "kmigrate-27": ({"3.4.1"}, {"3.5.2", "3.6.0"}),
    "kmigrate-28": ({"3.4.1"}, {"3.5.2", "3.6.0"}),
    "kmigrate-30": ({"3.4.1"}, {"3.5.2", "3.6.2"}),
    "kmigrate-31": ({"3.4.1"}, {"3.5.2", "3.6.2"}),
    "kmigrate-32": ({"3.4.1"}, {"3.5.2", "3.6.2"}),
    "kmigrate-33": ({"3.4.1"}, {"3.5.2", "3.6.2"}),
    "kmigrate-29": ({"3.4.1"}, {"3.5.2", "3.6.2"}),
    "kmigrate-34": ({"3.8.1", "3.9.1"}, {"3.4.1", "3.5.2", "3.7.2"}),
    "KAFKA-15552": ({"3.4.1"}, {"3.5.2", "3.6.2"}),
    "apache/kafka#15327": ({"3.6.1"}, {"3.6.2"}),
    "KAFKA-16428": ({"3.7.0"}, {"3.7.1"}),
}
"""What real processes of each release showed: broken on the first set, right on the second."""
BUG = """[[bug]]
id = "b"
area = "a"
symptom = "s"
broken = [">=3.4.0"]
fixed_in = []
severity = 1
class = "defect"
consequence = "Something is lost."
reachability = "race"
verified = true
"""
OF_UPGRADES = ("kmigrate-15", "kmigrate-16")


def test_ids_begin_with_what_is_their_documents_own() -> None:
    """Each document has one first part of its ids, which no other has; no text is empty."""
    first = {profile: {row.id.partition("-")[0] for row in catalogue.requirements(profile)} for profile in PROFILES}
    assert [profile for profile, parts in first.items() if len(parts) != 1] == []
    assert len(set.union(*first.values())) == len(PROFILES), first
    for row in (row for profile in PROFILES for row in catalogue.requirements(profile)):
        assert all((row.area, row.statement, row.section, row.observe, row.real_kafka)), row.id


def test_the_level_is_the_strongest_word_of_the_statement() -> None:
    """A requirement with MUST in its statement is a MUST; "no … MAY" forbids, so it is one as well."""
    for profile in PROFILES:
        for row in catalogue.requirements(profile):
            words = re.findall(r"\b(MUST|SHOULD|MAY)\b", row.statement)
            strongest = next(word for word in ("MUST", "SHOULD", "MAY") if word in words)
            forbids = strongest == "MAY" and re.search(r"\bno\b", row.statement, re.IGNORECASE) and row.level == "MUST"
            assert row.level == strongest or forbids, row.id
    assert catalogue.requirement("K500-QRM-majority-required").level == "MUST"


def test_kinds_are_those_known() -> None:
    """Levels, testability and the first word about real Kafka come from closed sets."""
    rows = [row for profile in PROFILES for row in catalogue.requirements(profile)]
    assert {row.level for row in rows} <= {"MUST", "SHOULD", "MAY"}
    assert {row.testability for row in rows} <= {"blackbox", "wire", "whitebox", "paper"}
    first_words = {re.split(r"\W", row.real_kafka, maxsplit=1)[0] for row in rows}
    assert first_words <= {"conforms", "deviates", "unimplemented", "unknown"}


def test_what_covers_a_requirement_exists() -> None:
    """``covered_by`` names another requirement of the same profile, which is not itself covered."""
    covered = [row for row in catalogue.requirements("kip-866") if row.covered_by]
    assert covered
    for row in covered:
        other = catalogue.requirement(str(row.covered_by))
        assert (other.profile, other.covered_by) == ("kip-866", None)


def test_the_same_requirements_of_another_document_exist() -> None:
    """``same_as`` names rows that are judged themselves, of one other profile."""
    same = [row for profile in PROFILES for row in catalogue.requirements(profile) if row.same_as]
    assert same
    for row in same:
        others = [catalogue.requirement(each) for each in row.same_as]
        assert row.profile == "kip-866-draft"
        assert {(each.profile, each.same_as, each.untestable) for each in others} == {("kip-866", (), None)}
        assert not row.untestable


def test_a_requirement_is_found_by_its_id() -> None:
    """An id finds its requirement whatever the profile."""
    found = catalogue.requirement("K866-FAIL-crash-in-migration")
    assert (found.profile, found.level) == ("kip-866", "MUST")
    assert catalogue.requirement("K866D-METRIC-ZkMigrationState").final == "changed: K866-METRIC-ZkMigrationState"


def test_unknown_names_are_wrong_use() -> None:
    """A misspelt id or profile gets the name that was probably meant."""
    with pytest.raises(WrongUseError) as wrong_id:
        catalogue.requirement("K866-FAIL-crash-in-migrtion")
    assert str(wrong_id.value) == (
        'expected a requirement id, got "K866-FAIL-crash-in-migrtion"; '
        'did you mean "K866-FAIL-crash-in-migration"? `kmigrate requirements` lists them'
    )
    with pytest.raises(WrongUseError, match='expected a profile, got "kip-868"; did you mean "kip-866"'):
        catalogue.requirements("kip-868")


def test_a_bug_is_asked_for_by_its_id() -> None:
    """A wrong id is reported with the nearest one that there is."""
    assert catalogue.known_bug("kmigrate-1").reachability == "race"
    with pytest.raises(
        WrongUseError, match='expected the id of a known bug, got "kmigrat-1"; did you mean "kmigrate-1"'
    ):
        catalogue.known_bug("kmigrat-1")


def test_bugs_have_unique_ids() -> None:
    """Each has an id of its own."""
    bugs = catalogue.all_known_bugs()
    assert len(bugs) == len({bug.id for bug in bugs}) > 1
    assert all(1 <= bug.severity <= 5 for bug in bugs)


def test_a_fixed_release_is_not_a_broken_one() -> None:
    """No first fixed release lies in a broken range, and each line stays fixed after it."""
    for bug in catalogue.all_known_bugs():
        assert any(bug.breaks(release) for release in RELEASES), bug.id
        for fixed in map(Version, bug.fixed_in):
            later = [release for release in map(Version, RELEASES) if release >= fixed and release.minor == fixed.minor]
            assert later
            assert not any(bug.breaks(str(release)) for release in later), bug.id


@pytest.mark.parametrize("bug", SEEN)
def test_a_bug_is_known_where_it_was_seen(bug: str) -> None:
    """The ranges agree with what the releases showed: known where it was red, unknown where it was green."""
    red, green = SEEN[bug]
    known = {release for release in RELEASES if catalogue.known_bug(bug).breaks(release)}
    assert known >= red
    assert not known & green


def test_releases_are_compared_by_their_numbers() -> None:
    """A build of somebody as its release, and a snapshot as the release that it becomes; a path has no numbers."""
    assert catalogue.is_before("3.5.3-SNAPSHOT+mine.0a1b2c3d", "3.6.0")
    assert not catalogue.is_before("3.6.0-SNAPSHOT", "3.6.0")
    assert catalogue.is_before("3.6.0+acme.0a1b2c3d", "3.7.0")
    assert catalogue.is_before("3.9.1", "3.10.0")
    assert not catalogue.is_before("3.7.0", "3.7.0")
    assert not catalogue.is_before("/opt/kafka-3.6.0", "3.7.0")


def test_a_bug_excuses_only_its_own_release() -> None:
    """A build of somebody has those of its release, and the newest release those never fixed."""
    assert catalogue.known_bug("KAFKA-15605").breaks("3.6.0")
    assert catalogue.known_bug("KAFKA-15605").breaks("3.6.0+acme.0a1b2c3d")
    assert catalogue.known_bug("KAFKA-15605").breaks("3.6.0-SNAPSHOT+mine.0a1b2c3d")
    assert not catalogue.known_bug("KAFKA-15605").breaks("trunk")
    assert not catalogue.known_bug("KAFKA-15605").breaks("/opt/kafka-3.6.0")
    unfixed = {bug.id for bug in catalogue.all_known_bugs() if bug.breaks("3.9.1")}
    assert "kmigrate-1" in unfixed
    assert unfixed == {bug.id for bug in catalogue.all_known_bugs() if not bug.fixed_in}


def bugs_met(kafka: str) -> list[str]:
    """Those that any run may meet and that are bugs, not deviations."""
    bugs = catalogue.all_known_bugs()
    return [each.id for each in catalogue.met_by_any_run(kafka) if each in bugs]


def test_some_bugs_any_run_may_meet() -> None:
    """Races that need nothing but a migration; on releases that have them, and never of a version that is none."""
    assert {"kmigrate-2", "KAFKA-20774"} <= set(bugs_met("3.9.1"))
    assert not {"kmigrate-1", "KAFKA-16463"} & set(bugs_met("3.9.1"))
    assert "KAFKA-16463" in bugs_met("3.4.0")
    assert "kmigrate-2" not in bugs_met("3.4.0")
    assert catalogue.met_by_any_run("/opt/kafka-3.9.1") == ()
    assert {bug.reachability for bug in catalogue.met_by_any_run("3.9.1") if bug in catalogue.all_known_bugs()} == {
        "race"
    }


def test_a_bug_says_what_it_costs_and_which_requirements_it_breaks() -> None:
    """Each has a consequence in one sentence and requirements of the catalogue; one that is a ticket names it."""
    for bug in (each for each in catalogue.all_known_bugs() if each.id not in OF_UPGRADES):
        assert re.fullmatch(r"[A-Z][^\n]+\.", bug.consequence), bug.id
        assert [each for each in bug.requirements if catalogue.requirement(each).covered_by] == [], bug.id
        assert bug.class_ == "defect" or bug.requirements, f"{bug.id} differs from no requirement"
        assert bug.ticket == bug.id or bug.id.startswith("kmigrate-") or bug.class_ != "defect", bug.id


def test_a_ticket_of_the_wrong_form_is_reported(tmp_path: Path) -> None:
    """The error has file, id, key, what was expected and what was read; a number is no ticket either."""
    for ticket, got in (('"KAFKA 17146"', '"KAFKA 17146"'), ("17146", "17146")):
        (tmp_path / catalogue.KNOWN_BUGS).write_text(f"{BUG}ticket = {ticket}\n")
        with pytest.raises(WrongUseError, match=f"known-bugs.toml: b: ticket: expected .*, got {got}"):
            records(catalogue.KnownBug, Place("kip-x", "x", tmp_path, "x"), catalogue.KNOWN_BUGS, "bug")
