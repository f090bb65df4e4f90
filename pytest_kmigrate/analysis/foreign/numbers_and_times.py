"""Numbers and times as tools write them."""

import datetime as dt
import math
import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime

_CLOCKS_BEGIN = dt.datetime(1971, 1, 1, tzinfo=dt.UTC)
_GROUPS = re.compile(r"[\s'\u2019\u00a0\u202f_]")
"""What stands between groups of digits, besides comma and point."""

_DECIMAL_COMMA = re.compile(r"[-+]?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))")
"""A number whose comma groups nothing, whatever else the file holds: groups have three digits, and none is 0 alone."""

_JAVA = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{1,2}) (\d\d:\d\d:\d\d)(?: ([A-Z][A-Za-z]{1,4}))? (\d{4})")
"""``Thu Oct 01 03:00:00 GMT 2026``, of Java's Date, and the same of C, without a zone."""

_HALF_DAYS = re.compile(r"([A-Z][a-z]{2})[a-z]* (\d{1,2}),? (\d{4}),? (\d{1,2}):(\d\d(?::\d\d)?)\s?([AP])M")
"""``Oct 1, 2026, 3:00:00 PM``, of Java's DateFormat."""

_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})[ ,T]+(\d\d:\d\d(?::\d\d)?)")
_YEAR_FIRST = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})[ T]+(\d\d:\d\d(?::\d\d)?)")
_DAY_MONTH_YEAR = "{2}-{1:0>2}-{0:0>2}T{3}"
_YEAR_MONTH_DAY = "{0}-{1:0>2}-{2:0>2}T{3}"

_MILLISECONDS_FROM = 1e11
"""A time in numbers from here on counts milliseconds: as seconds it would be the year 5138."""


def comma_is_decimal(numbers: Iterable[str]) -> bool:
    """Whether the comma is the decimal mark in the numbers of one file.

    ``1,234`` alone may be either. Whatever else the file holds decides; if nothing does, it is a decimal mark: tools
    that group digits write a point in nearly every other number.
    """
    given = [number for number in numbers if "," in number or "." in number]
    commas = any("," in number and number.rfind(",") > number.rfind(".") for number in given)
    points = any(number.rfind(".") > number.rfind(",") or number.count(",") > 1 for number in given)
    return commas and not points


def number(value: object, *, decimal_comma: bool = False) -> float | None:
    """A finite number, from a number or a text such as ``1,234.5``, or ``1.234,5`` with ``decimal_comma``."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        value = _GROUPS.sub("", value)
        decimal_comma = decimal_comma or _DECIMAL_COMMA.fullmatch(value) is not None
        value = value.replace(".", "").replace(",", ".") if decimal_comma else value.replace(",", "")
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def moment(seconds: float | None) -> dt.datetime | None:
    """The time so many seconds after 1970; None without any, and for one that is not ``possible``."""
    try:
        return None if seconds is None else possible(dt.datetime.fromtimestamp(seconds, dt.UTC))
    except (ValueError, OverflowError, OSError):
        return None


def time_of(text: str) -> dt.datetime | None:
    """A time in one of the forms that tools write; None for any other, and for one that is not ``possible``.

    ISO 8601, RFC 2822 (``1 Oct 2026 03:00:00 GMT``), Java's and C's (``Thu Oct 01 03:00:00 CEST 2026``, ``Oct 1, 2026,
    3:00:00 PM``), ``01.10.2026 03:00``, ``2026/10/01 03:00``, seconds or milliseconds since 1970. ``10/01/2026`` may be
    January or October and is not understood. A time without a zone, or with one that has only a name, is taken for
    UTC: the order of runs on one machine is the same in any zone.
    """
    given = text.strip()
    seconds = number(given) if re.fullmatch(r"\d{9,13}(?:\.\d+)?", given) else None
    if seconds is not None:
        return moment(seconds / 1_000 if seconds >= _MILLISECONDS_FROM else seconds)
    for read in (dt.datetime.fromisoformat, _written_out, _in_half_days, _with_separators, _of_mail):
        try:
            found = read(given)
            return possible(found.replace(tzinfo=found.tzinfo or dt.UTC).astimezone(dt.UTC))
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None


def _written_out(text: str) -> dt.datetime:
    found = _JAVA.fullmatch(" ".join(text.split()))
    if not found:
        raise ValueError(text)
    month, day, time, zone, year = found.groups()
    # The standard library knows the zones of mail (GMT, EST, PDT, ...) and takes any other for UTC.
    return parsedate_to_datetime(f"{day} {month} {year} {time} {zone or 'GMT'}")


def _in_half_days(text: str) -> dt.datetime:
    found = _HALF_DAYS.fullmatch(text)
    if not found:
        raise ValueError(text)
    month, day, year, hour, rest, half = found.groups()
    return parsedate_to_datetime(f"{day} {month} {year} {int(hour) % 12 + 12 * (half == 'P'):02}:{rest} GMT")


def _of_mail(text: str) -> dt.datetime:
    if text.endswith("M"):
        # It would take 3:00 PM for 3:00.
        raise ValueError(text)
    return parsedate_to_datetime(text)


def _with_separators(text: str) -> dt.datetime:
    for form, order in ((_DAY_FIRST, _DAY_MONTH_YEAR), (_YEAR_FIRST, _YEAR_MONTH_DAY)):
        found = form.match(text)
        if found:
            return dt.datetime.fromisoformat(order.format(*found.groups()))
    raise ValueError(text)


def possible(time: dt.datetime) -> dt.datetime | None:
    """A time at which a test may have begun; None for that of a clock that was not set: 1970, or a day to come."""
    is_possible = _CLOCKS_BEGIN < time < dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    return time if is_possible else None
