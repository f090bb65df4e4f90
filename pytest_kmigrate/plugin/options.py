"""The command line options, each with the same key in the ini file, and what they come to."""

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_kmigrate.providers.choosing import OF_ONE_FILE, PROVIDERS

DEFAULT_TOPOLOGY = "zk1-broker3-controller3"
_A_KEY = re.compile(r"""^[ \t]*["']?(kmigrate[_-][\w-]*)["']?[ \t]*=""", re.MULTILINE)
"""A key of the ini file that is ours, in any format that pytest reads."""

_PATTERN = re.compile(r"[\w$.*?]+")
_MOST_DIGITS = 18
_LONGEST_SHOWN = 80

_AN_IMAGE = "image:NAME[#ADAPTER] of a container engine"

OPTIONS = (
    ("topology", "FILE", None, "topology file, or name of a shipped one; wins over the topology marker"),
    (
        "kafka",
        "VERSION|PATH|IMAGE",
        None,
        f"release under test, a folder with libs/, or {_AN_IMAGE}; default: the file's",
    ),
    ("provider", "NAME", "process", f"what runs the cluster: {', '.join(PROVIDERS)}"),
    ("profile", "NAME", "kip-866", "the document to judge by; see `kmigrate requirements --profile NAME`"),
    ("runs", "DIR", "reports/runs", "where run folders go"),
    ("seed", "N", "1", "seed of everything that is chosen at random"),
    ("byteman", "FILE", None, "Byteman rules loaded into every Kafka JVM"),
    (
        "classes",
        "PATTERNS",
        None,
        "classes whose executed code is recorded, such as com.acme.raft.*:kafka.zk.*; default: those of the document",
    ),
    ("member", "COMMAND", None, "runs the members of groups under test (default: the document's reference)"),
    (
        "schedules",
        "FILE",
        None,
        "schedules that tests marked `schedules` carry out, one a line; default: the suite's own",
    ),
    ("shard", "I/N", None, "of these schedules only those of the I-th of N machines, such as 3/8"),
    ("commit", "TEXT", None, "the commit that the distribution was built from, for reports"),
)

FLAGS = (
    ("keep", "leave the cluster up and show how to reach it"),
    ("cold", "start every cluster from scratch, never from a checkpoint"),
    ("exercise", "record which code of Kafka nodes execute, for `kmigrate analyze`"),
    ("nightly", "run tests that are marked nightly, too"),
    ("strict", "for auditors: a violation fails its test, also if a known bug or departure explains it"),
    ("resume", "do not run a test again that has a complete run below --kmigrate-runs"),
)


_DEFAULTS = {name: default for name, _, default, _ in OPTIONS}

WITH_VALUES = frozenset(f"--kmigrate-{name}" for name, *_ in OPTIONS)
"""The options that take a value."""


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
    watched: tuple[str, ...]
    """Patterns of classes of which is recorded what is executed; empty: of none."""
    keep: bool
    cold: bool
    nightly: bool
    resume: bool


_CHECKED = pytest.StashKey[Options]()


def add_options(parser: pytest.Parser) -> None:
    """Declare every option, on the command line and in the ini file."""
    group = parser.getgroup("kmigrate", "live ZooKeeper to KRaft migrations of real Kafka clusters")
    for name, value, default, text in OPTIONS:
        shown = f"{text} (default: {default})" if default else text
        group.addoption(f"--kmigrate-{name}", metavar=value, default=None, help=shown)
        for key in _keys(name):
            parser.addini(key, shown, default=None)
    for name, text in FLAGS:
        group.addoption(f"--kmigrate-{name}", action="store_true", help=text)
        for key in _keys(name):
            parser.addini(key, text, type="bool", default=False)


def are_given(config: pytest.Config) -> bool:
    """Whether any option of ours is given, on the command line or in the ini file, or a key that looks like one."""
    if _unknown_keys(config):
        return True
    names = [*(name for name, *_ in OPTIONS), *(name for name, _ in FLAGS)]
    return any(config.getoption(f"--kmigrate-{each}") not in (None, False) or _in_file(config, each) for each in names)


def is_kept(config: pytest.Config) -> bool:
    """Whether clusters stay up; unlike ``options_of`` it costs nothing in a session that does not use us."""
    return _is_set(config, "keep")


