"""What the options of one pytest invocation come to, checked."""

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import profiles
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Mutant
from pytest_kmigrate.model.provider_names import PROVIDERS
from pytest_kmigrate.plugin.options import DEFAULTS, FLAGS, in_file, is_set, keys_of, unknown_keys, value_of
from pytest_kmigrate.providers.choosing import OF_ONE_FILE

_PATTERN = re.compile(r"[\w$.*?]+")
"""Of classes."""

_MOST_DIGITS = 18
_LONGEST_SHOWN = 80


@dataclass(frozen=True)
class Options:
    """The options of one pytest invocation, checked."""

    topology: str | None
    kafka: str | None
    """None: that of each topology file."""
    provider: str
    profile: str
    runs: Path
    seed: int
    byteman: Path | None
    member: tuple[str, ...]
    """Empty: the reference implementation of the document."""
    commit: str | None
    schedules: Path | None
    """None: the file that the marker names."""
    shard: tuple[int, int]
    """Which machine this is, from 1, and of how many."""
    mutant: Mutant | None
    watched: tuple[str, ...]
    """Patterns of classes of which is recorded what is executed; empty: of none."""
    keep: bool
    cold: bool
    nightly: bool
    resume: bool


def checked(config: pytest.Config) -> Options:
    """The options; pytest.UsageError says what was expected."""
    _require_keys(config)
    seed = _chosen(config, "seed") or ""
    provider = _chosen(config, "provider") or ""
    profile = _chosen(config, "profile") or ""
    if not (seed.isascii() and seed.isdigit() and len(seed) <= _MOST_DIGITS):
        expected = f"a whole number from 0 on, of {_MOST_DIGITS} digits at most"
        raise pytest.UsageError(f"--kmigrate-seed: expected {expected}; got {_shortened(seed)}")
    for option, value, known in (("provider", provider, PROVIDERS), ("profile", profile, profiles())):
        if value not in known:
            raise pytest.UsageError(f"--kmigrate-{option}: expected one of {', '.join(known)}; got {value!r}")
    byteman = _chosen(config, "byteman")
    if byteman and (wrong := _wrong_with_rules(Path(byteman))):
        raise pytest.UsageError(f"--kmigrate-byteman: expected a file of Byteman rules; {byteman} {wrong}")
    topology = _chosen(config, "topology")
    if provider in OF_ONE_FILE and topology is None:
        raise pytest.UsageError(
            f"--kmigrate-topology: expected the file of the cluster, as provider {provider} makes none; got none"
        )
    return Options(
        topology=topology,
        kafka=_chosen(config, "kafka"),
        provider=provider,
        profile=profile,
        runs=Path(_chosen(config, "runs") or "reports/runs"),
        seed=int(seed),
        byteman=Path(byteman) if byteman else None,
        member=_words(_chosen(config, "member") or ""),
        commit=_chosen(config, "commit"),
        schedules=Path(chosen) if (chosen := _chosen(config, "schedules")) else None,
        shard=_shard(_chosen(config, "shard") or "1/1"),
        mutant=_mutant(Path(folder)) if (folder := _chosen(config, "mutant")) else None,
        watched=_watched(config, profile) if is_set(config, "exercise") or _chosen(config, "classes") else (),
        keep=is_set(config, "keep"),
        cold=is_set(config, "cold"),
        nightly=is_set(config, "nightly"),
        resume=is_set(config, "resume"),
    )


def _mutant(folder: Path) -> Mutant:
    """The changed class in a folder; pytest.UsageError if there is none."""
    from pytest_kmigrate.recording.mutants import read_mutant

    try:
        return read_mutant(folder)
    except WrongUseError as error:
        raise pytest.UsageError(f"--kmigrate-mutant: {error}") from error


def _watched(config: pytest.Config, profile: str) -> tuple[str, ...]:
    """The patterns of classes: those given, otherwise those of the document; pytest.UsageError if there are none."""
    from pytest_kmigrate.catalogue.code import code_of

    given = _chosen(config, "classes")
    patterns = tuple(given.split(":")) if given else tuple(each.id for each in code_of(profile))
    if wrong := [each for each in patterns if not _PATTERN.fullmatch(each)]:
        raise pytest.UsageError(
            f"--kmigrate-classes: expected names of classes with * for any text, and : between them; got {wrong[0]!r}"
        )
    if not patterns:
        raise pytest.UsageError(
            f"--kmigrate-exercise: expected a document that names code of Kafka, got {profile}, which names none; name "
            "classes by --kmigrate-classes"
        )
    return patterns


