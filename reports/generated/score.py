"""The mutation score of a suite: which share of generated defects of Kafka it notices.

Run as ``python -m pytest_kmigrate.reports.generated.score PROFILE KAFKA SCORED EXERCISED COUNT SEED MINUTES CLASSES
AT_ONCE``, the last three of which may be left out. SCORED gets ``sample.jsonl`` (what was drawn), a folder for each
mutant with its runs, ``results.jsonl`` (a line per test of a mutant) and ``score.md``. EXERCISED has runs with
``--kmigrate-exercise`` in ``runs``, and their ``tables``. Called again with the same seed it goes on where it was; a
mutant that a test has noticed is not tried by another one. After MINUTES no further test is begun. CLASSES: patterns of
classes in place of those of the document, for a Kafka with packages of its own, with colons between. AT_ONCE: how many
mutants are tried side by side, 2 by default. ``equivalent.toml`` of the document names mutants that change nothing,
each with the reason. Exit status 0 when all of the sample was tried, 1 if not all was, 2 for wrong use.
"""

import json
import re
import shutil
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from rich.console import Console

from pytest_kmigrate.catalogue.code import CODE, Code, code_of, is_listed
from pytest_kmigrate.distributions.class_names import class_digest, method_of
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java_tools.lines import InstructionProbes, code_lines, probes_of_instructions
from pytest_kmigrate.distributions.java_tools.mutants import (
    TAKEN,
    GeneratedMutant,
    generated_mutants,
    write_class_file,
)
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.mutants import Fate
from pytest_kmigrate.recording.mutants import CLASS_FILE, RESULTS, SAMPLE, write_mutant
from pytest_kmigrate.reports.fates import judged_in
from pytest_kmigrate.reports.generated.choosing import NOTHING, Coverage, Places, coverage_in, merged
from pytest_kmigrate.reports.generated.drawing import drawn, is_sensible, without_copies
from pytest_kmigrate.reports.generated.equivalent import equivalents
from pytest_kmigrate.reports.generated.files import read_sample, read_trials, write_sample
from pytest_kmigrate.reports.generated.naming import name_of
from pytest_kmigrate.reports.generated.pages import page
from pytest_kmigrate.reports.generated.traced import carried_out, mended, traced
from pytest_kmigrate.reports.generated.trials import Anyway, Trial, trial_of
from pytest_kmigrate.reports.generated.unexecuted import reason_of, reasons
from pytest_kmigrate.reports.suite_tests import bugs_of, command_of, ended_by_mistake, run_test

SCORE = "score.md"
_AT_ONCE = "2"


