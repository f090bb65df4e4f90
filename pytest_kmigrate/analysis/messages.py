"""Normal forms of failure messages and log lines: what differs from run to run is replaced by what it is.

The rules are one list of regular expressions, applied one after another. Three habits keep them quick: a rule begins
with the character it is about and looks back from there, so that all others are passed over; character classes are
spelled out and small; and quantifiers that could try again and again are possessive or bounded. So Python does a line
in 25 µs, which is half of what ``regexp_replace`` inside Spark takes for the same rules.
"""

import re
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.types import StringType

from pytest_kmigrate.analysis.arrow import over_arrays

MOST_CHARACTERS = 4_000
"""How much of a text counts: what distinguishes failures is at the beginning, below it are stack frames."""

_NO_WORD_BEFORE = r"(?<![A-Za-z0-9_].)"
_END = r"(?![A-Za-z0-9_])"
_DIGIT = r"[0-9]" + _NO_WORD_BEFORE
_CLOCK = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
_ZONE = r"(?:[ ]?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
_NUMBER = r"[0-9](?<![A-Za-z0-9].)(?<![A-Z]{2}-.)[0-9]*+(?:[.,][0-9]++){0,8}+"
_SPACE = r"[ \t\r\n\u00a0\u2009\u202f]"
_ZNODES = (
    "admin|brokers|cluster|config|consumers|controller|controller_epoch|delegation_token|feature"
    "|isr_change_notification|kafka-acl[a-z-]*|latest_producer_id_block|log_dir_event_notification|migration|zookeeper"
)
_KAFKA_ID = (
    r"[A-Za-z0-9_-](?<![A-Za-z0-9_-].)(?=[A-Za-z0-9_-]{21}(?![A-Za-z0-9_]|-[^0-9]))"
    r"(?:(?<=[0-9])|(?=[A-Za-z_-]*[0-9]))(?:(?<=[A-Z])|(?=[0-9a-z_-]*[A-Z]))(?:(?<=[a-z])|(?=[0-9A-Z_-]*[a-z]))"
    r"[A-Za-z0-9_-]{21}"
)
"""16 bytes in base64. One in forty has no digit and is taken for a word: a class may have such a name too."""

_LONG_HEX = (
    r"[0-9a-f]" + _NO_WORD_BEFORE + r"(?=[0-9a-f]{7})(?:(?<=[0-9])(?=[0-9]*[a-f])|(?<=[a-f])(?=[a-f]*[0-9]))"
    r"[0-9a-f]{7,127}" + _END
)
_PATH = (
    r"/(?<![A-Za-z0-9_.>/]/)(?!(?:" + _ZNODES + r")(?:/|[^A-Za-z0-9_]|$))(?:[A-Za-z0-9_.@%~=+-]+/)+"
    r"[A-Za-z0-9_.@%~=+-]*"
)
_DURATION = (
    _NUMBER + r"[ ]?(?:ns|us|µs|μs|ms|s|secs?|seconds?|milliseconds?|microseconds?|nanoseconds?|mins?|minutes?|hours?)"
) + _END

RULES: tuple[tuple[str, str], ...] = (
    # Moments. Three letters, a day and a clock are a date in any language that Java was set to.
    (_DIGIT + r"[0-9]{3}-[0-9]{2}-[0-9]{2}(?:[T ]" + _CLOCK + _ZONE + ")?", "<time>"),
    (_DIGIT + r"[0-9]?/[A-Z][a-z]{2}/[0-9]{4}:" + _CLOCK + _ZONE, "<time>"),
    (
        r"[A-Z]"
        + _NO_WORD_BEFORE
        + r"[a-z]{2}(?:,? [A-Z][a-z]{2})? [ 0-9][0-9] "
        + _CLOCK
        + r"(?: [A-Z]{3,4})?(?: [0-9]{4})?",
        "<time>",
    ),
    (_DIGIT + r"[0-9]?:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?" + _ZONE + _END, "<time>"),
    # Lines of code, which move from version to version.
    (r":(?:(?<=\.java:)|(?<=\.scala:)|(?<=\.py:)|(?<=\.kt:))[0-9]+", ":<line>"),
    # Addresses of things on a network; the scheme of a listener (PLAINTEXT://) stays, for it is a setting.
    (r"[fhjs]" + _NO_WORD_BEFORE + r"(?:ttps?|ile|tp|dfs|ar|3a?)://[^ \t\r\n\"'<>)\],;]+", "<url>"),
    (_DIGIT + r"[0-9]{0,2}(?:\.[0-9]{1,3}){3}" + _END, "<ip>"),
    (r"\[(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}\]", "<ip>"),
    (r":(?<=[A-Za-z0-9_>\]]:)[0-9]{4,5}" + _END, ":<port>"),
    # Identities: UUIDs, Kafka's own ids, Java's lambdas and object hashes, digests.
    (r"[0-9a-fA-F]" + _NO_WORD_BEFORE + r"[0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}" + _END, "<id>"),
    (_KAFKA_ID, "<id>"),
    (r"[$][$]Lambda(?:[$][0-9]+)?/(?:0x)?[0-9a-f]+", "<lambda>"),
    (r"0" + _NO_WORD_BEFORE + r"[xX][0-9a-fA-F]+" + _END, "<hex>"),
    (r"@(?<=[A-Za-z0-9_;>]@)[0-9a-f]{1,16}" + _END, "@<hex>"),
    (_LONG_HEX, "<hex>"),
    # Places: files, but not znodes, whose paths are the same on every machine and show what happened.
    (_PATH, "<path>"),
    (r"[A-Z]" + _NO_WORD_BEFORE + r":\\(?:[^ \t\r\n\\\"'<>|]+\\)*[^ \t\r\n\\\"'<>|:,;]*", "<path>"),
    # Quantities; their units change with their size, so the unit goes too.
    (_DURATION, "<duration>"),
    (_NUMBER + r"[ ]?(?:[kKMGT]i?B|B|bytes?)" + _END, "<size>"),
    # Kafka writes -1 for "none": no leader, no offset. That is another thing than any number.
    (r"-(?<![A-Za-z0-9_)\]>-]-)1(?![A-Za-z0-9_-]|[.][0-9])", "<none>"),
    # A digit after a letter is part of a name (log4j, v2), and so is the number of an issue (KAFKA-16121).
    (_NUMBER, "<n>"),
    (r"-(?<![A-Za-z0-9_)\]>.]-)<n>", "<n>"),
    # How many of them there were is no other failure: 3, 4 and 7-9 is a list like any other, and so are copies of it.
    (f"<n>(?:(?:,{_SPACE}?|{_SPACE}|-|\\.\\.)<n>)+", "<n>"),
    (f"{_SPACE}(?:(?<=[^ ])|(?={_SPACE})){_SPACE}*", " "),
)
"""Pattern and what stands for it, in the order they are applied."""

_COMPILED = tuple((re.compile(pattern), stand_in) for pattern, stand_in in RULES)


def normal_form(text: str) -> str:
    """The text with times, addresses, ids, paths, quantities and numbers replaced, in one line."""
    replaced = reduce(lambda so_far, rule: rule[0].sub(rule[1], so_far), _COMPILED, text[:MOST_CHARACTERS])
    return replaced.strip(" ")


def normal_form_of(text: Column) -> Column:
    """The same of a column; null stays null."""
    return over_arrays(_normal_forms, StringType())(text)


def _normal_forms(texts: pa.Array) -> pa.Array:
    return pa.array([None if text is None else normal_form(text) for text in texts.to_pylist()], pa.string())
