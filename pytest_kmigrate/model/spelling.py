"""The word that was meant, for errors about names that do not exist."""

import difflib
from collections.abc import Iterable


def did_you_mean(got: str, known: Iterable[str], otherwise: str = "") -> str:
    """``; did you mean "…"?`` with the nearest known word, whatever its case; ``otherwise`` if none is near."""
    near = nearest(got, known)
    return f'; did you mean "{near}"?' if near else otherwise


def nearest(got: str, known: Iterable[str]) -> str | None:
    """The nearest known word."""
    words = {word.lower(): word for word in known}
    return next((words[near] for near in difflib.get_close_matches(got.lower(), words, n=1)), None)
