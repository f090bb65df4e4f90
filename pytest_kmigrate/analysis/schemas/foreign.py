"""Results of other projects and tools, as they are staged: rows like attempts, or the reason why there is none."""

from pytest_kmigrate.analysis.schemas.columns import COUNT, FLAG, MOMENT, TEXT, TEXTS, struct
from pytest_kmigrate.analysis.schemas.facts import ATTEMPTS

_OF_ATTEMPTS = {each.name: each.dataType for each in ATTEMPTS if each.name not in ("folder", "attempt")}
"""Attempts are numbered only when all of them are known."""

FOREIGN_ROWS = struct(
    folder=TEXT,
    file=TEXT,
    line=COUNT,
    reason=TEXT,
    is_doubt=FLAG,
    sort=TEXT,
    tool=TEXT,
    place=COUNT,
    neutral_id=TEXT,
    until=MOMENT,
    odd_time=TEXT,
    host=TEXT,
    uuid=TEXT,
    broken=TEXTS,
    labels=TEXTS,
    properties=TEXTS,
    **_OF_ATTEMPTS,
)
"""What is read from foreign files, before it is known what was reported twice.

One row per attempt of a test, or per thing that could not be read (``reason``), or per container of Allure with the
uuids of tests whose setup failed (``broken``). ``folder`` is that of the file, ``place`` the attempt's number in it.
``sort``: files of one sort are reported in one line. ``neutral_id``: the test by a name that JUnit and Allure share.
``labels``: names of those that the result has; ``properties``: names of what a label could be made of.
"""
