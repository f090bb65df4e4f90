"""Where things lie in a run folder: the one place that knows."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

SCHEMA = 1
"""Schema version of everything in a run folder."""
EVIDENCE = 2
"""What a run has to show of itself, as its header names it. 2: digests of logs, and what its seed draws."""
_LONGEST_SLUG = 60
_DIGEST_LENGTH = 6


_DERIVED = ("allure-results/", "timeline.html")


def is_derived(name: str) -> bool:
    """Whether a file of a run folder, by its relative path, is a report made from the evidence."""
    return name.startswith(_DERIVED)


def run_id_of(test_id: str, seed: int, started: datetime) -> str:
    """The name of a run's folder: when it began, which test, which seed, and a digest that makes it unique."""
    unique = hashlib.sha256(f"{test_id} {started.isoformat()} {seed}".encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{started:%Y%m%dT%H%M%S}-{_slug(test_id)}-seed{seed}-{unique}"


def folders_of(runs: Path, test_id: str, seed: int) -> Iterator["RunFolder"]:
    """Folders directly below ``runs`` that are named like runs of this test with this seed, the newest first.

    Other tests may share the name; the header says which test it was.
    """
    name = f"*-{_slug(test_id)}-seed{seed}-{'?' * _DIGEST_LENGTH}"
    yield from (RunFolder(path) for path in sorted(runs.glob(name), reverse=True))


def run_folders(root: Path) -> list["RunFolder"]:
    """All run folders at any depth below ``root``, by path."""
    return [RunFolder(file.parent) for file in sorted(root.rglob("run.json"))]


def _slug(test_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", test_id.rpartition("::")[2]).strip("-")[:_LONGEST_SLUG]


@dataclass(frozen=True)
class RunFolder:
    """The paths of one run; nothing is created by looking."""

    path: Path

    @property
    def header(self) -> Path:
        """``run.json``: written first, before anything is provisioned."""
        return self.path / "run.json"

    @property
    def history(self) -> Path:
        """``history.jsonl``: one event per line, as it happens."""
        return self.path / "history.jsonl"

    @property
    def verdicts(self) -> Path:
        """``verdicts.jsonl``: one verdict per line."""
        return self.path / "verdicts.jsonl"

    @property
    def operations(self) -> Path:
        """``operations/``: client operations in columnar parts."""
        return self.path / "operations"

    @property
    def metrics(self) -> Path:
        """``metrics/metrics.jsonl``: one line per node and sample."""
        return self.path / "metrics" / "metrics.jsonl"

    @property
    def znodes(self) -> Path:
        """``znodes/znodes.jsonl``: one line per change of a watched znode."""
        return self.path / "znodes" / "znodes.jsonl"

    @property
    def transactions(self) -> Path:
        """``zookeeper/transactions.jsonl``: one line per transaction that ZooKeeper logged."""
        return self.path / "zookeeper" / "transactions.jsonl"

    @property
    def client_metadata(self) -> Path:
        """``clients/metadata.jsonl``: one line per answer of a broker to a client that asked for all metadata."""
        return self.path / "clients" / "metadata.jsonl"

    @property
    def exercise(self) -> Path:
        """``exercise/exercise.jsonl``: one line per node, class and reading in which more of its code was executed."""
        return self.path / "exercise" / "exercise.jsonl"

    def image(self, label: str) -> Path:
        """``metadata/<label>.json``: a metadata image taken at a named moment."""
        return self.path / "metadata" / f"{label}.json"

    def image_read_from(self, label: str) -> Path:
        """``metadata/<label>.jsonl``: the records or znodes that the image was read from, one per line."""
        return self.image(label).with_suffix(".jsonl")

    @property
    def logs(self) -> Path:
        """``logs/``: a folder per node."""
        return self.path / "logs"

    def log_folder(self, node: str) -> Path:
        """``logs/<node>/``: that node's logs, thread dumps and redacted configuration."""
        return self.logs / node

    def log(self, node: str) -> Path:
        """``logs/<node>/server.log``: what a node logged in all its lives."""
        return self.log_folder(node) / "server.log"

    @property
    def allure(self) -> Path:
        """``allure-results/``: this run for Allure."""
        return self.path / "allure-results"

    @property
    def timeline(self) -> Path:
        """``timeline.html``: operations, faults, phases and metrics on one clock."""
        return self.path / "timeline.html"

    @property
    def manifest(self) -> Path:
        """``manifest.json``: written last, the SHA-256 of every other file (of the logs of a kept cluster, so far)."""
        return self.path / "manifest.json"

    def content(self, file: Path) -> bytes:
        """The bytes of a file in it now; OSError if there is none."""
        return file.read_bytes()

    def sha256(self, file: Path, size: int | None = None) -> str:
        """The digest of a file in it now, or of its first bytes; OSError if there is none."""
        return hashlib.sha256(self.content(file)[:size]).hexdigest()