def _require_keys(config: pytest.Config) -> None:
    """pytest.UsageError for a key that is not known, or has no value: the default would test something else."""
    for key in unknown_keys(config):
        from pytest_kmigrate.model.spelling import nearest

        begin = len("kmigrate_")
        near = nearest(key[begin:], [*DEFAULTS, *dict(FLAGS)])
        meant = f'; did you mean "{key[:begin]}{near}"?' if near else ": take it out, or correct it"
        raise pytest.UsageError(f"{config.inipath}: {key}: expected a key of an option, got an unknown key{meant}")
    for key in (key for name in DEFAULTS for key in keys_of(name)):
        if value_of(config, key, is_flag=False) == "":
            raise pytest.UsageError(
                f"{config.inipath}: {key}: expected a value, got none; leave the key out for the default"
            )


def _shard(text: str) -> tuple[int, int]:
    """Which machine of how many; pytest.UsageError for anything but I/N, with I from 1 to N."""
    first, slash, last = text.partition("/")
    are_numbers = all(each.isascii() and each.isdigit() and len(each) <= _MOST_DIGITS for each in (first, last))
    if slash and are_numbers and 1 <= int(first) <= int(last):
        return int(first), int(last)
    raise pytest.UsageError(f"--kmigrate-shard: expected I/N with I from 1 to N, such as 3/8; got {_shortened(text)}")


def _words(command: str) -> tuple[str, ...]:
    """A command as a shell splits it; pytest.UsageError if it cannot, or there is no such program."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        from pytest_kmigrate.redaction import redacted

        raise pytest.UsageError(f"--kmigrate-member: expected a command; got {redacted(command)!r}: {error}") from error
    if words and shutil.which(words[0]) is None:
        raise pytest.UsageError(f"--kmigrate-member: expected a program that is there; got {words[0]!r}")
    return words


def _shortened(text: str) -> str:
    """Shorten a long option value for an error message."""
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")


def _wrong_with_rules(file: Path) -> str:
    """Why a file is no file of rules, empty if it is one; whether the rules fit Kafka's code only a node can check."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    except (OSError, UnicodeDecodeError):
        lines = []
    if lines and lines[0].startswith("\ufeff"):
        return "begins with a byte order mark, which Byteman does not understand: save it without one"
    return next(_mistakes(lines), "")


def _mistakes(lines: Sequence[str]) -> Iterator[str]:
    begun, words = 0, set[str]()
    for number, line in enumerate(lines, 1):
        word = line.strip().partition(" ")[0]
        if word == "RULE" and begun:
            yield f"has no ENDRULE for the RULE of line {begun} before the next begins in line {number}"
        if word == "ENDRULE" and not begun:
            yield f"has an ENDRULE without a RULE in line {number}"
        if word == "ENDRULE" and "METHOD" not in words:
            yield f"has no METHOD in the RULE of line {begun}"
        if word == "ENDRULE" and not words & {"CLASS", "INTERFACE"}:
            yield f"has no CLASS or INTERFACE in the RULE of line {begun}"
        if word in ("RULE", "ENDRULE"):
            begun, words = number if word == "RULE" else 0, set()
        words.add(word)
    if begun:
        yield f"has no ENDRULE for the RULE of line {begun}"
    if not any(line.strip().startswith("RULE ") for line in lines):
        yield "is none"


def _chosen(config: pytest.Config, name: str) -> str | None:
    given = config.getoption(f"--kmigrate-{name}")
    if given == "":  # such as from an unset variable: the default would test something else than was meant
        raise pytest.UsageError(f"--kmigrate-{name}: expected a value, got none; leave the option out for the default")
    chosen = given if given is not None else in_file(config, name) or DEFAULTS[name]
    if not isinstance(chosen, str | None):  # a list, which pyproject.toml can hold
        raise pytest.UsageError(f"kmigrate-{name}: expected one text in the ini file, got {chosen!r}")
    return chosen
