"""A session whose container engine is killed; run inside the namespace of an engine by ``test_chaos``."""

import os
import signal
from pathlib import Path

from tests.real.chaos import WAITS, session


def test_a_lost_engine_says_nothing_of_kafka(tmp_path: Path) -> None:
    """Nothing is known of the nodes then, so nothing is said of them; comes last, as the engine is gone."""
    options = ("--kmigrate-topology", "kraft-combined1", "--kmigrate-provider", "docker")
    with session(tmp_path / "one", WAITS, *options) as one:
        os.kill(int(os.environ["KMIGRATE_TESTS_ENGINE"]), signal.SIGKILL)
        one.has_ended()
        one.is_spared()
        assert one.losses[0] == "engine"
