"""What became of each mutant, by made-up run folders, and that a wrong one is refused before anything runs."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import place_of
from pytest_kmigrate.catalogue.places import Place
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind, RuleOutcome
from pytest_kmigrate.model.events.nodes import RulesReported
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports import planted
from pytest_kmigrate.reports.fates import OUTPUT, Fate, Result, is_proof, markdown
from pytest_kmigrate.reports.mutants import main, planting, result_of
from pytest_kmigrate.reports.planted import Mutant, mutants_of
from pytest_kmigrate.reports.suite_tests import chosen, node_id
from pytest_kmigrate.reports.weaving import check_fit

ROOT = Path(__file__).parents[3]
PROFILES = ("kip-866", "kip-500", "kip-778")
ROW, OTHER, DEVIATING = "K866-DW-topic-create", "K866-DW-topic-delete", "K866-DW-multi"
MUTANT = Mutant("lost", "Topics are lost", "test_dual_write::test_it", ROW, "RULE it\nENDRULE")
OF_KAFKA = planting("kip-866", "3.9.1")
CARRIED_OUT, WOVEN = RuleOutcome.CARRIED_OUT, RuleOutcome.WOVEN
HELD = {"check": "other_claim", "outcome": "CONFORMS", "summary": "", "about": [], "violations": []}


def test_a_red_of_its_requirement_kills_a_mutant(tmp_path: Path) -> None:
    """The checks that saw it are named."""
    _write(tmp_path, _red("mirrored", ROW), _red("other", OTHER))
    assert result_of(MUTANT, tmp_path, "kip-866") == Result(MUTANT, Fate.KILLED, "mirrored")


def test_a_red_of_another_requirement_is_no_kill(tmp_path: Path) -> None:
    """Neither one of another row nor of a check without any."""
    _write(tmp_path, _red("other", OTHER), _red("no_unexpected_death"))
    assert result_of(MUTANT, tmp_path, "kip-866") == Result(MUTANT, Fate.OTHER_RED, f"{OTHER}, no_unexpected_death")


def test_a_mutant_that_is_excused_has_survived(tmp_path: Path) -> None:
    """By the red of its requirement alone; another red that is excused is none, and one that is not excused kills."""
    excused = {**_red("mirrored", ROW), "known_bugs": ["kmigrate-7"]}
    _write(tmp_path / "excused", excused)
    _write(tmp_path / "killed", excused, _red("compared", ROW))
    _write(tmp_path / "other", {**_red("other", OTHER), "known_bugs": ["kmigrate-7"]})

    result = result_of(MUTANT, tmp_path / "excused", "kip-866")
    assert result == Result(MUTANT, Fate.SURVIVED, "excused as kmigrate-7")
    assert "counted as survived: 1" in markdown([result], "Kafka 3.9.1")
    assert result_of(MUTANT, tmp_path / "killed", "kip-866") == Result(MUTANT, Fate.KILLED, "compared")
    assert result_of(MUTANT, tmp_path / "other", "kip-866") == Result(MUTANT, Fate.SURVIVED, "-")


@pytest.mark.parametrize("anyway", [DEVIATING, "K866-METRIC-ZkMigrationState"], ids=["a deviation", "a known bug"])
def test_what_released_kafka_violates_anyway_is_no_red(anyway: str, tmp_path: Path) -> None:
    """There is one in every run, whether it is excused or not."""
    _write(tmp_path, _red("conditional", anyway))
    assert result_of(MUTANT, tmp_path, "kip-866").fate is Fate.SURVIVED


def test_what_is_said_to_be_violated_anyway_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The requirement, and the bug that is the reason."""
    place = place_of("kip-866")
    monkeypatch.setattr(planted, "place_of", lambda _: Place(place.profile, place.package, tmp_path, place.origin))
    for requirement, bug, expected in ((ROW, "unheard-of", "unheard-of"), ("K866-DW-unheard-of", "kmigrate-2", "id: ")):
        (tmp_path / "red-anyway.toml").write_text(f'[[red_anyway]]\nid = "{requirement}"\nbug = "{bug}"\n')
        with pytest.raises(WrongUseError, match=expected):
            planted.red_anyway("kip-866")


