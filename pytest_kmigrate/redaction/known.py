"""Values that a run was given and knows to be secret: found wherever they stand, in each way that Kafka writes them."""

import base64
import json
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from urllib.parse import quote, quote_plus

from pytest_kmigrate.redaction.forms import is_sensitive, secrets_of
from pytest_kmigrate.redaction.stand_in import STAND_IN, hashed

_SHORTEST, _SHORT = 6, 8
_LEAST_OF_A_VARIANT = 6
_MOST_DIGITS_ALONE = 11
_MOST_OF_CLUSTERS = 32
_ORDINARY = frozenset(
    (
        *("password", "passwd", "secret", "token", "username", "admin", "administrator", "anonymous", "default"),
        *("kafka", "zookeeper", "broker", "controller", "client", "consumer", "producer", "cluster", "observer"),
        *("localhost", "required", "disabled", "enabled", "unknown", "example", "kmigrate", "migration", "metadata"),
    )
)
"""Words that stand in every evidence: a password of this name is found by its form alone."""


class _Known:
    """Values with what they are written as; those of clusters are forgotten when many others came after them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lasting: dict[str, tuple[str, ...]] = {}
        self._of_clusters: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self.table: tuple[tuple[tuple[str, str], ...], tuple[int, ...]] = ((), ())
        """What to look for with the value that it stands for, the longest first; and how long each is, below zero."""

    def learn(self, values: Iterable[str], *, is_of_cluster: bool) -> None:
        with self._lock:
            new = {each for each in values if each not in self._lasting and each not in self._of_clusters}
            if not new:
                return
            (self._of_clusters if is_of_cluster else self._lasting).update(
                {each: tuple(variants(each)) for each in new}
            )
            while len(self._of_clusters) > _MOST_OF_CLUSTERS:
                self._of_clusters.popitem(last=False)
            found = {each: of for held in (self._lasting, self._of_clusters) for of in held for each in held[of]}
            ordered = tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))
            self.table = ordered, tuple(-len(each) for each, _ in ordered)

    def forget(self) -> None:
        with self._lock:
            self._lasting.clear()
            self._of_clusters.clear()
            self.table = (), ()


_KNOWN = _Known()


def learn(values: Iterable[str], *, is_of_cluster: bool = False) -> None:
    """Hide these values from now on, wherever they stand; those that ordinary text has are left to their forms.

    ``is_of_cluster``: made for one cluster, and of no interest when many others came after it.
    """
    _KNOWN.learn(filter(is_findable, values), is_of_cluster=is_of_cluster)


def learn_named(values: Mapping[str, str], *, is_of_cluster: bool = False) -> None:
    """Hide what sensitive properties or variables hold, and the secrets inside the values of others."""
    named = [value for name, value in values.items() if is_sensitive(name)]
    learn(named, is_of_cluster=is_of_cluster)
    learn_from(values.values(), is_of_cluster=is_of_cluster)


def learn_from(texts: Iterable[str], *, is_of_cluster: bool = False) -> None:
    """Hide what stands in these texts as a secret, also where another text has it without its name."""
    learn((text[begin:end] for text in texts for begin, end in secrets_of(text)), is_of_cluster=is_of_cluster)


def forget_all() -> None:
    """Know no value any more; for tests, which share a process."""
    _KNOWN.forget()


def known_replaced(text: str, instead: Callable[[str], str] = hashed) -> str:
    """The text with a stand-in for each value that is known, however it is written."""
    known, lengths = _KNOWN.table
    for variant, value in known[bisect_left(lengths, -len(text)) :]:
        if variant in text:
            text = text.replace(variant, instead(value))
    return text


def known_in(content: bytes) -> str | None:
    """How a known value stands in these bytes; None if none does. No character of it is in the answer."""
    for variant, value in _KNOWN.table[0]:
        if variant.encode() in content:
            return "as it is" if variant == value else "encoded"
    return None


def variants(value: str) -> Iterator[str]:
    """The ways in which a value is written: as it is, escaped, in a URL, as base64 at each place, as hex, as bytes."""
    raw = value.encode()
    quoted = json.dumps(value)[1:-1]
    spellings = (
        value,
        quoted,
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(quoted)[1:-1],
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        escape(value, quote=False),
        escape(value),
        value.replace("'", "'\"'\"'"),
        "".join(f"\\{each}" if each in "\\=:# !" else each for each in value),
        raw.hex(),
        raw.hex().upper(),
        ", ".join(str(each - 256 if each > 127 else each) for each in raw),  # Java's bytes have a sign
        ",".join(str(each - 256 if each > 127 else each) for each in raw),
        *_base64_at_each_place(raw),
    )
    yield from (each for each in dict.fromkeys(spellings) if len(each) >= _LEAST_OF_A_VARIANT)


def _base64_at_each_place(raw: bytes) -> Iterator[str]:
    """What stays the same of its base64, whatever comes before and after, such as the user in a header."""
    for before in range(3):
        text = base64.b64encode(b"\0" * before + raw).decode()
        begin, bits = -(-before * 8 // 6), (before + len(raw)) * 8
        whole = text[begin : bits // 6]
        yield from (whole, whole.replace("+", "-").replace("/", "_"))


def is_findable(value: str) -> bool:
    """Whether only a secret can be so: ordinary words, short numbers and paths of files are in every evidence."""
    if len(value) < _SHORTEST or value.casefold() in _ORDINARY or value.startswith(("/", "~", "file:")):
        return False
    if STAND_IN.fullmatch(value) or (value.isdigit() and len(value) <= _MOST_DIGITS_ALONE):
        return False
    return len(value) >= _SHORT or not (value.isalpha() and value.islower())
