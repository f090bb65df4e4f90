"""Texts of users' files with names in braces, such as ``{host}``, which stand for what is known later."""

import re
from collections.abc import Iterable, Mapping, Sequence

_BRACES = re.compile(r"\{[^}]*\}")


def only(texts: Iterable[str], known: Sequence[str]) -> None:
    """ValueError when anything else stands in braces; ``known`` without them."""
    places = [f"{{{each}}}" for each in known]
    if strange := [each for each in _BRACES.findall(" ".join(texts)) if each not in places]:
        raise ValueError(f"expected none but {', '.join(places)} in braces, found {strange[0]}")


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with a value for each name; other braces stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
