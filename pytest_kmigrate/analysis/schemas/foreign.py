"""Results of other projects and tools, as they are staged: rows like attempts, or the reason why there is none."""

from pytest_kmigrate.analysis.schemas.columns import COUNT, TEXT, struct
from pytest_kmigrate.analysis.schemas.facts import ATTEMPTS

_OF_ATTEMPTS = {each.name: each.dataType for each in ATTEMPTS if each.name not in ("folder", "attempt")}
"""Attempts are numbered only when all of them are known."""

FOREIGN_RESULTS = struct(folder=TEXT, file=TEXT, line=COUNT, reason=TEXT, **_OF_ATTEMPTS)
"""One row per attempt of a test in a foreign file, or per thing in it that could not be read (``reason``)."""
