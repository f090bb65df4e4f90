"""Where a debugger's user finds the cluster of the test that stands still."""

from contextlib import suppress

import pytest

from pytest_kmigrate.plugin.outcomes import run_of_test


def where_to_connect(item: pytest.Item) -> list[str]:
    """Lines about the live cluster of a test; none if it has no cluster."""
    run = run_of_test(item)
    lines = list[str]()
    if run is not None:
        with suppress(Exception):  # an engine that has ended, say: there is nothing to connect to
            lines = [
                f"kmigrate: the cluster of {item.name} stays up while you debug",
                f"  bootstrap servers: {run.cluster.bootstrap_servers()}",
                f"  logs:              {run.folder.logs}",
                "  `kmigrate ps` shows its nodes and how clients log in, `kmigrate logs NODE` a log",
            ]
    return lines
