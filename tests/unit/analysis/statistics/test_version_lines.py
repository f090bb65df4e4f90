"""Lines of versions: which releases followed each other."""

import numpy as np
import pytest

from pytest_kmigrate.analysis.statistics.version_lines import version_lines


@pytest.mark.parametrize(
    ("versions", "lines"),
    [
        ([], []),
        ([1, 1, 1], [[1]]),
        ([1] * 5 + [2] * 5 + [3] * 5, [[1, 2, 3]]),
        ([1, 2] * 5, [[1], [2]]),
        ([1, 2] * 5 + [3, 2] * 5, [[1, 3], [2]]),
        ([7] * 30 + [1] + [7] * 5 + [1] * 40, [[7, 1]]),
    ],
)
def test_releases_that_followed_each_other_are_one_line(versions: list[int], lines: list[list[int]]) -> None:
    """Those tested side by side are lines of their own; a stray run of another release does not part one."""
    found = version_lines(np.array(versions, np.int64))

    assert [list(dict.fromkeys(versions[row] for row in line)) for line in found] == lines
    assert sorted(int(row) for line in found for row in line) == list(range(len(versions)))
