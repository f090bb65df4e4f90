"""Where Spark's Python workers of this machine come from: all of them are forks of one process that imports first.

By default each worker imports NumPy, pandas, Arrow and what its first function needs by itself, which took most of its
time. Run by Spark: ``python -m`` this module.
"""

import gc

import pyarrow as pa
from pyspark import daemon, worker  # noqa: F401  # what the forks run

from pytest_kmigrate.analysis import (  # noqa: F401  # what holds the functions that Spark's columns call
    associations,
    believing,
    clusters,
    flakiness,
    nights,
    observations,
    trends,
)
from pytest_kmigrate.analysis.consistency import tables  # noqa: F401

# Arrow looks for pandas at the first list that it is given, and imports it.
pa.array([0])

if __name__ == "__main__":
    # What is not looked through for garbage is not copied by a fork either.
    gc.freeze()
    daemon.manager()
