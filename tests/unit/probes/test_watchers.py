"""Which sessions watch a znode, by ZooKeeper's answer to ``wchp``."""

import pytest

from pytest_kmigrate.probes.zookeeper import watching

ANSWER = "/a/mode\n\t0x1000f2c5d4f0003\n\t0x1000f2c5d4f0004\n/a/mode/below\n\t0x5\n\n"


@pytest.mark.parametrize(
    ("path", "sessions"),
    [("/a/mode", {0x1000F2C5D4F0003, 0x1000F2C5D4F0004}), ("/a/mode/below", {5}), ("/a", set()), ("/b", set())],
)
def test_sessions_are_those_below_the_path(path: str, sessions: set[int]) -> None:
    """Each path has a line of its own, and so has each session that watches it."""
    assert watching(ANSWER, path) == sessions


def test_a_server_that_does_not_answer_has_no_watch() -> None:
    """Nor one whose list of words lacks this one."""
    assert watching("", "/a") == set()
    assert watching("wchp is not executed because it is not in the whitelist.\n", "/a") == set()