def test_only_what_is_observed_of_the_defect_kills_it(tmp_path: Path) -> None:
    """The requirement may be red by itself."""
    mutant = Mutant("lost", "", "", DEVIATING, "", observed="^planted")
    _write(tmp_path / "itself", _red("conditional", DEVIATING, "a deviation"))
    _write(tmp_path / "planted", _red("conditional", DEVIATING, "planted in it"))

    assert result_of(mutant, tmp_path / "itself", "kip-866").fate is Fate.SURVIVED
    assert result_of(mutant, tmp_path / "planted", "kip-866").fate is Fate.KILLED


def test_a_mutant_whose_rule_was_not_carried_out_is_not_reached(tmp_path: Path) -> None:
    """Whatever else is red then says nothing of it; nor does its own row, where no node had the rule."""
    _write(tmp_path / "idle", _red("other", OTHER), reported=[WOVEN, WOVEN])
    _write(tmp_path / "unasked", _red("mirrored", ROW), reported=[])
    _write(tmp_path / "unfit", _red("mirrored", ROW), reported=[RuleOutcome.NOWHERE])

    assert result_of(MUTANT, tmp_path / "idle", "kip-866") == Result(MUTANT, Fate.NOT_REACHED, f"rule it: {WOVEN}")
    assert result_of(MUTANT, tmp_path / "unasked", "kip-866").fate is Fate.NOT_REACHED
    assert result_of(MUTANT, tmp_path / "unfit", "kip-866").fate is Fate.NOT_REACHED


def test_a_red_of_its_requirement_shows_that_a_rule_was_carried_out(tmp_path: Path) -> None:
    """Nodes report for the last time before they have ended, and a rule may be one of their end."""
    _write(tmp_path, _red("mirrored", ROW), reported=[WOVEN])
    assert result_of(MUTANT, tmp_path, "kip-866") == Result(MUTANT, Fate.KILLED, "mirrored")


def test_one_that_ends_its_test_early_is_reached_all_the_same(tmp_path: Path) -> None:
    """No verdict of such a run may conform, so what its nodes reported of their rules is asked."""
    _write(tmp_path / "red", _red("mirrored", ROW), reported=[WOVEN, CARRIED_OUT], is_whole=False)
    _write(tmp_path / "nothing", is_whole=False)

    assert result_of(MUTANT, tmp_path / "red", "kip-866") == Result(MUTANT, Fate.KILLED, "mirrored")
    assert result_of(MUTANT, tmp_path / "nothing", "kip-866") == Result(
        MUTANT, Fate.NOT_JUDGED, f"the test ended early; see {OUTPUT}"
    )


def test_a_run_without_verdicts_is_not_judged(tmp_path: Path) -> None:
    """Such as one whose cluster never came up: it is neither a kill nor a survivor."""
    assert result_of(MUTANT, tmp_path, "kip-866").fate is Fate.NOT_JUDGED


@pytest.mark.parametrize("fate", [Fate.OTHER_RED, Fate.SURVIVED, Fate.NOT_JUDGED])
def test_one_that_is_not_killed_is_no_proof(fate: Fate) -> None:
    """However many are."""
    killed = Result(MUTANT, Fate.KILLED, "mirrored")
    assert is_proof([killed])
    assert not is_proof([killed, Result(MUTANT, fate, "-")])


def test_one_that_was_not_reached_proves_nothing_and_spoils_nothing() -> None:
    """Unless its rule fits nothing in Kafka: then it is a mistake."""
    idle = Result(MUTANT, Fate.NOT_REACHED, "rule a: woven in, never reached; rule b: woven in, never reached")
    unfit = Result(MUTANT, Fate.NOT_REACHED, "rule a: woven in, never reached; rule b: woven into nothing")
    killed = Result(MUTANT, Fate.KILLED, "mirrored")
    assert is_proof([killed, idle])
    assert not is_proof([idle])
    assert not is_proof([killed, unfit])


