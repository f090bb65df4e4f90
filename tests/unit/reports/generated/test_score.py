"""The score of a sample: resumed, stopped at the first test that notices, and published."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_kmigrate.catalogue.code import is_listed
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java_tools.lines import CodeLine, InstructionProbes
from pytest_kmigrate.distributions.java_tools.mutants import GeneratedMutant
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.mutants import Fate
from pytest_kmigrate.recording.mutants import RESULTS, SAMPLE
from pytest_kmigrate.reports.generated import score
from pytest_kmigrate.reports.generated.choosing import Coverage, coverage_in
from pytest_kmigrate.reports.generated.equivalent import equivalents
from pytest_kmigrate.reports.generated.score import Sample
from pytest_kmigrate.reports.generated.trials import Trial, fate_of

SLOW, FAST, RED = (f"pytest_kmigrate.suites.kip_866.test_a::test_{name}" for name in ("slow", "fast", "red"))
KAFKA = Distribution("3.9.1", (), "digest")
A, B, REFUSED, NEVER = (GeneratedMutant("org.acme.A", n, "poll()V", n, "M", "x|y", n) for n in range(4))


def attempt(test: str, outcome: str = "CONFORMS", took_ms: float = 9.0, bugs: tuple[str, ...] = ()) -> dict[str, Any]:
    """A row of ``attempts``."""
    of = {"folder": f"run of {test}", "test_id": test, "profile": "kip-866", "kafka": "3.9.1"}
    return {**of, "outcome": outcome, "known_bugs": list(bugs), "duration_ms": took_ms}


def shown_by(*probes: int) -> InstructionProbes:
    """An instruction of the class file that was executed."""
    return InstructionProbes("1f", 7, probes)


def written(exercised: Path, passed: dict[str, list[int]]) -> Path:
    """An analysis of runs, each of which passed these probes of a class."""
    attempts = [attempt(SLOW, took_ms=90), attempt(FAST, "VIOLATES", 20, ("KAFKA-1",)), attempt(RED, "VIOLATES", 1)]
    rows = {"attempts": attempts}
    judged = [{"requirement": f"K866-{each}", "outcome": each} for each in ("VIOLATES", "CONFORMS", "INCONCLUSIVE")]
    rows["verdicts"] = [
        {"folder": f"run of {FAST}", "check": "c", "outcome": outcome, "known_bugs": [bug], "about": about}
        for outcome, bug, about in (("VIOLATES", "KAFKA-1", judged), ("CONFORMS", "KAFKA-2", None))
    ]
    for name, mine in rows.items():
        (exercised / "tables" / name).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(mine), exercised / "tables" / name / "part.parquet")
    for test, probes in passed.items():
        file = exercised / "runs" / f"run of {test}" / "exercise" / "exercise.jsonl"
        file.parent.mkdir(parents=True)
        line = {"class_name": "org.acme.A", "class_id": "1f", "node": "broker-0"}
        file.write_text("".join(f"{json.dumps({**line, 'executed': [probe]})}\n" for probe in probes))
    return exercised


def test_the_cheapest_tests_that_are_green_without_it_are_tried(tmp_path: Path) -> None:
    """A test that is red anyway shows nothing of a mutant."""
    passed = {SLOW: [0, 4], RED: [0, 1], FAST: [4]}
    coverage = coverage_in(written(tmp_path, passed), "kip-866", "3.9.1")
    assert coverage.tests_for("org.acme.A", shown_by(4)) == [FAST, SLOW]
    assert coverage.tests_for("org.acme.A", shown_by(0)) == [SLOW]
    assert coverage.tests_for("org.acme.A", shown_by(1)) == []
    assert coverage.tests_for("org.acme.A", shown_by(2)) == []
    assert coverage.excused == {FAST: {("c", "KAFKA-1")}}
    assert coverage.judged == {FAST: {"K866-VIOLATES", "K866-CONFORMS"}}


def test_the_first_test_executes_most_around_and_the_others_what_it_does_not() -> None:
    """All four pass the instruction, by probe 0; what few tests do counts more, and an expensive test must do more."""
    file, other = ("org.acme.A", "1f"), ("org.acme.B", "2f")
    of_a = {"cheap": {0}, "like-cheap": {0}, "differs": {0, 1, 2}, "wide": {0, 3, 4}}
    executed = {test: {file: frozenset(probes), other: frozenset({9})} for test, probes in of_a.items()}
    costs_ms = {"cheap": 1_000.0, "like-cheap": 2_000.0, "differs": 30_000.0, "wide": 40_000.0}
    coverage = Coverage(executed, costs_ms)
    assert coverage.tests_for("org.acme.A", shown_by(0))[:3] == ["cheap", "differs", "wide"]
    assert coverage.tests_for("org.acme.A", shown_by(0), {file: frozenset({1, 2})})[:3] == ["differs", "wide", "cheap"]
    assert coverage.tests_for("org.acme.A", shown_by(0), {other: frozenset({9})})[:3] == ["cheap", "differs", "wide"]


def test_every_second_test_judges_what_the_code_carries_out() -> None:
    """What few tests judge counts more, and each adds to the former ones; tests elsewhere are none of them."""
    file = ("org.acme.A", "1f")
    probes = {"plain": {0, 1, 2}, "cheap": {0}, "rare": {0}, "both": {0}, "elsewhere": {7}}
    executed = {test: {file: frozenset(mine)} for test, mine in probes.items()}
    judged = {"cheap": {"R-1"}, "rare": {"R-2"}, "both": {"R-1", "R-3"}, "elsewhere": {"R-1", "R-2", "R-3"}}
    coverage = Coverage(
        executed, dict.fromkeys(probes, 1_000.0), judged={test: frozenset(mine) for test, mine in judged.items()}
    )
    asked = {"R-1", "R-2"}
    assert coverage.tests_for("org.acme.A", shown_by(0), requirements=asked) == ["rare", "plain", "both", "cheap"]
    named = {"cheap", "elsewhere"}
    found = coverage.tests_for("org.acme.A", shown_by(0), requirements=asked, first=named)
    assert found == ["cheap", "plain", "rare", "both"]
    assert coverage.any_tests({"R-3"}) == ["both", "elsewhere"]
    assert len(coverage.any_tests({"R-4"})) == len(coverage.any_tests()) == 4


def test_what_is_around_a_mutant_is_its_method_and_the_one_that_it_calls(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the functions in them; the method that is called may be of another class, its own may not."""
    lines = [
        CodeLine("org.acme.A", "1f", "A.java", method, 1, probes)
        for method, probes in (("sync()V", (0,)), ("lambda$sync$3(I)V", (1, 2)), ("poll()V", (3,)))
    ]
    elsewhere = [
        CodeLine("org.acme.B", "2f", "B.java", method, 1, (probe,))
        for method, probe in (("sync()V", 4), ("copy()V", 5))
    ]
    monkeypatch.setattr(score, "code_lines", lambda *_: [*lines, *elsewhere])
    mutant = GeneratedMutant("org.acme.A", 0, "lambda$sync$3(I)V", 1, "M", "removed call to org/acme/C::copy", 0)
    assert sample._around(mutant) == {("org.acme.A", "1f"): {0, 1, 2}, ("org.acme.B", "2f"): {5}}


