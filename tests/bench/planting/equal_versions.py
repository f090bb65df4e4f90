"""A comparison of two versions that are equal: whatever it calls changed is wrong."""

import numpy as np

from pytest_kmigrate.reports.summary.comparison import Comparison, compare
from pytest_kmigrate.reports.summary.rows import Row, grouped


def alike(chance: np.random.Generator) -> Comparison:
    """Twelve tests, each of its own length and rate, that meet four failures and take three steps."""
    tables: dict[str, list[Row]] = {"attempts": [], "failure_members": [], "trends": []}
    for test in range(12):
        rate, length_ms = chance.beta(0.5, 5), chance.lognormal(9, 1)
        for folder in [f"{kafka} {test} {run}" for kafka in "ab" for run in range(chance.integers(1, 25))]:
            run: Row = {
                "folder": folder,
                "kafka": folder[0],
                "test_id": test,
                "profile": "",
                "provider": "",
                "topology": "",
                "is_aside": False,
            }
            tables["attempts"].append(run)
            step: Row = {"measure": "duration_ms", "name": test % 3, "value": length_ms * chance.lognormal(0, 0.3)}
            tables["trends"].append({**run, **step})
            tables["failure_members"] += [{**run, "cluster": test % 4}] if chance.random() < rate else []
    tables |= _rates(tables)
    clusters: list[Row] = [{"cluster": name, "representative": name} for name in range(4)]
    return compare({**tables, "failure_clusters": clusters}, "a", "b")


def _rates(tables: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """How often each test, and each of four requirements that three tests speak of, was violated."""
    red = {each["folder"] for each in tables["failure_members"]}
    cells: list[Row] = [
        {**mine[0], "requirement": int(str(test)) % 4, **_ends([each["folder"] in red for each in mine])}
        for (test, _), mine in grouped(tables["attempts"], "test_id", "kafka").items()
    ]
    pooled: list[Row] = [
        {**mine[0], **{name: sum(int(str(each[name])) for each in mine) for name in _ends([])}}
        for mine in grouped(cells, "requirement", "kafka").values()
    ]
    return {"tests": cells, "cells": cells, "requirements": pooled}


def _ends(is_red: list[bool]) -> Row:
    counts = {"violating": sum(is_red), "conforming": len(is_red) - sum(is_red), "runs": len(is_red)}
    return {**counts, "inconclusive": 0, "safety_violations": 0}
