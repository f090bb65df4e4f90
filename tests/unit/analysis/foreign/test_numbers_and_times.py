"""Numbers and times in the forms that tools write."""

import pytest

from pytest_kmigrate.analysis.foreign.numbers_and_times import comma_is_decimal, number, time_of

THREE = "2026-10-01 03:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-10-01T03:00:00", THREE),
        ("2026-10-01T03:00:00.123Z", "2026-10-01 03:00:00.123000+00:00"),
        ("2026-10-01 05:00:00,5+02:00", "2026-10-01 03:00:00.500000+00:00"),
        ("1 Oct 2026 03:00:00 GMT", THREE),
        ("Thu, 01 Oct 2026 05:00:00 +0200", THREE),
        ("Thu Oct 01 03:00:00 CEST 2026", THREE),
        ("Thu Oct  1 03:00:00 2026", THREE),
        ("Wed Sep 30 20:00:00 PDT 2026", THREE),
        ("Oct 1, 2026 3:00:00 AM", THREE),
        ("Oct 1, 2026, 12:00:00\u202fAM", "2026-10-01 00:00:00+00:00"),
        ("October 1, 2026, 3:00:00 PM", "2026-10-01 15:00:00+00:00"),
        ("01.10.2026 03:00:00", THREE),
        ("2026/10/1 03:00", THREE),
        ("1790823600", THREE),
        ("1790823600000", THREE),
    ],
)
def test_common_forms_are_understood(text: str, time: str) -> None:
    """Those of ISO, mail, Java, C and of clocks in numbers; without a zone it is UTC."""
    assert str(time_of(text)) == time


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "10/01/2026 03:00",
        "1 Oct 2026 3:00 PM",
        "99.99.2026 03:00",
        "1970-01-01T00:00:07",
        "9999-12-31",
        "7" * 400,
    ],
)
def test_what_may_mean_two_times_or_none_is_not_understood(text: str) -> None:
    """A month that may be a day, a clock that was not set, a day to come: nothing is guessed."""
    assert time_of(text) is None


@pytest.mark.parametrize(
    ("text", "decimal_comma", "value"),
    [
        ("1,234.5", False, 1_234.5),
        ("1,234", False, 1_234.0),
        ("0,25", False, 0.25),
        ("0,125", False, 0.125),
        ("12,5", False, 12.5),
        ("1.234,5", True, 1_234.5),
        ("1 234,5", True, 1_234.5),
        ("1'234.5", False, 1_234.5),
        ("1e-3", False, 0.001),
        (True, False, None),
        ("NaN", False, None),
        ("soon", False, None),
        (10**400, False, None),
    ],
)
def test_numbers_are_read_with_their_marks(text: object, decimal_comma: bool, value: float | None) -> None:
    """Groups of digits are held together by commas, points, blanks or quotes."""
    assert number(text, decimal_comma=decimal_comma) == value


@pytest.mark.parametrize(
    ("numbers", "is_decimal"),
    [
        ([], False),
        (["0.5"], False),
        (["0,5"], True),
        (["1,234"], True),
        (["1,234", "0.5"], False),
        (["1,234", "0,5", ""], True),
        (["1.234,5"], True),
        (["1,234,567"], False),
    ],
)
def test_a_file_says_what_its_commas_are(numbers: list[str], is_decimal: bool) -> None:
    """A comma alone is a decimal mark unless a point anywhere in the file is one."""
    assert comma_is_decimal(numbers) == is_decimal