@dataclass(frozen=True)
class Sample:
    """Mutants of one document's code in one Kafka, tried in one folder."""

    profile: str
    kafka: str
    runs: Path
    count: int
    seed: int
    coverage: Coverage
    classes: Sequence[str] = ()
    """Patterns of classes in place of the document's."""
    _noting: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    @cached_property
    def distribution(self) -> Distribution:
        """What is mutated."""
        return resolve(self.kafka, progress=_say, archive=False)

    @property
    def _drawn_by(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("profile", "kafka", "count", "seed")}

    @cached_property
    def mutants(self) -> list[GeneratedMutant]:
        """Those drawn, as the folder has them; drawn now if it has none. WrongUseError for those of another seed."""
        file, drawn_by = self.runs / SAMPLE, self._drawn_by
        if file.is_file():
            first, mutants = read_sample(file)
            if first != drawn_by:
                raise WrongUseError(f"{file}: expected a sample of {drawn_by}, got one of {first}; name another folder")
            return mutants
        patterns, code = self._patterns, () if self.classes else code_of(self.profile)
        mutants = generated_mutants(self.distribution, patterns, _say)
        sensible = [each for each in mutants if is_sensible(each) and _is_listed(each, code)]
        if not sensible:
            wanted = ", ".join(self.classes) or f"of the {len(patterns)} patterns in {CODE} of {self.profile}"
            raise WrongUseError(
                f"Kafka {self.kafka}: expected classes {wanted} to mutate, got none of them; if this Kafka has other "
                "packages, name them by CLASSES, such as com.acme.kafka.raft.*"
            )
        chosen = drawn(without_copies(sensible), self.count, self.seed)
        write_sample(file, drawn_by, chosen)
        return chosen

    @cached_property
    def instructions(self) -> Mapping[str, InstructionProbes]:
        """By id of the mutant, what shows that the instruction that it changes was executed.

        WrongUseError if what was executed is of other class files: their probes are elsewhere.
        """
        places = [(each.class_name, each.method, each.instruction) for each in self.mutants]
        probes = probes_of_instructions(self.distribution, places, _say)
        for mutant, each in zip(self.mutants, probes, strict=True):
            if other := self.coverage.other_files(mutant.class_name, each.class_id):
                raise WrongUseError(
                    f"{mutant.class_name}: expected what was executed of the class file {each.class_id} of Kafka "
                    f"{self.kafka}, got that of {', '.join(other)}; run the tests with --kmigrate-exercise against it"
                )
        return dict(zip((each.id for each in self.mutants), probes, strict=True))

    @property
    def _patterns(self) -> tuple[str, ...]:
        return tuple(self.classes) or tuple(each.id for each in code_of(self.profile))

    @cached_property
    def _methods(self) -> Mapping[str, Places]:
        """By a method's name, the probes of all methods of that name, and of the functions that stand in them."""
        lines = defaultdict[str, list[Places]](list)
        for line in code_lines(self.distribution, self._patterns, _say):
            lines[method_of(line.method)].append({(line.class_name, line.class_id): frozenset(line.probes)})
        return {method: merged(parts) for method, parts in lines.items()}

    def _around(self, mutant: GeneratedMutant) -> Places:
        """The probes of its method, and of the one whose call it changes, wherever that is."""
        named = self._methods.get(method_of(mutant.method), NOTHING)
        own = {file: probes for file, probes in named.items() if file[0] == mutant.class_name}
        return merged([own, self._methods.get(mutant.change.rpartition("::")[2], NOTHING)])

    @property
    def trials(self) -> list[Trial]:
        """What has been tried so far, each run by its verdicts as they are now."""
        file = self.runs / RESULTS
        return [self._again(each) for each in read_trials(file)] if file.is_file() else []

    def _again(self, trial: Trial) -> Trial:
        runs = self._runs(trial.mutant, trial.test)
        return self._trial(trial.mutant, trial.test, runs, trial.seconds) if trial.test and runs.is_dir() else trial

    def _trial(self, mutant: str, test: str, runs: Path, seconds: float) -> Trial:
        anyway = Anyway(self.coverage.excused_anyway(test), bugs_of(_named(test), self.profile))
        return trial_of(mutant, test, judged_in(runs), anyway, seconds)

    def _runs(self, mutant: str, test: str) -> Path:
        """The folder of the runs of one test of a mutant."""
        return self.runs / mutant / re.sub(r"[^\w.\[\]()-]", "-", _named(test))

    def carry_out(self, reasons: Mapping[str, str], within_s: float = float("inf"), at_once: int = 1) -> bool:
        """Try all that was not tried yet, ``at_once`` mutants side by side, and return whether all was.

        ``reasons``: why a mutant is equivalent, by its id. No test is begun after ``within_s``, nor after an error.
        """
        ends_at_s = time.monotonic() + within_s
        before = defaultdict[str, list[Trial]](list)
        for trial in self.trials:
            before[trial.mutant].append(trial)
        tests = {each.id: self._tests_for(each) for each in self.mutants}
        over = threading.Event()

        def is_tried(mutant: GeneratedMutant) -> bool:
            trials = self._tried(mutant, tests[mutant.id], before[mutant.id], reasons.get(mutant.id))
            with _set_by_an_error(over):
                while not over.is_set() and (trial := next(trials, None)):
                    self._note(trial)
                    if time.monotonic() > ends_at_s:
                        over.set()
            return not over.is_set()

        with ThreadPoolExecutor(at_once) as pool, _set_by_an_error(over):
            return all(list(pool.map(is_tried, self.mutants)))

    def _note(self, trial: Trial) -> None:
        with self._noting, (self.runs / RESULTS).open("a", encoding="utf-8") as results:
            results.write(json.dumps(trial.as_row()) + "\n")
        _say(f"{trial.mutant}: {trial.fate} {', '.join(trial.requirements)} {trial.test}")

    def _tried(
        self, mutant: GeneratedMutant, tests: Sequence[str], before: Sequence[Trial], reason: str | None
    ) -> Iterator[Trial]:
        if reason is not None:
            if all(each.fate is not Fate.EQUIVALENT for each in before):
                yield Trial(mutant.id, "", Fate.EQUIVALENT, seen=reason)
            return
        done = {each.test for each in before}
        if any(each.fate in (Fate.KILLED, Fate.REFUSED) for each in before) or (before and done >= set(tests)):
            return
        if not tests:
            yield Trial(mutant.id, "", Fate.NOT_EXECUTED)
        elif refused := self._planted(mutant):
            yield Trial(mutant.id, "", Fate.REFUSED, seen=refused)
        else:
            fates = [each.fate for each in before]
            for test in tests:
                if test not in done:
                    # One that no checkpoint's cluster comes up with is judged where the test walks to its state itself.
                    trial = self._tested(mutant, test, is_cold=Fate.NOT_JUDGED in fates)
                    fates.append(trial.fate)
                    yield trial
                    if trial.fate is Fate.KILLED:
                        return

    def _tests_for(self, mutant: GeneratedMutant) -> list[str]:
        method = method_of(mutant.method)
        asked = carried_out(traced(self.profile), mutant.class_name, method)
        bugs = mended(traced(self.profile), mutant.class_name, method)
        first = [each for each in self.coverage.costs_ms if bugs & bugs_of(_named(each), self.profile)] if bugs else ()
        found = reason_of(reasons(self.profile), mutant.class_name, method)
        instruction = self.instructions[mutant.id]
        tests = self.coverage.tests_for(mutant.class_name, instruction, self._around(mutant), asked, first)
        return tests or (self.coverage.any_tests(asked) if found and found.at_end else [])

    def _folder(self, mutant: GeneratedMutant) -> Path:
        return self.runs / mutant.id

    def _planted(self, mutant: GeneratedMutant) -> str:
        """Write its class file; what a JVM has against it, empty if nothing."""
        folder = self._folder(mutant)
        folder.mkdir(parents=True, exist_ok=True)
        original = class_digest(self.distribution.jars, mutant.class_name)
        write_mutant(folder, {"id": mutant.id, "original": original, **asdict(mutant)})
        answer = write_class_file(self.distribution, mutant, folder / CLASS_FILE, _say)
        return "" if answer == TAKEN else answer

    def _tested(self, mutant: GeneratedMutant, test: str, *, is_cold: bool = False) -> Trial:
        name, runs = _named(test), self._runs(mutant.id, test)
        shutil.rmtree(runs, ignore_errors=True)
        runs.mkdir(parents=True)
        began_s = time.monotonic()
        mine: dict[str, str | None] = {"kafka": self.kafka, "mutant": str(self._folder(mutant)), "nightly": None}
        command = command_of(name, self.profile, runs, **mine, **({"cold": None} if is_cold else {}))
        run_test(f"mutant {mutant.id}", name, command, runs, self.coverage.limit_s(test))
        took_s = round(time.monotonic() - began_s, 1)
        return self._trial(mutant.id, test, runs, took_s)


