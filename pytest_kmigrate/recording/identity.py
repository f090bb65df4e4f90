"""What a test is called: module and name, wherever pytest was started and the package is installed."""

import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SUITES = PACKAGE / "suites"

_FILES = sorted(SUITES.glob("*/test_*.py"))
BY_FILE = (
    rf"^(?:.*/)?suites/({'|'.join(sorted({file.parent.name for file in _FILES}))})"
    rf"/({'|'.join(file.stem for file in _FILES)})\.py::"
)
"""How folders of version 0.1 begin the id of a test of the package's suites; Java understands it, too."""

_BY_MODULE = rf"{PACKAGE.name}.{SUITES.name}.\1.\2::"


def stable_id(test_id: str) -> str:
    """The id as it is recorded today; version 0.1 named a test by the path of its file.

    The path of any other test is kept: its module cannot be known.
    """
    return re.sub(BY_FILE, _BY_MODULE, test_id)


@cache  # every test of a file asks
def module_in_suites(file: Path) -> str | None:
    """The module of a file in the package's suites, by whichever path it is reached; None for any other file."""
    suites, real = SUITES.resolve(), file.resolve()
    if not real.is_relative_to(suites):
        return None
    return ".".join([PACKAGE.name, SUITES.name, *real.relative_to(suites).with_suffix("").parts])
