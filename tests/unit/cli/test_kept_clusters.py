"""``--kmigrate-keep`` ends with how to reach what was kept, and says nothing without it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_kmigrate.catalogue import all_departures, requirements
from pytest_kmigrate.checkers.grading import graded
from pytest_kmigrate.model.topology import SecurityProtocol
from pytest_kmigrate.model.verdict import Kind, Violation, conforms, violates
from pytest_kmigrate.plugin.summary import summarize
from pytest_kmigrate.providers import standing as room
from pytest_kmigrate.providers.owned.standing import Standing
from tests.unit.judging.test_coverage import recorded


class Reporter:
    """Collects what pytest's terminal would show."""

    def __init__(self, runs: Path, *, keep: bool) -> None:
        self.stats: dict[str, list[object]] = {}
        self._tw = SimpleNamespace(fullwidth=200)
        self.config = self
        self.inipath = None
        self.stash = pytest.Stash()
        self.lines: list[str] = []
        self._options = {"--kmigrate-runs": str(runs), "--kmigrate-keep": keep, "--kmigrate-seed": "1"}
        self._options |= {"--kmigrate-provider": "process", "--kmigrate-profile": "kip-866"}

    def getoption(self, name: str) -> object:
        """As pytest's configuration does."""
        return self._options.get(name)

    def getini(self, _name: str) -> object:
        """Nothing is set there."""
        return None

    def section(self, title: str) -> None:
        """A headline."""
        self.lines.append(title)

    def write_line(self, line: str, **_colours: bool) -> None:
        """A line."""
        self.lines.append(line)


def test_only_clusters_of_these_runs_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bootstrap servers and the command that ends it, for what these runs kept; other clusters are not theirs."""
    logs = (tmp_path / "runs" / "a" / "logs", tmp_path / "logs" / "b")
    protected = (tmp_path / "c", "SASL_SSL")
    clusters = [Standing(block, "t", "3.9.1", f"host-{block}:9094", (), each, tmp_path, 1, None, 0.0, *protected)
                for block, each in enumerate(logs, 1)]  # fmt: skip
    monkeypatch.setattr(room, "standing", lambda: clusters)
    kept, plain = Reporter(tmp_path / "runs", keep=True), Reporter(tmp_path / "runs", keep=False)
    summarize(kept, is_interrupted=False)  # type: ignore[arg-type]
    summarize(plain, is_interrupted=False)  # type: ignore[arg-type]
    text = "\n".join(kept.lines)
    assert "host-1:9094" in text
    assert "kmigrate down 1" in text
    assert f"let in by:         SASL_SSL as admin, with --command-config {tmp_path / 'c'}" in text
    assert "host-2" not in text
    assert plain.lines == []


@pytest.mark.parametrize("is_shown", [False, True], ids=["hidden", "shown by another run"])
def test_a_session_says_of_how_many_requirements_it_shows_nothing(tmp_path: Path, *, is_shown: bool) -> None:
    """It ends with 0 where all that is red is known: a bug of another requirement hit the run that asked."""
    row = requirements("kip-866")[0].id
    of_another = next(each for each in all_departures() if not graded(row)(each.id).is_own)
    red = violates(Kind.SAFETY, [Violation("x", "y")]).by("a")
    runs = {"VIOLATES": replace(red, known_bugs=(of_another.id,)).speaking_for(row)}
    runs |= {"CONFORMS": conforms("all").by("a").speaking_for(row)} if is_shown else {}
    reporter = Reporter(tmp_path, keep=False)
    for outcome, verdict in runs.items():
        folder = tmp_path / outcome
        recorded(folder, verdict)
        properties = [("kmigrate_outcome", outcome), ("kmigrate_run", str(folder))]
        properties += [("kmigrate_known", of_another.id)] if outcome == "VIOLATES" else []
        reporter.stats[outcome] = [SimpleNamespace(nodeid=f"t::{outcome}", user_properties=properties)]
    summarize(reporter, is_interrupted=False)  # type: ignore[arg-type]
    found = [line for line in reporter.lines if line.startswith("nothing is shown of 1 requirement")]
    assert found == ([] if is_shown else [f"{HIDDEN}: {row}"])


HIDDEN = "nothing is shown of 1 requirement, as known bugs of others hit every run that asked"


@pytest.mark.parametrize(
    ("protocol", "reported"),
    [("SSL", "SSL, with"), ("SASL_PLAINTEXT", "SASL_PLAINTEXT as admin, with"), ("PLAINTEXT", "")],
)
def test_how_to_get_in_goes_by_the_clients_listener(tmp_path: Path, protocol: SecurityProtocol, reported: str) -> None:
    """Only where clients log in is there a user to name, and nothing is shown where there are no logins."""
    file = tmp_path / "c" if reported else None
    cluster = Standing(1, "t", "3.9.1", "b:9094", (), tmp_path, tmp_path, 1, None, 0.0, file, protocol)
    assert cluster.reached_by[1:] == ((("let in by", f"{reported} --command-config {file}"),) if reported else ())
