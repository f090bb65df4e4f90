"""``--kmigrate-resume``: a test that has a complete run is reported by it and not run again."""

from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import find_bug
from pytest_kmigrate.judging.complete import complete_run
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.plugin.options import is_strict
from pytest_kmigrate.plugin.outcomes import Judged, MetBeforeError, remember


def report_complete_run(item: pytest.Item, runs: Path, header: RunHeader) -> None:
    """Skip a test that has passed, and expect a known bug again of one that met it; return if it is to be run.

    A test whose complete run failed is run again, since a skip would hide that. So is one that is expected to fail now
    and passed then, or the other way round.
    """
    found = complete_run(runs, header)
    if found is None:
        return
    reason = f"has a complete run in {found.folder} with {found.outcome}"
    judged = Judged(found.folder, Outcome[found.outcome], ())
    if found.test in (Ending.PASSED, Ending.NOT_APPLICABLE) and item.get_closest_marker("xfail") is None:
        remember(item, judged)
        pytest.skip(reason)
    bug = find_bug(found.known_bug) if found.test == Ending.KNOWN_BUG and found.known_bug else None
    is_red = item.config.option.runxfail or is_strict(item.config)
    if bug is not None and bug.breaks(header.kafka) and not is_red:
        remember(item, judged)
        raise MetBeforeError(reason, frozenset({bug.id}))
