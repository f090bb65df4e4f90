"""Runs a recorded run's test again, with the same seed, Kafka, topology and profile, by a pytest of its own."""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest_kmigrate
from pytest_kmigrate.faults.schedules.reading import schedule_of
from pytest_kmigrate.faults.schedules.spelling import Mistake
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.asking import PREFIX, kafka_asked_for, options_asked_for, test_asked_for
from pytest_kmigrate.recording.reading import read_header
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.carrying_out import walkable
from pytest_kmigrate.topology.loading import shipped

_PACKAGE = Path(pytest_kmigrate.__file__).parent
_SUITES = "suites"
_CARRIED = ("topology", "byteman", "mutant", "classes")
"""Options as they were chosen, on the command line or in the ini file; the others are recorded by what they came to."""
_FLAGS = ("cold", "nightly", "exercise")
"""Flags that decide whether the test runs at all, from where, and what is recorded of it."""


def replay_command(header: RunHeader, runs: Path, at: Path, *, schedules: Path | None = None) -> list[str]:
    """The command that runs it again with ``at`` as working directory; its run folder goes below ``runs``.

    ``schedules``: the file of one line to run in place of what was recorded.
    """
    chosen = options_asked_for(header)
    options = {name: chosen[name] for name in _CARRIED if name in chosen}
    if header.topology in shipped():
        options.setdefault("topology", header.topology)
    if header.circumstances.commit:
        options["commit"] = str(header.circumstances.commit)
    options |= {
        "kafka": kafka_asked_for(header),
        "provider": header.provider,
        "seed": str(header.seed),
        "profile": header.profile,
        "runs": str(runs),
    }
    if header.schedule is not None:
        _require_schedule(header)
    rules = options.get("byteman")
    if rules is not None and not Path(rules).is_file():
        raise WrongUseError(
            f"{rules}: expected the Byteman rules of the recorded run, got no such file; "
            f"their text is in run.json (extra.byteman): write it there, then try again"
        )
    test = _test(header, at)
    if header.schedule is not None:
        # Nothing is written before all else is known to be right; a shard of the environment has no line of one.
        options |= {"schedules": str(schedules or _written(header, runs)), "shard": "1/1"}
    reported = [f"{PREFIX}{name}={value}" for name, value in options.items()]
    # A schedule is of a test that runs in nights alone, however it was called.
    flags = {*chosen, *(["nightly"] if header.schedule is not None else [])}
    reported += [f"{PREFIX}{flag}" for flag in _FLAGS if flag in flags]
    return [sys.executable, "-m", "pytest", *test, *reported]


def _require_schedule(header: RunHeader) -> None:
    """WrongUseError if this release refuses the schedule of a run: pytest would say that there is no such test."""
    mistakes: list[Mistake] = []
    schedule_of(json.dumps(header.schedule), walkable, mistakes)
    if mistakes:
        raise WrongUseError("\n".join(f"{header.run_id}: extra.schedule of run.json: {each}" for each in mistakes))


def _written(header: RunHeader, runs: Path) -> Path:
    """A file of the one schedule that the run carried out, beside the runs."""
    file = runs / f"{header.run_id}.jsonl"
    runs.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{json.dumps(header.schedule)}\n", encoding="utf-8")
    return file


def replay(command: Sequence[str]) -> int:
    """Run it and return its exit code; Ctrl-C reaches pytest too, which then ends its cluster first."""
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            process.wait()
        raise
    finally:
        if process.poll() is None:  # a second Ctrl-C: the supervisor ends what pytest cannot any more
            process.kill()
            process.wait()


def runs_of(header: RunHeader, folders: Iterable[Path]) -> list[Path]:
    """Which of these folders are runs of the same test with the same seed; others may be made at the same time."""
    return [folder for folder in folders if (folder / "run.json").is_file() and _same(header, folder)]


def _same(header: RunHeader, folder: Path) -> bool:
    """The file of a test may be named otherwise than it was, if it is one of the package."""
    made = read_header(RunFolder(folder))
    return (_function(made), made.seed) == (_function(header), header.seed)


def _function(header: RunHeader) -> str:
    return header.test_id.partition("::")[2]


def _test(header: RunHeader, at: Path) -> list[str]:
    """The test as pytest takes it: by its file, or from the suites inside the package where there is no such file."""
    if header.test_id.startswith(f"{_PACKAGE.name}.{_SUITES}."):
        return ["--pyargs", header.test_id]
    is_by_file = header.test_id.partition("::")[0].endswith(".py")
    test_id = header.test_id if is_by_file else test_asked_for(header)[-1]
    file, separator, function = test_id.partition("::")
    if (at / file).is_file():
        return [test_id]
    parts = Path(file).parts
    if _SUITES in parts:
        inside = Path(*parts[len(parts) - parts[::-1].index(_SUITES) - 1 :])
        if (_PACKAGE / inside).is_file():
            module = ".".join([_PACKAGE.name, *inside.with_suffix("").parts])
            return ["--pyargs", f"{module}{separator}{function}"]
    raise WrongUseError(
        f"{test_id}: expected {file} below {at}, or a suite of the package, got neither; "
        "go to the folder that pytest was started in, and try again from there"
    )
