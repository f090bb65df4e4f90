"""The command line options, each with the same key in the ini file.

Every session on the machine imports this. What options come to is in ``chosen``, which a session of ours imports.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.model.provider_names import PROVIDERS

if TYPE_CHECKING:
    from pytest_kmigrate.plugin.chosen import Options

DEFAULT_TOPOLOGY = "zk1-broker3-controller3"
_A_KEY = re.compile(r"""^[ \t]*["']?(kmigrate[_-][\w-]*)["']?[ \t]*=""", re.MULTILINE)
"""A key of the ini file that is ours, in any format that pytest reads."""

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
    ("mutant", "FOLDER", None, "one changed class of Kafka, loaded into every Kafka JVM: see `make mutation-score`"),
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


DEFAULTS = {name: default for name, _, default, _ in OPTIONS}

WITH_VALUES = frozenset(f"--kmigrate-{name}" for name, *_ in OPTIONS)
"""The options that take a value."""


_CHECKED = pytest.StashKey["Options"]()


def add_options(parser: pytest.Parser) -> None:
    """Declare every option, on the command line and in the ini file."""
    group = parser.getgroup("kmigrate", "live ZooKeeper to KRaft migrations of real Kafka clusters")
    for name, value, default, text in OPTIONS:
        shown = f"{text} (default: {default})" if default else text
        group.addoption(f"--kmigrate-{name}", metavar=value, default=None, help=shown)
        for key in keys_of(name):
            parser.addini(key, shown, default=None)
    for name, text in FLAGS:
        group.addoption(f"--kmigrate-{name}", action="store_true", help=text)
        for key in keys_of(name):
            parser.addini(key, text, type="bool", default=False)


def are_given(config: pytest.Config) -> bool:
    """Whether any option of ours is given, on the command line or in the ini file, or a key that looks like one."""
    if unknown_keys(config):
        return True
    names = [*(name for name, *_ in OPTIONS), *(name for name, _ in FLAGS)]
    return any(config.getoption(f"--kmigrate-{each}") not in (None, False) or in_file(config, each) for each in names)


def is_kept(config: pytest.Config) -> bool:
    """Whether clusters stay up; unlike ``options_of`` it costs nothing in a session that does not use us."""
    return is_set(config, "keep")


def is_strict(config: pytest.Config) -> bool:
    """Whether known violations fail their tests, too."""
    return is_set(config, "strict")


def options_of(config: pytest.Config) -> "Options":
    """The options, checked once a session; pytest.UsageError says what was expected."""
    if _CHECKED not in config.stash:
        from pytest_kmigrate.plugin.chosen import checked

        config.stash[_CHECKED] = checked(config)
    return config.stash[_CHECKED]


def unknown_keys(config: pytest.Config) -> list[str]:
    """Keys of the ini file that begin as ours do, and that no option has: pytest only warns of them."""
    known = {key for name in (*DEFAULTS, *dict(FLAGS)) for key in keys_of(name)}
    try:
        content = config.inipath.read_text(encoding="utf-8") if config.inipath else ""
    except (OSError, UnicodeDecodeError):  # which pytest has reported
        return []
    return sorted(set(_A_KEY.findall(content)) - known)


def is_set(config: pytest.Config, name: str) -> bool:
    """Whether a flag is given, on the command line or in the ini file."""
    return config.getoption(f"--kmigrate-{name}") or bool(in_file(config, name))


def in_file(config: pytest.Config, name: str) -> object:
    """What the ini file holds, by either spelling of the key; None or False if it holds nothing."""
    given = {key: value for key in keys_of(name) if (value := value_of(config, key, is_flag=name in dict(FLAGS)))}
    if len(given) > 1:
        raise pytest.UsageError(f"{' and '.join(given)}: expected one of them in the ini file, got both: leave one")
    return next(iter(given.values()), None)


def value_of(config: pytest.Config, key: str, *, is_flag: bool) -> object:
    """What the ini file holds by one key; pytest.UsageError where its type is not that of the option."""
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


def keys_of(name: str) -> tuple[str, str]:
    """How an option may be spelled in the ini file: as on the command line, or as pytest's own keys are."""
    return f"kmigrate-{name}", f"kmigrate_{name}"
