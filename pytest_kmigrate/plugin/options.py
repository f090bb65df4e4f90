"""The command line options, each with the same key in the ini file, and what they come to."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import PROFILES

DEFAULT_KAFKA = "3.9.1"
DEFAULT_TOPOLOGY = "zk1-broker3-controller3"
PROVIDERS = ("process",)

_OPTIONS = (
    ("topology", "FILE", None, "topology file, or name of a shipped one; wins over the topology marker"),
    ("kafka", "VERSION|PATH", DEFAULT_KAFKA, "the distribution under test"),
    ("provider", "NAME", "process", f"what runs the cluster: {', '.join(PROVIDERS)}"),
    ("profile", "NAME", "kip-866", f"the document to judge by: {', '.join(PROFILES)}"),
    ("runs", "DIR", "reports/runs", "where run folders go"),
    ("seed", "N", "1", "seed of everything that is chosen by chance"),
    ("byteman", "FILE", None, "Byteman rules loaded into every Kafka JVM"),
    ("commit", "TEXT", None, "the commit that the distribution was built from, for reports"),
)


@dataclass(frozen=True)
class Options:
    """The options of one pytest invocation, checked."""

    topology: str | None
    kafka: str
    provider: str
    profile: str
    runs: Path
    seed: int
    byteman: Path | None
    commit: str | None
    keep: bool


def add_options(parser: pytest.Parser) -> None:
    """Declare every option, on the command line and in the ini file."""
    group = parser.getgroup("kmigrate", "live ZooKeeper to KRaft migrations of real Kafka clusters")
    for name, value, default, text in _OPTIONS:
        shown = f"{text} (default: {default})" if default else text
        group.addoption(f"--kmigrate-{name}", metavar=value, default=None, help=shown)
        parser.addini(f"kmigrate-{name}", shown, default=default)
    group.addoption("--kmigrate-keep", action="store_true", help="leave the cluster up and say how to reach it")
    parser.addini("kmigrate-keep", "leave the cluster up and say how to reach it", type="bool", default=False)


def options_of(config: pytest.Config) -> Options:
    """The checked options; pytest.UsageError says what was expected."""
    seed = _chosen(config, "seed") or ""
    provider = _chosen(config, "provider") or ""
    profile = _chosen(config, "profile") or ""
    if not (seed.isascii() and seed.isdigit()):
        raise pytest.UsageError(f"--kmigrate-seed: expected a whole number, got {seed!r}")
    for option, value, known in (("provider", provider, PROVIDERS), ("profile", profile, PROFILES)):
        if value not in known:
            raise pytest.UsageError(f"--kmigrate-{option}: expected one of {', '.join(known)}; got {value!r}")
    byteman = _chosen(config, "byteman")
    if byteman and not _is_text(Path(byteman)):
        raise pytest.UsageError(f"--kmigrate-byteman: expected a file of Byteman rules; {byteman} is none")
    return Options(
        topology=_chosen(config, "topology"),
        kafka=_chosen(config, "kafka") or DEFAULT_KAFKA,
        provider=provider,
        profile=profile,
        runs=Path(_chosen(config, "runs") or "reports/runs"),
        seed=int(seed),
        byteman=Path(byteman) if byteman else None,
        commit=_chosen(config, "commit"),
        keep=config.getoption("--kmigrate-keep") or config.getini("kmigrate-keep"),
    )


def _is_text(file: Path) -> bool:
    try:
        return bool(file.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return False


def _chosen(config: pytest.Config, name: str) -> str | None:
    given = config.getoption(f"--kmigrate-{name}")
    return given if given is not None else config.getini(f"kmigrate-{name}") or None
