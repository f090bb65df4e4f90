"""What ``footprint`` runs under pytest and watches from outside; its name keeps it from being collected otherwise."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from pytest_kmigrate import Phase, checks
from pytest_kmigrate.running import Run
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.clients.client_settings import ClientWorkload

FOLDER, PER_S = "KMIGRATE_BENCH_FOLDER", "KMIGRATE_BENCH_PER_S"
STEADY, OVER, COUNTED = "steady", "over", "counted.json"
_WARMING_UP_S = 5
_WATCHED_WITHIN_S = 300


def test_steady_traffic(kmigrate_run: Run, verify: Callable[..., None]) -> None:
    """Traffic at a fixed rate on a cluster in dual write, until the watcher has seen enough."""
    folder, per_s = Path(os.environ[FOLDER]), float(os.environ[PER_S])
    kmigrate_run.traffic.start(ClientWorkload(per_s=per_s))
    kmigrate_run.driver.advance_to(Phase.HYBRID)
    kmigrate_run.traffic.await_acked(int(_WARMING_UP_S * per_s), within_s=_WATCHED_WITHIN_S)
    acked, began = kmigrate_run.traffic.acked(), time.monotonic()
    (folder / STEADY).touch()
    until((folder / OVER).exists, awaited="the watcher's end", within_s=_WATCHED_WITHIN_S, every_s=0.5)
    acked_per_s = (kmigrate_run.traffic.acked() - acked) / (time.monotonic() - began)
    (folder / COUNTED).write_text(json.dumps({"acked_per_s": acked_per_s}))
    verify(checks.no_acked_record_lost())
