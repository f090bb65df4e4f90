"""Growth as it is drawn: medians at each size, the line in units that people read, and what is extrapolated."""

import re

from pytest_kmigrate.reports.site.growth import growth
from pytest_kmigrate.reports.summary.rows import Row
from tests.unit.reports.single_rows import CLUSTER, attempted, site_of

POINTS = [{"size": 1e3, "median": 126_156.0, "times": 1}, {"size": 1e5, "median": 12_328_818.0, "times": 2}]
LINE: Row = {"at_zero": 2_900.0, "per_one": 123.25, "r_squared": 0.99999, "beyond": 1e6, "extrapolated": 123_252_900.0}
LOG: Row = {"measure": "log", "unit": "B", "of": "partitions", **CLUSTER, "kafka": "3.9.1", "points": POINTS, **LINE}


def _cells(content: str) -> list[str]:
    return [re.sub("<[^>]*>", "", each) for each in re.findall("<td.*?</td>", content)]


def test_a_line_is_drawn_in_units_that_people_read() -> None:
    """Bytes as kilobytes and megabytes, seconds as microseconds, and beside it what it says of a larger size."""
    load = {**LOG, "measure": "load", "unit": "s", "at_zero": 0.8, "per_one": -22e-6, "extrapolated": 22.8}

    content = growth(site_of(growth=[LOG, load], attempts=[attempted("t", "CONFORMS")])).content

    second, first = _cells(content)[:6], _cells(content)[6:]
    assert first == [
        "log3 measurements",
        "126 kB",
        "12.3 MB",
        "2.9 kB + 123 B for each of the partitions",
        "1.000",
        "123 MB",
    ]
    assert second[3] == "800 ms - 22 µs for each of the partitions"
    assert "at 1\u202f000\u202f000, extrapolated" in content


def test_too_few_sizes_have_no_line() -> None:
    """What was measured is shown all the same; where nothing was, the page says so."""
    few = {**LOG, **dict.fromkeys(LINE)}

    content = growth(site_of(growth=[few], attempts=[attempted("t", "CONFORMS")])).content

    assert _cells(content)[1:] == ["126 kB", "12.3 MB", "too few sizes", "", ""]
    unfit = growth(
        site_of(growth=[{**LOG, "r_squared": 0.1, "extrapolated": None}], attempts=[attempted("t", "CONFORMS")])
    )
    assert _cells(unfit.content)[3:] == ["none fits", "0.100", ""]
    assert "Nothing was measured" in growth(site_of()).content