def test_a_mutant_that_no_checkpoint_comes_up_with_is_tried_from_scratch(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is judged of a run whose cluster never stood where its test begins."""
    cold: list[bool] = []

    def tested(_self: Sample, mutant: GeneratedMutant, test: str, *, is_cold: bool) -> Trial:
        cold.append(is_cold)
        return Trial(mutant.id, test, Fate.NOT_JUDGED if mutant == A else Fate.SURVIVED)

    monkeypatch.setattr(Sample, "_tested", tested)
    assert sample.carry_out({})
    assert cold == [False, True, False, False]


def test_what_was_executed_of_another_class_file_is_of_no_use(tmp_path: Path) -> None:
    """Its probes are elsewhere; a class that no run executed has none at all."""
    coverage = coverage_in(written(tmp_path, {SLOW: [4]}), "kip-866", "3.9.1")
    assert coverage.tests_for("org.acme.A", InstructionProbes("2f", 7, (4,))) == []
    assert coverage.other_files("org.acme.A", "2f") == ["1f"]
    assert coverage.other_files("org.acme.A", "1f") == ()
    assert coverage.other_files("org.acme.B", "2f") == []


@pytest.mark.parametrize(("kafka", "folder"), [("3.8.1", ""), ("3.9.1", "elsewhere")])
def test_tables_without_executed_code_are_wrong_use(tmp_path: Path, kafka: str, folder: str) -> None:
    """The sentence names what makes them."""
    written(tmp_path, {SLOW: [0]})
    with pytest.raises(WrongUseError, match="kmigrate analyze"):
        coverage_in(tmp_path / folder, "kip-866", kafka)


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sample:
    """Four mutants: one that the second test kills, one that survives, one that no JVM takes, one never executed."""
    places = {("org.acme.A", "1f"): frozenset({0, 1, 2})}
    coverage = Coverage({FAST: places, SLOW: places}, {FAST: 1.0, SLOW: 2.0})
    made = Sample("kip-866", "3.9.1", tmp_path, 4, 1, coverage)
    monkeypatch.setitem(vars(made), "distribution", KAFKA)
    monkeypatch.setattr(score, "generated_mutants", lambda *_: [A, B, REFUSED, NEVER])
    monkeypatch.setattr(score, "is_listed", lambda *_: True)
    monkeypatch.setattr(score, "drawn", lambda mutants, _count, _seed: mutants)
    answer: Callable[[object, GeneratedMutant, Path, object], str] = lambda _, mutant, *__: (  # noqa: E731
        "VerifyError" if mutant == REFUSED else "taken"
    )
    monkeypatch.setattr(score, "write_class_file", answer)
    monkeypatch.setattr(score, "probes_of_instructions", lambda *_: [shown_by(n) for n in range(4)])
    monkeypatch.setattr(score, "code_lines", lambda *_: ())
    return made


@pytest.fixture
def tried(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is run, instead of being run."""
    ran: list[tuple[str, str]] = []

    def tested(_self: Sample, mutant: GeneratedMutant, test: str, **_: bool) -> Trial:
        ran.append((mutant.id, test))
        is_killed = mutant == A and test == FAST
        return Trial(mutant.id, test, Fate.KILLED if is_killed else Fate.SURVIVED, ["K1"] if is_killed else [])

    monkeypatch.setattr(Sample, "_tested", tested)
    return ran


def test_a_sample_goes_on_where_it_was(sample: Sample, tried: list[tuple[str, str]]) -> None:
    """A mutant that was noticed is not tried again, by no test; nor is one that has met all of its tests."""
    assert not sample.carry_out({}, within_s=0)
    assert tried == [(A.id, FAST)]
    again = Sample(sample.profile, sample.kafka, sample.runs, sample.count, sample.seed, sample.coverage)
    vars(again)["distribution"] = KAFKA
    assert again.carry_out({})
    assert tried == [(A.id, FAST), (B.id, FAST), (B.id, SLOW)]
    assert again.carry_out({})
    assert len(tried) == 3
    fates = {each.mutant: each.fate for each in again.trials}
    assert fates == {A.id: Fate.KILLED, B.id: Fate.SURVIVED, REFUSED.id: Fate.REFUSED, NEVER.id: Fate.NOT_EXECUTED}


def test_what_no_test_executed_is_tried_by_tests_recorded_since(sample: Sample, tried: list[tuple[str, str]]) -> None:
    """That it was never executed holds for the tests that were recorded then."""
    assert sample.carry_out({})
    done = len(tried)
    again = Sample(sample.profile, sample.kafka, sample.runs, sample.count, sample.seed, sample.coverage)
    vars(again)["distribution"] = KAFKA
    vars(again)["instructions"] = {**sample.instructions, NEVER.id: shown_by(0)}
    assert again.carry_out({})
    assert [mutant for mutant, _ in tried[done:]] == [NEVER.id] * (len(tried) - done)
    assert len(tried) > done


def test_mutants_are_tried_side_by_side(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by one test at a time; the results have a line for each, whichever ended first."""
    both = threading.Barrier(2, timeout=20)

    def tested(_self: Sample, mutant: GeneratedMutant, test: str, **_: bool) -> Trial:
        both.wait()
        return Trial(mutant.id, test, Fate.SURVIVED)

    monkeypatch.setattr(Sample, "_tested", tested)
    assert sample.carry_out({}, at_once=2)
    tried = Counter(json.loads(line)["mutant"] for line in (sample.runs / RESULTS).read_text().splitlines())
    assert tried == {A.id: 2, B.id: 2, REFUSED.id: 1, NEVER.id: 1}


def test_after_an_interrupt_no_mutant_is_begun(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that another thread was to take next are left for the same command."""
    ran: list[str] = []

    def interrupted(_self: Sample, mutant: GeneratedMutant, _test: str, **_: bool) -> Trial:
        ran.append(mutant.id)
        raise KeyboardInterrupt

    monkeypatch.setattr(Sample, "_tested", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sample.carry_out({})
    assert ran == [A.id]


def test_a_test_that_waits_in_vain_is_ended(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it takes without a mutant; one that was measured on a shared cluster may need one of its own."""
    limits: list[object] = []
    monkeypatch.setattr(score, "run_test", lambda *given: limits.append((given[-1], "--kmigrate-cold" in given[2])))
    assert sample._tested(A, FAST).fate is Fate.NOT_JUDGED
    assert sample._tested(A, FAST, is_cold=True).fate is Fate.NOT_JUDGED
    assert limits == [(150 + 2 * 0.001, False), (150 + 2 * 0.001, True)]


def test_an_equivalent_one_is_not_tried_and_not_counted(sample: Sample, tried: list[tuple[str, str]]) -> None:
    """Nor is one that the JVM refuses; the others are three, of which one is noticed."""
    sample.carry_out({B.id: "no one reads it"})
    assert tried == [(A.id, FAST)]
    text = score.page(sample.mutants, sample.trials, "Kafka")
    assert "**50%** of 2 noticed (95 % interval 9% to 91%)" in text
    assert "| equivalent | no one reads it |" in text
    assert "| refused by the JVM | VerifyError |" in text
    assert "| K1 | 1 | 1 |" in text
    assert "x\\|y" in text


def test_a_mutant_that_was_tried_can_be_found_equivalent_later(sample: Sample, tried: list[tuple[str, str]]) -> None:
    """By the reader of the survivors; one that was noticed is none, whatever its reason."""
    sample.carry_out({})
    sample.carry_out({B.id: "no one reads it", A.id: "a mistake"})
    fates = {each.id: fate_of([trial for trial in sample.trials if trial.mutant == each.id]) for each in (A, B)}
    assert fates == {A.id: Fate.KILLED, B.id: Fate.EQUIVALENT}


def test_rows_of_equivalent_mutants_may_be_patterns() -> None:
    """Of one line that a compiler has put into several methods; a change of another kind on it is none of them."""
    wrapped, returned = (
        "ZkConfigMigrationClient.263.NegateConditionals.60",
        "ZkConfigMigrationClient.263.NullReturnVals.60",
    )
    assert set(equivalents("kip-866", "3.9.1", [wrapped, returned, f"{wrapped[:-2]}69"])) == {wrapped}
    assert equivalents("kip-866", "3.8.1", [wrapped]) == {}


def test_departures_of_the_release_excuse_no_mutant(tmp_path: Path) -> None:
    """Those of any test; a known bug only where the same test met it without a mutant."""
    met = {
        FAST: frozenset(
            {("c", "numbers-of-the-states"), ("d", "directory-id-added-to-meta-properties"), ("c", "kmigrate-9")}
        ),
        SLOW: frozenset(),
    }
    coverage = Coverage({}, {}, met)
    assert coverage.excused_anyway(SLOW) == met[FAST] - {("c", "kmigrate-9")}
    assert coverage.excused_anyway(FAST) == met[FAST]


def test_a_sample_of_another_seed_is_refused(sample: Sample, tried: list[tuple[str, str]]) -> None:
    """Two samples in one folder would be added up as one."""
    sample.carry_out({})
    other = Sample(sample.profile, sample.kafka, sample.runs, sample.count, 2, sample.coverage)
    with pytest.raises(WrongUseError, match=f"{SAMPLE}: expected a sample of .*'seed': 2.*'seed': 1"):
        other.carry_out({})
    assert len((sample.runs / RESULTS).read_text().splitlines()) == 5
    assert json.loads((sample.runs / SAMPLE).read_text().splitlines()[0])["seed"] == 1


def test_runs_of_another_build_are_refused_by_the_sum_of_the_class_file(
    sample: Sample, tried: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which test executes a mutant could only be guessed."""
    monkeypatch.setattr(score, "probes_of_instructions", lambda *_: [InstructionProbes("2f", 7, (0,))] * 4)
    with pytest.raises(WrongUseError, match=r"org\.acme\.A: expected .* class file 2f of Kafka 3\.9\.1, got .* 1f;"):
        sample.carry_out({})
    assert tried == []


@pytest.mark.parametrize("name", [SAMPLE, RESULTS])
@pytest.mark.parametrize("line", ["{", "[]", '{"mutant": "m"}'])
def test_a_file_that_is_none_of_ours_is_wrong_use(
    sample: Sample, tried: list[tuple[str, str]], name: str, line: str
) -> None:
    """Such as one of an earlier release, or a line that was written in part."""
    sample.carry_out({})
    with (sample.runs / name).open("a") as file:
        file.write(line)
    again = Sample(sample.profile, sample.kafka, sample.runs, sample.count, sample.seed, sample.coverage)
    vars(again)["distribution"] = KAFKA
    with pytest.raises(WrongUseError, match=rf"{name}:\d+: expected an object with .*, got "):
        again.carry_out({})


def test_a_kafka_with_other_packages_is_wrong_use(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence has what was looked for, and how to name others."""
    monkeypatch.setattr(score, "generated_mutants", lambda *_: [])
    with pytest.raises(
        WrongUseError, match=r"expected classes of the \d+ patterns in code.toml of kip-866 .* by CLASSES"
    ):
        sample.carry_out({})


def test_classes_in_place_of_the_documents_are_mutated(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a Kafka with packages of its own."""
    asked: list[object] = []
    monkeypatch.setattr(score, "generated_mutants", lambda _, patterns, __: asked.append(patterns) or [A])
    monkeypatch.setitem(vars(sample), "classes", ("com.acme.*",))
    assert sample.mutants == [A]
    assert asked == [("com.acme.*",)]


def test_code_of_another_document_is_not_mutated(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a class among others, or a method of a class: a cluster without ZooKeeper migrates none."""
    places = [
        ("org.apache.kafka.controller.BrokersToIsrs", "update()V"),
        ("org.apache.kafka.controller.BrokersToElrs", "update()V"),
        ("org.apache.kafka.controller.QuorumController", "lambda$createTopics$12()V"),
        ("org.apache.kafka.controller.QuorumController", "lambda$updateFeatures$31()V"),
        ("kafka.server.metadata.KRaftMetadataCache", "contains()Z"),
        ("kafka.server.metadata.ZkMetadataCache", "contains()Z"),
    ]
    mutants = [replace(A, class_name=name, method=method) for name, method in places]
    monkeypatch.setattr(score, "generated_mutants", lambda *_: mutants)
    monkeypatch.setattr(score, "is_listed", is_listed)
    for of, expected in (("kip-500", mutants[::2]), ("kip-778", mutants[3:4]), ("kip-866", mutants[5:])):
        monkeypatch.setitem(vars(sample), "profile", of)
        vars(sample).pop("mutants", None)
        (sample.runs / SAMPLE).unlink(missing_ok=True)
        assert sample.mutants == expected


@pytest.mark.slow
def test_a_night_that_is_interrupted_says_that_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And shows no stack trace: the runs of hours are there."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(score, "name_of", interrupted)
    assert score.main("kip-866", "3.9.1", str(tmp_path), str(tmp_path), "12", "1") == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert score.main("kip-866", "3.9.1", str(tmp_path), str(tmp_path), "a dozen", "1") == 2
    assert "N: expected a whole number, got 'a dozen'" in capsys.readouterr().err
    monkeypatch.setattr(score, "name_of", lambda _: "3.9.1")
    monkeypatch.setattr(score, "coverage_in", lambda *_: Coverage({}, {}))
    monkeypatch.setattr(score, "equivalents", lambda *_: {})
    assert score.main("kip-866", "3.9.1", str(tmp_path), str(tmp_path), "12", "1", "", "", "0") == 2
    assert "AT_ONCE: expected a whole number from 1, got '0'" in capsys.readouterr().err


def test_what_runs_while_a_node_ends_is_tried_by_tests_that_judge_it(sample: Sample) -> None:
    """Every test ends nodes, and none can show what they execute then; the cheapest if none is known to judge it."""
    ending = GeneratedMutant("kafka.server.BrokerLifecycleManager", 0, "beginControlledShutdown()V", 3, "M", "x", 3)
    vars(sample)["instructions"] = dict.fromkeys((ending.id, NEVER.id), shown_by(9))
    assert sample._tests_for(ending) == [FAST, SLOW]
    vars(sample)["coverage"] = replace(sample.coverage, judged={SLOW: frozenset({"K866-FWD-controlled-shutdown"})})
    assert sample._tests_for(ending) == [SLOW]
    assert sample._tests_for(NEVER) == []
