"""What a log says again and again: without a free file a node logs one exception twenty thousand times a second."""

import re
from collections.abc import Iterator

LONG_LOG = 20_000_000
"""Characters from which on repeats are left out; hardly a log of a run is as long without them."""
_KEPT = 100
"""So many entries in a row that say the same, but for their time, are read."""
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d,\d{3}", re.MULTILINE)


def without_repeats(log: str) -> str:
    """A log without what follows a hundred entries in a row that say the same: a diagnosis reads it many times."""
    return "".join(_kept(log))


def _kept(log: str) -> Iterator[str]:
    begins = [match.span() for match in _ENTRY.finditer(log)]
    starts = [start for start, _ in begins] + [len(log)]
    yield log[: starts[0]]
    said, times = "", 0
    for (start, after_time), end in zip(begins, starts[1:], strict=True):
        text = log[after_time:end]
        times = times + 1 if text == said else 1
        said = text
        if times <= _KEPT:
            yield log[start:end]
