"""What `kmigrate judge` costs: it is called for hundreds of folders, one process each."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.reports.recorded_runs import faulty_run, wrote

UNNEEDED = (
    *("confluent_kafka", "cryptography", "hypothesis", "kazoo", "kio", "pandas", "psutil"),
    *("pyspark", "pytest", "scipy"),
    *("pytest_kmigrate.providers", "pytest_kmigrate.reports", "pytest_kmigrate.running", "pytest_kmigrate.wire"),
    *("pytest_kmigrate.workloads.clients.client_workload", "pytest_kmigrate.workloads.metadata.metadata_workload"),
)
"""Packages that judging a run without transactions does not use."""

CODE = f"""
import json, sys
from pytest_kmigrate.cli import main
try:
    main()
finally:
    print(json.dumps([name for name in {UNNEEDED} if name in sys.modules]), file=sys.stderr)
"""


@pytest.mark.slow
def test_judging_imports_only_what_it_needs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Also where Hypothesis is installed, which makes a folder in the working directory when it is imported."""
    recorded = faulty_run(tmp_path)
    recorded.operations(wrote(1, 2), wrote(3, 4))
    run = recorded.end(3000)
    empty = tmp_path / "empty"
    empty.mkdir()
    command = [sys.executable, "-c", CODE, "judge", str(run.path)]
    judged = subprocess.run(command, cwd=empty, capture_output=True, text=True, check=False)
    assert "merged:" in judged.stdout, judged.stderr
    assert json.loads(judged.stderr.splitlines()[-1]) == []
    assert list(empty.iterdir()) == []
