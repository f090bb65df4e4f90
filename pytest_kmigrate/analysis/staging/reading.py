"""How raw text becomes typed columns, and how a row says why it could not be."""

import functools
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType, StringType, StructType

CORRUPT = "_corrupt"
"""The column that holds a text which does not fit its schema."""

_SHOWN_CHARACTERS = 80
_LOOKED_AT_CHARACTERS = 400

_MOST_LINES_OF_A_FILE = 20
"""So many lines of one file are listed one by one: more of them say no more, and would hide other files."""


def parsed(texts: DataFrame, schema: StructType) -> DataFrame:
    """The columns of ``schema`` beside what was there; ``_corrupt`` marks a text that does not fit it."""
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    with_corrupt = StructType([*schema.fields]).add(CORRUPT, StringType())
    row = F.from_json("text", with_corrupt, options)
    # Spark's parser stops after the first value and never sees what follows it. In brackets two are no list of one.
    # Few texts look as if they held two and are read again: in a list of objects, which many hold, commas part them.
    ends_well = F.rtrim("text", F.lit(" \t\r\n")).endswith("}")
    in_brackets = F.from_json(F.concat(F.lit("["), "text", F.lit("]")), ArrayType(StringType()), options)
    is_one = ~F.col("text").rlike(r"\}\s*\{") | F.coalesce(F.size(in_brackets) == 1, F.lit(col=False))
    corrupt = F.when(~ends_well | ~is_one, F.col("text")).otherwise(F.col(f"_row.{CORRUPT}"))
    return texts.withColumn("_row", row).select(
        *texts.columns, *[F.col(f"_row.{name}").alias(name) for name in schema.names], corrupt.alias(CORRUPT)
    )


def missing(what: str, *names: str) -> list[tuple[Column, Column]]:
    """One rule per column that must be there."""
    return [(F.col(name).isNull(), F.lit(f"{what} has no {name}")) for name in names]


def blank(what: str, *names: str) -> list[tuple[Column, Column]]:
    """One rule per text that must say something."""
    reported = f'{what}: expected %s to be a text that is not blank, got "%s"'
    return [
        (~F.col(name).rlike(r"\S"), F.format_string(reported, F.lit(name), _printable(F.col(name)))) for name in names
    ]


def unknown(name: str, known: Sequence[str]) -> tuple[Column, Column]:
    """The rule for a text that is none of those there are."""
    reported = F.format_string(f"unknown {name}: expected one of {', '.join(known)}; got %s", _printable(F.col(name)))
    return ~F.col(name).isin(list(known)), reported


def unreadable(what: str) -> tuple[Column, Column]:
    """The rule for a text that does not fit; it shows what was found: the first characters."""
    start = F.substring(F.coalesce("text", F.lit("")), 1, _LOOKED_AT_CHARACTERS)
    shown = F.substring(_printable(F.regexp_replace(start, r"\s+", " ")), 1, _SHOWN_CHARACTERS)
    reported = F.format_string(f"{what} is not a JSON object of the expected shape; it begins: %s", shown)
    return F.col(CORRUPT).isNotNull(), reported


def _printable(text: Column) -> Column:
    """Text with a mark for what no screen shows, or what would steer a terminal."""
    return F.regexp_replace(text, r"\p{C}", "\ufffd")


def first_of(*rules: tuple[Column, Column]) -> Column:
    """What the first rule that applies says, or null."""
    chosen = functools.reduce(lambda rest, rule: F.when(rule[0], rule[1]).otherwise(rest), reversed(rules), F.lit(None))
    return chosen.cast("string")


def good(staged: DataFrame) -> DataFrame:
    """The rows that could be read."""
    return staged.where(F.col("reason").isNull()).drop("reason", "notice", "file", "line")


def set_aside(staged: DataFrame, *, is_run: Column | bool = True) -> DataFrame:
    """The rows that could not, and those that could but are odd (``notice``), as path, line and reason.

    ``is_run`` marks that a verdict may depend on what is missing; a notice never says so.
    """
    is_bad = F.col("reason").isNotNull()
    notice = F.col("notice") if "notice" in staged.columns else F.lit(None)
    reported = staged.withColumn("_told", F.coalesce("reason", notice)).where(F.col("_told").isNotNull())
    path = F.concat_ws("/", "folder", "file").alias("path")
    return reported.select("folder", path, "line", F.col("_told").alias("reason"), (is_bad & is_run).alias("is_run"))


def shortened(aside: DataFrame) -> DataFrame:
    """What is set aside, without more than the first lines of each file: the last of these says how many follow."""
    of_file = Window.partitionBy("path")
    counted = aside.withColumn("_of", F.count("*").over(of_file)).withColumn(
        "_place", F.row_number().over(of_file.orderBy("line"))
    )
    more = F.format_string("%s; so are %d lines more of this file", "reason", F.col("_of") - F.col("_place"))
    is_last = (F.col("_place") == _MOST_LINES_OF_A_FILE) & (F.col("_of") > F.col("_place"))
    reported = counted.withColumn("reason", F.when(is_last, more).otherwise(F.col("reason")))
    return reported.where(F.col("_place") <= _MOST_LINES_OF_A_FILE).select(*aside.columns)
