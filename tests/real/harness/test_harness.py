"""The harness under schedules of its own deaths: Kafka is blamed for none of them, and nothing is left."""

import os
import signal
from pathlib import Path

import pytest

from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.waiting import until
from tests.real.chaos import GOES_ON, session
from tests.real.harness.schedules import carry_out, drawn, read

FIRST, DEATHS = (int(each) for each in os.environ.get("KMIGRATE_HARNESS_DEATHS", "0+3").split("+"))
"""From which seed on, and how many; a long night raises it, and ``17+1`` does one again."""
ONE = ("--kmigrate-topology", "kraft-combined1")
_WITHIN_S = 120


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(FIRST, FIRST + DEATHS))
def test_kafka_is_never_blamed(seed: int, tmp_path: Path) -> None:
    """Whatever part is killed or stopped, and when; the run folder is judged by anybody alike."""
    schedule = read(drawn(seed).line)
    with session(tmp_path / "one", GOES_ON, *ONE) as one:
        carry_out(schedule, one, _WITHIN_S)
        one.go_on()
        status = one.pytest.wait(_WITHIN_S)
        until(lambda: not one.left(), awaited="nothing left of a session", within_s=_WITHIN_S)
    assert status in (0, 1, -signal.SIGKILL), (schedule.line, one.output)
    assert "INTERNALERROR" not in one.output
    blamed = [f"{each.check}: {each.summary}" for each in one.verdicts if each.outcome is Outcome.VIOLATES]
    assert (schedule.line, blamed) == (schedule.line, [])
    assert judge_again(one.run.path).outcome in (Outcome.CONFORMS, Outcome.INCONCLUSIVE), schedule.line