def is_strict(config: pytest.Config) -> bool:
    """Whether known violations fail their tests, too."""
    return _is_set(config, "strict")


def options_of(config: pytest.Config) -> Options:
    """The options, checked once a session; pytest.UsageError says what was expected."""
    if _CHECKED not in config.stash:
        config.stash[_CHECKED] = _checked(config)
    return config.stash[_CHECKED]


def _checked(config: pytest.Config) -> Options:
    from pytest_kmigrate.catalogue import profiles  # not at pytest's start

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
        watched=_watched(config, profile) if _is_set(config, "exercise") or _chosen(config, "classes") else (),
        keep=_is_set(config, "keep"),
        cold=_is_set(config, "cold"),
        nightly=_is_set(config, "nightly"),
        resume=_is_set(config, "resume"),
    )


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


def _unknown_keys(config: pytest.Config) -> list[str]:
    """Keys of the ini file that begin as ours do, and that no option has: pytest only warns of them."""
    known = {key for name in (*_DEFAULTS, *dict(FLAGS)) for key in _keys(name)}
    try:
        content = config.inipath.read_text(encoding="utf-8") if config.inipath else ""
    except (OSError, UnicodeDecodeError):  # which pytest has reported
        return []
    return sorted(set(_A_KEY.findall(content)) - known)


def _require_keys(config: pytest.Config) -> None:
    """pytest.UsageError for a key that is not known, or has no value: the default would test something else."""
    for key in _unknown_keys(config):
        import difflib

        begin = len("kmigrate_")
        near = difflib.get_close_matches(key[begin:], [*_DEFAULTS, *dict(FLAGS)], n=1)
        meant = f'; did you mean "{key[:begin]}{near[0]}"?' if near else ": take it out, or correct it"
        raise pytest.UsageError(f"{config.inipath}: {key}: expected a key of an option, got an unknown key{meant}")
    for key in (key for name in _DEFAULTS for key in _keys(name)):
        if _value(config, key, is_flag=False) == "":
            raise pytest.UsageError(
                f"{config.inipath}: {key}: expected a value, got none; leave the key out for the default"
            )


def _shard(text: str) -> tuple[int, int]:
    """Which machine of how many; pytest.UsageError for anything but I/N, with I from 1 to N."""
    first, slash, last = text.partition("/")
    if slash and all(each.isascii() and each.isdigit() for each in (first, last)) and 1 <= int(first) <= int(last):
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
    chosen = given if given is not None else _in_file(config, name) or _DEFAULTS[name]
    if not isinstance(chosen, str | None):  # a list, which pyproject.toml can hold
        raise pytest.UsageError(f"kmigrate-{name}: expected one text in the ini file, got {chosen!r}")
    return chosen


def _is_set(config: pytest.Config, name: str) -> bool:
    return config.getoption(f"--kmigrate-{name}") or bool(_in_file(config, name))


def _in_file(config: pytest.Config, name: str) -> object:
    """What the ini file holds, by either spelling of the key; None or False if it holds nothing."""
    given = {key: value for key in _keys(name) if (value := _value(config, key, is_flag=name in dict(FLAGS)))}
    if len(given) > 1:
        raise pytest.UsageError(f"{' and '.join(given)}: expected one of them in the ini file, got both: leave one")
    return next(iter(given.values()), None)


def _value(config: pytest.Config, key: str, *, is_flag: bool) -> object:
    try:
        return config.getini(key)
    except (TypeError, ValueError, pytest.UsageError) as error:  # which name no key, or bring a stack trace
        number = None if is_flag else _number(config.inipath, key)
        if number is None:
            expected = "true or false" if is_flag else "one text"
            raise pytest.UsageError(f"{key}: expected {expected} in the ini file, got: {error}") from error
        return str(number)


def _number(file: Path | None, key: str) -> int | None:
    """A number that stands in TOML without quotes, which pytest refuses for a text; None if there is none."""
    import tomllib

    if file is None or file.suffix != ".toml":
        return None
    held = tomllib.loads(file.read_text(encoding="utf-8"))
    found = held.get("tool", held).get("pytest", {}).get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _keys(name: str) -> tuple[str, str]:
    """How an option may be spelled in the ini file: as on the command line, or as pytest's own keys are."""
    return f"kmigrate-{name}", f"kmigrate_{name}"