def test_the_page_counts_every_fate() -> None:
    """And has a row for each mutant."""
    page = markdown([Result(MUTANT, Fate.KILLED, "mirrored"), Result(MUTANT, Fate.SURVIVED, "-")], "Kafka 3.9.1")
    assert "1 killed, 0 red of another row, 1 survived" in page
    assert f"| `lost` | Topics are lost | {ROW} | killed | mirrored |" in page


def test_each_mutant_runs_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """What an earlier run left is gone."""
    (tmp_path / "lost" / "earlier").mkdir(parents=True)
    replace(OF_KAFKA, planted=_printing).run([MUTANT], tmp_path)
    assert sorted(each.name for each in (tmp_path / "lost").iterdir()) == ["planted.json", "pytest.log"]
    assert (tmp_path / "lost" / "pytest.log").read_text() == "lost lost\n"


def test_the_rules_of_a_mutant_are_in_its_folder(tmp_path: Path) -> None:
    """And its test is run with them."""
    command = OF_KAFKA.planted(MUTANT, tmp_path)
    assert (tmp_path / "rules.btm").read_text() == MUTANT.rules
    assert f"--kmigrate-byteman={tmp_path / 'rules.btm'}" in command


def test_what_was_run_is_not_run_again(tmp_path: Path) -> None:
    """Unless other rules, another test or another Kafka is asked for, or the run did not come to its end."""
    mine = replace(OF_KAFKA, planted=_printing)
    assert not mine.was_run(MUTANT, tmp_path)
    mine.run([MUTANT], tmp_path)
    assert mine.was_run(MUTANT, tmp_path)
    assert mine.was_run(replace(MUTANT, requirement=OTHER), tmp_path)  # judged anew from its folder
    assert mine.wanted([MUTANT], tmp_path, ()) == []
    assert mine.wanted([MUTANT], tmp_path, ["lost"]) == [MUTANT]

    assert not planting("kip-866", "3.9.0").was_run(MUTANT, tmp_path)
    assert not mine.was_run(replace(MUTANT, rules="RULE other\nENDRULE"), tmp_path)
    assert not mine.was_run(replace(MUTANT, test="test_copy::test_it"), tmp_path)
    with pytest.raises(WrongUseError):
        replace(OF_KAFKA, planted=_ending("raise SystemExit(4)")).run([MUTANT], tmp_path)
    assert not mine.was_run(MUTANT, tmp_path)


def test_a_test_that_pytest_cannot_run_is_an_error(tmp_path: Path) -> None:
    """With what pytest said."""
    with pytest.raises(WrongUseError, match=r"lost: expected pytest to run .*, got exit status 4: no such test"):
        replace(OF_KAFKA, planted=_ending("print('no such test'); raise SystemExit(4)")).run([MUTANT], tmp_path)


def test_an_unknown_mutant_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything runs; known ones are chosen in the order of the file."""
    other = Mutant("other", "", "", ROW, "")
    assert chosen([MUTANT, other], ["other", "lost"]) == [MUTANT, other]
    assert main("kip-866", "3.9.1", str(tmp_path), "unheard-of") == 2
    assert "; got unheard-of" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        ("ERROR : Could not load class kafka.Gone", "ERROR : Could not load class kafka.Gone"),
        ("WARNING : Unable to transform class\nTestScript: no errors", "WARNING : Unable to transform class"),
        ("no Java here", "no Java here"),
    ],
)
def test_rules_that_fit_nothing_are_an_error(answer: str, got: str) -> None:
    """As Byteman's checker complains of them, or does not answer at all."""
    with pytest.raises(WrongUseError, match=rf"expected rules that fit the code of this Kafka, got:\n{got}"):
        check_fit([MUTANT], lambda _: [sys.executable, "-c", f"print({answer!r})"])


def test_no_mutant_is_nothing_to_check() -> None:
    """As when all were run already; Byteman's checker takes no empty list."""
    check_fit([], lambda _: [sys.executable, "-c", "raise SystemExit(1)"])


