"""The process that Spark's Python workers are forks of."""

import subprocess
import sys

import pytest

_LOOK = """
import os, sys
from pathlib import Path
import pytest_kmigrate.reports.ingestion.workers
threads = [Path(f"/proc/self/task/{each}/comm").read_text().strip() for each in os.listdir("/proc/self/task")
           if each != str(os.getpid())]
print(*(set(threads) - {"jemalloc_bg_thd"}))
print(all(each in sys.modules for each in ("numpy", "pandas", "pyarrow", "scipy.special", "pyspark.worker")))
"""


@pytest.mark.slow
def test_it_has_imported_what_workers_need_and_has_no_thread_that_a_fork_would_miss() -> None:
    """As Spark starts it: with one thread for arithmetic. Arrow's jemalloc starts its own anew after a fork."""
    environment = {"OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    looked = subprocess.run([sys.executable, "-c", _LOOK], env=environment, capture_output=True, text=True, check=True)

    assert looked.stdout.split() == ["True"]