@contextmanager
def _set_by_an_error(over: threading.Event) -> Iterator[None]:
    """Set the event by what ends the block, in whichever thread, so that the other threads begin nothing more."""
    try:
        yield
    except BaseException:
        over.set()
        raise


def _is_listed(mutant: GeneratedMutant, code: Sequence[Code]) -> bool:
    """Whether it changes what carries out the document; any does where classes are named in place of its own."""
    return not code or is_listed(mutant.class_name, method_of(mutant.method), code)


def _named(test: str) -> str:
    """A test as a document's data name it: ``module::name``."""
    module, _, name = test.partition("::")
    return f"{module.removesuffix('.py').replace('/', '.').rpartition('.')[2]}::{name}"


def _say(sentence: str) -> None:
    Console(stderr=True, markup=False, soft_wrap=True).print(sentence)


def main(profile: str, kafka: str, scored: str, exercised: str, *more: str) -> int:
    """Try a sample and publish its score."""
    folder = Path(scored)
    count, seed, minutes, classes, at_once = (*more, "", "", "", "", "")[:5]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background job ignores, and its tests
    try:
        drawn_by = _whole("N", count), _whole("SEED", seed)
        within_s = 60.0 * _whole("MINUTES", minutes) if minutes else float("inf")
        name = name_of(kafka)
        coverage = coverage_in(Path(exercised), profile, name)
        sample = Sample(profile, kafka, folder, *drawn_by, coverage, tuple(classes.split(":")) if classes else ())
        reasons = equivalents(profile, name, [each.id for each in sample.mutants])
        is_whole = sample.carry_out(reasons, within_s, _whole("AT_ONCE", at_once or _AT_ONCE, 1))
    except KmigrateError as error:
        return ended_by_mistake(error)
    except KeyboardInterrupt:
        _say(f"interrupted: the same command goes on with what {folder} has")
        return ExitStatus.INTERRUPTED
    written = page(sample.mutants, sample.trials, f"Kafka {name} by {profile}, seed {seed}")
    (folder / SCORE).write_text(written, encoding="utf-8")
    rows = "".join(f"{json.dumps(each.as_row())}\n" for each in sample.trials)
    (folder / RESULTS).write_text(rows, encoding="utf-8")
    sys.stdout.write(written)
    return 0 if is_whole else 1


def _whole(name: str, text: str, least: int = 0) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise WrongUseError(f"{name}: expected a whole number{f' from {least}' if least else ''}, got {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