def test_rules_that_fit_are_no_error() -> None:
    """The checker gets a file for each mutant, by its name."""
    code = "import sys; print(open(sys.argv[1]).read(), sys.argv[1].endswith('/lost.btm'), 'TestScript: no errors')"
    check_fit([MUTANT], lambda files: [sys.executable, "-c", code, *map(str, files)])


@pytest.mark.parametrize("profile", PROFILES)
def test_every_mutant_of_a_document_is_sound(profile: str) -> None:
    """Its test and its requirement exist; the names of rules are unique in it."""
    for each in mutants_of(profile):
        assert node_id(each.test, profile).endswith(each.test.replace("::", ".py::", 1))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.slow
def test_the_published_page_has_a_row_for_every_mutant(profile: str) -> None:
    """With the requirement that it must turn red; results are copied from `mutants.md` of the runs."""
    page = (ROOT / "docs" / "reference" / f"mutants-of-{profile}.md").read_text(encoding="utf-8")
    rows = {tuple(row.split(" | ")[::2]) for row in page.splitlines() if row.startswith("| `")}
    assert {(f"| `{each.id}`", each.requirement) for each in mutants_of(profile)} == {row[:2] for row in rows}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("test", "test_dual_write::test_unheard_of", "test: expected a test of test_dual_write, one of test_"),
        ("test", "test_unheard_of::test_it", "test: expected module::name with a module of test_"),
        ("requirement", "K866-DW-unheard-of", "requirement: expected one of the document"),
        ("requirement", DEVIATING, "observed: expected a regular expression"),
        ("observed", "(", "observed: expected a regular expression"),
    ],
)
@pytest.mark.slow
def test_a_wrong_mutant_is_an_error(
    key: str, value: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file, the mutant, and what was expected."""
    first = mutants_of("kip-866")[0]
    row = {each: getattr(first, each) for each in ("id", "planted", "test", "requirement")} | {key: value}
    lines = [f"{each} = '{text}'" for each, text in row.items()]
    (tmp_path / "mutants.toml").write_text("\n".join(["[[mutant]]", *lines, "rules = 'RULE'"]))
    place = place_of("kip-866")
    monkeypatch.setattr(planted, "place_of", lambda _: Place(place.profile, place.package, tmp_path, place.origin))

    with pytest.raises(WrongUseError, match=rf"mutants.toml: {first.id}: {expected}"):
        mutants_of("kip-866")


def _ending(script: str) -> Callable[[Mutant, Path], Sequence[str]]:
    return lambda *_: [sys.executable, "-c", script]


def _printing(mutant: Mutant, folder: Path) -> list[str]:
    return [sys.executable, "-c", f"print({mutant.id!r}, {folder.name!r})"]


def _red(check: str, requirement: str | None = None, observed: str = "it") -> dict[str, object]:
    about = [{"requirement": requirement, "outcome": "VIOLATES"}] if requirement else []
    return {
        "check": check,
        "outcome": "VIOLATES",
        "summary": "",
        "about": about,
        "known_bugs": [],
        "violations": [{"observed": observed}],
    }


def _write(
    runs: Path,
    *verdicts: Mapping[str, object],
    reported: Sequence[RuleOutcome] = (CARRIED_OUT,),
    is_whole: bool = True,
) -> None:
    """A run folder with these verdicts; in the run, processes have reported these fates of the one rule."""
    run = RunFolder(runs / "run-1")
    run.path.mkdir(parents=True)
    run.verdicts.write_text("".join(json.dumps(each) + "\n" for each in (HELD, *verdicts)))
    events = [(RulesReported.event_kind, {"rules": {"it": each}}) for each in reported]
    events += [(EventKind.CHECKS, {"checks": []})] if is_whole else []
    lines = [
        {"seq": at, "at_ns": at, "kind": kind, "node": None, "data": data} for at, (kind, data) in enumerate(events)
    ]
    run.history.write_text("".join(json.dumps(each) + "\n" for each in lines))
