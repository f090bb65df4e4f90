"""What workers of pytest-xdist send to the process with the terminal, and how it is shown without one."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from pytest_kmigrate.plugin.terminal import Terminal
from pytest_kmigrate.plugin.workers import Desk, FarTerminal


@contextmanager
def shown() -> Iterator[tuple[Desk, list[str]]]:
    """A desk whose terminal is a pipe; what it wrote is there when the block has ended."""
    reading, writing = os.pipe()
    lines: list[str] = []
    try:
        with closing(Desk(Terminal(writing))) as desk:
            yield desk, lines
        lines += os.read(reading, 65536).decode().splitlines()
    finally:
        os.close(reading)
        os.close(writing)


def test_lines_come_with_their_worker_and_test() -> None:
    """Also those of checkpoints, which a worker makes before its run begins."""
    with shown() as (desk, lines):
        far = FarTerminal(desk.address, "gw1")
        far.pytest_runtest_logstart("suite/test_a.py::test_it")
        far.line("checkpoint HYBRID of zk1-broker3-controller3 made in 21 s")
        far.line("    4.4 s  step finalize")
    assert lines == [
        "",
        "  [gw1] test_it  checkpoint HYBRID of zk1-broker3-controller3 made in 21 s",
        "  [gw1] test_it  4.4 s  step finalize",
    ]


def test_without_a_terminal_states_are_written_now_and_then() -> None:
    """One for each worker, not each that it sends."""
    with shown() as (desk, lines):
        for worker in ("gw0", "gw1"):
            far = FarTerminal(desk.address, worker)
            for second in range(3):
                far.status(f"{second}.0 s  HYBRID")
            far.ended()
    assert lines == ["", "  [gw0]   0.0 s  HYBRID", "  [gw1]   0.0 s  HYBRID"]


def test_a_worker_that_reaches_nobody_goes_on() -> None:
    """On another machine, or when the process with the terminal has ended."""
    FarTerminal("kmigrate-nobody", "gw0").line("x")
