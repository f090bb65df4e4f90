"""Markup: values as GitHub-flavoured Markdown; nothing in them is markup, a mention of somebody or a reference."""

import re
from collections.abc import Sequence

from pytest_kmigrate.reports.pages.drawing import amount, ends, percent
from pytest_kmigrate.reports.summary.rows import number

MOST_ROWS = 15
MOST_CHARACTERS = 160


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are markup already."""
    lines = [[escaped(head) for head in heads], ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def left_out(of: int, most: int = MOST_ROWS) -> str:
    """How many rows of so many are not shown."""
    return f"\n\n{amount(of - most)} more in the report." if of > most else ""


def share(value: object, low: object, high: object) -> str:
    """A share with its interval."""
    least, most = number(low), number(high)
    if least is None or most is None:
        return in_percent(value)
    return f"{in_percent(value)} ({' to '.join(ends(least, most))})"


def in_percent(value: object) -> str:
    """A share in per cent."""
    known = number(value)
    return "unknown" if known is None else percent(known).replace("<", "&lt;").replace(">", "&gt;")


def short(name: object) -> str:
    """The part of a test's id that distinguishes it."""
    return str(name).rpartition("::")[2]


def placed(name: object, cluster: str) -> str:
    """A name with the cluster it is about, where that is known."""
    return f"{name} ({cluster})" if cluster else str(name)


def cut(value: object) -> str:
    """The beginning of what was said, in one line."""
    said = re.sub(r"\s+", " ", str(value)).strip()
    return said if len(said) <= MOST_CHARACTERS else f"{said[:MOST_CHARACTERS]}…"


def code(value: object) -> str:
    """What a test or a log said, as code: nothing in it is markup, a mention of somebody or a reference."""
    said = cut(value)
    if not said:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", said)), default=0))
    pad = " " if said[0] == "`" or said[-1] == "`" else ""
    return f"{fence}{pad}{said}{pad}{fence}"


def cell_code(value: object) -> str:
    """Code in a table."""
    # In a table a bar ends the cell, even in code; there, and only there, its escape is not shown.
    return code(value).replace("|", "\\|")


def escaped(value: object) -> str:
    """Our own words around names of versions and topologies; the beginning of long ones."""
    return literal(cut(value))


def literal(value: object) -> str:
    """Words that mean nothing to Markdown, however long."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", str(value)).replace("@", "@\u200b")
