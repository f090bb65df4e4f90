"""Failures that are alike in several tests: one thing to repair, with what it costs and what it goes together with."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.reports.summary.estimates import is_sure, telling
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, kafka_of, known, plural


class Clusters:
    """Which failure cluster a red run belongs to, and which clusters are seen in several tests."""

    def __init__(self, tables: Mapping[str, list[Row]], red: Sequence[Row]) -> None:
        self._rows = {str(row["cluster"]): row for row in tables.get("failure_clusters", [])}
        self._causes = grouped(telling(tables.get("causes", [])), "failure")
        largest = sorted(tables.get("failure_members", []), key=lambda row: self._size(str(row["cluster"])))
        # The last one stays: a run whose check is in several clusters belongs to the largest.
        self._of = {(row["folder"], row["check"]): str(row["cluster"]) for row in largest}
        self.shared = {
            name: runs
            for (name,), runs in grouped([{**run, "_cluster": self.of(run)} for run in red], "_cluster").items()
            if name is not None and len({run["test_id"] for run in runs}) > 1
        }
        """Cluster -> its runs, of those in which several tests failed alike."""

    def of(self, run: Row) -> str | None:
        """The cluster of what the run failed by."""
        return self._of.get((run["folder"], run["check"]))

    def is_alone(self, run: Row) -> bool:
        """Whether no other test failed by what this run did."""
        return self.of(run) not in self.shared

    def cause(self, runs: Sequence[Row]) -> str:
        """What surely goes with the failure of these runs, as the end of a sentence; empty if nothing does."""
        names = {self.of(run) for run in runs}
        if len(names) != 1:
            return ""
        sure = [row for row in self._causes.get((names.pop(),), []) if is_sure(row) and not row["only_in"]]
        if not sure:
            return ""
        first = sure[0]
        counts = (count(first[name]) for name in ("with_failures", "with_runs", "without_failures", "without_runs"))
        of_with, with_runs, of_without, without_runs = counts
        share = f"{of_with} of {plural(with_runs, 'run')} with it, {of_without} of {without_runs} without"
        return f"; goes together with {first['factor']} {first['level']} ({share})"

    def concerns(self, standing: Mapping[object, str]) -> list[Row]:
        """One concern for each shared cluster; ``standing``: test -> where it stands, as what flakes is less urgent."""
        return [self._concern(str(name), runs, standing) for name, runs in self.shared.items()]

    def _concern(self, name: str, runs: Sequence[Row], standing: Mapping[object, str]) -> Row:
        stand = {standing.get(run["test_id"]) for run in runs}
        level = next(iter(stand)) if len(stand) == 1 and stand <= {"FLAKY", "VARIES"} else "VIOLATES"
        safety = [run for run in runs if run["kind"] == "SAFETY"]
        tests = sorted({str(run["test_id"]).rpartition("::")[2] for run in runs})
        shown = (safety or list(runs))[-1]
        impact = f", {len(safety)} of them SAFETY" if safety else ""
        kafka = kafka_of(*sorted({str(run["kafka"]) for run in runs}))
        row = self._rows.get(name)
        return {
            "level": "SAFETY" if safety else level,
            "title": f"{plural(len(runs), 'run')} of {plural(len(tests), 'test')} failed alike",
            "condition": " · ".join(known(kafka, *sorted({str(run["topology"]) for run in runs}))),
            "detail": f"{plural(len(runs), 'run')} violate{impact}{self.cause(runs)}",
            "test_id": None,
            "cluster": name,
            "tests": tests,
            "example": row["representative"] if row else shown["summary"],
            **{key: shown[key] for key in ("check", "timeline", "reproduce")},
            "weight": len(runs),
        }

    def _size(self, name: str) -> int:
        return count(self._rows[name]["failures"]) if name in self._rows else 0
