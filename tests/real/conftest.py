"""Every test of this folder starts real processes, and says so by its marker."""

import signal
from pathlib import Path

import pytest

from pytest_kmigrate.plugin.options import options_of

# A shell that starts pytest in the background has it ignore SIGINT, and so would each process that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark them before ``-m`` selects: a file that forgot its marker would be left out of ``make test`` unseen.

    Most use no fixture of the plugin, which leaves them alone then, so those of the night are taken away here.
    """
    here = [item for item in items if item.path.is_relative_to(_HERE)]
    for item in here:
        item.add_marker("real")
    left_out = {item for item in here if item.get_closest_marker("nightly")}
    if left_out and not options_of(config).nightly:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))
