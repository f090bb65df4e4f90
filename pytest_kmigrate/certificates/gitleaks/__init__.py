"""The rules of gitleaks, as data: what keys and tokens of some 200 services look like.

``rules.toml`` is gitleaks' own file (config/gitleaks.toml, commit 09242ce9), under the MIT licence that lies beside it.
Its expressions are of Go; ``_python`` makes Python's of them.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_RULES = Path(__file__).with_name("rules.toml")
_FLAG = re.compile(r"\(\?([ims]+)\)")
_OF_WINDOW = 400
"""So many characters around a keyword are looked at: gitleaks' expressions are about one line of source."""


@dataclass(frozen=True)
class Allowed:
    """What a rule lets pass: expressions for the secret, the match or its line, and words in the secret."""

    target: str
    patterns: tuple[re.Pattern[str], ...]
    words: tuple[str, ...]

    def lets(self, secret: str, match: str, line: str) -> bool:
        """Whether it does."""
        text = {"match": match, "line": line}.get(self.target, secret)
        folded = secret.lower()
        return any(each.search(text) for each in self.patterns) or any(each in folded for each in self.words)


@dataclass(frozen=True)
class Rule:
    """One kind of secret: its expression, and words of which one must be near."""

    id: str
    pattern: re.Pattern[str]
    group: int
    keywords: tuple[str, ...]
    entropy: float
    allowed: tuple[Allowed, ...]

    def found_in(self, text: str) -> Iterator[int]:
        """Where the secrets in a text begin."""
        for match in self.pattern.finditer(text):
            begin, end = _span(match, self.group)
            secret, line = text[begin:end], text[text.rfind("\n", 0, begin) + 1 :].partition("\n")[0]
            if entropy(secret) >= self.entropy and not any(each.lets(secret, match[0], line) for each in self.allowed):
                yield begin


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule that goes by contents; a few of gitleaks' go by the names of files."""
    given = tomllib.loads(_RULES.read_text(encoding="utf-8"))
    everywhere = _allowed(given.get("allowlist", {}))
    return tuple(_rule(each, everywhere) for each in given["rules"] if "regex" in each and "path" not in each)


def entropy(text: str) -> float:
    """Shannon's, in bits a character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts) if text else 0.0


def secrets_in(text: str) -> Iterator[tuple[str, int]]:
    """The id of a rule, and where what it takes for a secret stands in the text."""
    folded = text.lower()
    for rule in rules():
        for begin, end in _windows(folded, rule.keywords):
            yield from ((rule.id, begin + at) for at in rule.found_in(text[begin:end]))


def _windows(folded: str, keywords: Sequence[str]) -> Iterator[tuple[int, int]]:
    """What lies around each keyword; windows that meet are one."""
    places = sorted({at for word in keywords for at in _places(folded, word)})
    begin = end = -1
    for at in places:
        if at > end:
            if end >= 0:
                yield begin, end
            begin = max(0, at - _OF_WINDOW)
        end = at + _OF_WINDOW
    if end >= 0:
        yield begin, end


def _places(folded: str, word: str) -> Iterator[int]:
    at = folded.find(word)
    while at >= 0:
        yield at
        at = folded.find(word, at + 1)


def _span(match: re.Match[str], group: int) -> tuple[int, int]:
    """The group of the secret; without one of its own the first that took part, or the whole match."""
    taken = (number for number in range(1, len(match.groups()) + 1) if match[number])
    return match.span(group or next(taken, 0))


def _rule(given: Mapping[str, Any], everywhere: Allowed) -> Rule:
    return Rule(
        id=given["id"],
        pattern=re.compile(_python(given["regex"])),
        group=given.get("secretGroup", 0),
        keywords=tuple(word.lower() for word in given["keywords"]),
        entropy=given.get("entropy", 0.0),
        allowed=(everywhere, *map(_allowed, given.get("allowlists", []))),
    )


def _allowed(given: Mapping[str, Any]) -> Allowed:
    patterns = tuple(re.compile(_python(each)) for each in given.get("regexes", []))
    return Allowed(given.get("regexTarget", "secret"), patterns, tuple(map(str.lower, given.get("stopwords", []))))


def _python(expression: str) -> str:
    r"""The expression in Python's words: ``\z`` is ``\Z``, and a flag inside is one of the rest of its group."""
    expression = re.sub(r"\\z", r"\\Z", expression).replace("[[:alnum:]]", "[0-9A-Za-z]")
    while (flag := _FLAG.search(expression, 1)) is not None:
        begin, end = flag.end(), _end_of_group(expression, flag.end())
        inside = f"|(?{flag[1]}:".join(f"{each})" for each in _branches(expression[begin:end]))
        expression = f"{expression[: flag.start()]}(?{flag[1]}:{inside}{expression[end:]}"
    return expression


def _end_of_group(expression: str, at: int) -> int:
    """Where the group ends in which this place lies."""
    return next((place for place, depth in _depths(expression, at) if depth < 0), len(expression))


def _branches(expression: str) -> list[str]:
    """What alternates at the outermost level."""
    cuts = [place for place, depth in _depths(expression, 0) if depth == 0 and expression[place] == "|"]
    return [
        expression[begin:end]
        for begin, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(expression)], strict=True)
    ]


def _depths(expression: str, at: int) -> Iterator[tuple[int, int]]:
    """Each character from here on that is no literal, with how many groups have been opened more than closed."""
    depth, is_class = 0, False
    while at < len(expression):
        character = expression[at]
        if character == "\\":
            at += 2
            continue
        if is_class:
            is_class = character != "]"
        elif character == "[":
            is_class = True
            at += 1 if expression[at + 1 : at + 2] in {"]", "^"} else 0
        else:
            depth += (character == "(") - (character == ")")
            yield at, depth
        at += 1
