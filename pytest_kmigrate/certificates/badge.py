"""Badges: the document and the grade of a certificate in words, as a small SVG file that is always the same."""

from xml.sax.saxutils import escape

from pytest_kmigrate.certificates.grading import BUT_FOR_DEFECTS, CONFORMS, DOES_NOT
from pytest_kmigrate.certificates.statement import Statement
from pytest_kmigrate.certificates.summary import in_words

_COLOURS = {CONFORMS: "#2e7d32", BUT_FOR_DEFECTS: "#8d6e00", DOES_NOT: "#c62828"}
_INCOMPLETE = "#616161"
_HEIGHT, _PAD = 20, 6
_CHARACTER = 6.5
"""The width of a character; the text is fitted to it, whatever the reader's font is."""


def badge(statement: Statement) -> str:
    """The badge of a certificate."""
    claims = statement.predicate.claims
    left, right = claims.profile.id, in_words(claims.grade, is_complete=not claims.missing)
    colour = _INCOMPLETE if claims.missing and claims.grade != DOES_NOT else _COLOURS[claims.grade]
    first, second = _width(left), _width(right)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="{_HEIGHT}" role="img">'
        f"<title>{escape(left)}: {escape(right)}</title>"
        f'<rect width="{first}" height="{_HEIGHT}" fill="#424242"/>'
        f'<rect x="{first}" width="{second}" height="{_HEIGHT}" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{_text(0, left)}{_text(first, right)}</g></svg>\n"
    )


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER) + 2 * _PAD


def _text(x: int, text: str) -> str:
    return f'<text x="{x + _PAD}" y="14" textLength="{_width(text) - 2 * _PAD}">{escape(text)}</text>'
