"""Growth: what was measured at several sizes, the line through it, and what that line says of larger ones."""

from collections.abc import Iterator, Mapping, Sequence

from pytest_kmigrate.reports.pages.drawing import Cell, amount, text
from pytest_kmigrate.reports.site.views import Site, View, below, empty, section, shown, table_of
from pytest_kmigrate.reports.summary.rows import Row, grouped, number, plural

_LEAD = (
    "The median of each measure at every size that was tried, and the least-squares line through these medians. The "
    "last column is no measurement: it is what a line that fits says of ten times the largest size."
)
_PREFIXES: Mapping[str, Sequence[tuple[float, str]]] = {
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs")),
}


def growth(site: Site) -> View:
    """A table per kind of cluster and thing that grew."""
    rows = site.summary["growth"]
    drawn = "".join(
        section(f"{text(of)} · {shown(kafka)}", _measures(mine), text(site.cluster(mine[0])))
        for (of, kafka, *_), mine in grouped(rows, "of", "kafka", "topology", "provider", "profile").items()
    )
    return View("growth", "Growth", _LEAD, drawn or empty("Nothing was measured at several sizes."))


def _measures(rows: Sequence[Row]) -> str:
    sizes = sorted({size for row in rows for size in _medians(row)})
    heads = ("Measure", *[f"at {amount(size)}" for size in sizes], "Line", "R²", f"at {_beyond(rows)}, extrapolated")
    drawn = [
        [
            Cell(text(row["measure"]) + below(plural(sum(_times(row)), "measurement")), row["measure"], "name"),
            *[_cell(_medians(row).get(size), row["unit"]) for size in sizes],
            Cell(text(_line(row)), "", "name"),
            Cell("" if (fit := number(row["r_squared"])) is None else f"{fit:.3f}", row["r_squared"], "number"),
            _cell(number(row["extrapolated"]), row["unit"]),
        ]
        for row in rows
    ]
    return table_of(heads, drawn, 0, "growth")


def _points(row: Row) -> Iterator[Row]:
    points = row["points"]
    assert isinstance(points, list)
    yield from points


def _medians(row: Row) -> dict[float, float]:
    return {float(str(point["size"])): float(str(point["median"])) for point in _points(row)}


def _times(row: Row) -> Iterator[int]:
    return (int(str(point["times"])) for point in _points(row))


def _beyond(rows: Sequence[Row]) -> str:
    return amount(max((number(row["beyond"]) or 0 for row in rows), default=0))


def _cell(value: float | None, unit: object) -> Cell:
    return Cell("" if value is None else text(_said(value, unit)), value, "number")


def _line(row: Row) -> str:
    at_zero, per_one = number(row["at_zero"]), number(row["per_one"])
    if at_zero is None or per_one is None:
        return "too few sizes"
    if row["extrapolated"] is None:
        return "none fits"
    sign = "+" if per_one >= 0 else "-"
    return f"{_said(at_zero, row['unit'])} {sign} {_said(abs(per_one), row['unit'])} for each of the {row['of']}"


def _said(value: float, unit: object) -> str:
    """A number with three digits that count and a unit of its size."""
    prefixes = _PREFIXES.get(str(unit), ((1, str(unit)),))
    factor, name = next((each for each in prefixes if abs(value) >= each[0]), prefixes[-1])
    return f"{value / factor:.3g} {name}"
