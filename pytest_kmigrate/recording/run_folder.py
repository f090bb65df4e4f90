"""Where things lie in a run folder: the one place that knows."""

from dataclasses import dataclass
from pathlib import Path

SCHEMA = 1
"""Schema version of everything in a run folder."""


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
