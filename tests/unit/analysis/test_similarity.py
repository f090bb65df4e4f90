"""Similar texts: which ones become one group."""

import random

import numpy as np

from pytest_kmigrate.analysis.similarity import similar_groups

_WORDS = [f"{first}{second}{third}" for first in "bdfgklmn" for second in "aeiou" for third in "prstvxyz"]


def _told(words: list[str], changed: int, chance: random.Random) -> str:
    reported = list(words)
    for _ in range(changed):
        reported[chance.randrange(len(reported))] = chance.choice(_WORDS)
    return " ".join(reported)


def test_one_failure_in_other_words_is_one_group() -> None:
    """Messages that differ in one name are one, whatever else there is; two failures never are."""
    texts = [
        "<n> of <n> acknowledged records were never read back: orders-<n> at <n>",
        "<n> of <n> acknowledged records were never read back: payments-<n> at <n>",
        "broker-<n> died by itself with exit code <n>",
        "controller-<n> died by itself with exit code <n>",
        "timed out",
    ]
    groups = similar_groups(texts)
    assert groups[0] == groups[1]
    assert groups[2] == groups[3]
    assert len(set(groups.tolist())) == 3


def test_words_need_not_be_english() -> None:
    """Two failures without an ASCII letter are as different as any."""
    groups = similar_groups(
        ["\u0442\u0430\u0439\u043c\u0430\u0443\u0442", "\u8fde\u63a5\u8d85\u65f6", "\u043e\u0442\u043a\u0430\u0437"]
    )
    assert len(set(groups.tolist())) == 3


def test_the_order_of_the_texts_does_not_matter() -> None:
    """The same texts in any order fall into the same groups, also where they are only just alike."""
    chance = random.Random(3)
    originals = [chance.sample(_WORDS, 20) for _ in range(20)]
    texts = sorted({_told(chance.choice(originals), 3, chance) for _ in range(2_000)})
    shuffled = chance.sample(texts, len(texts))
    place = [shuffled.index(text) for text in texts]
    straight, mixed = similar_groups(texts), similar_groups(shuffled)[place]
    pairs = set(zip(straight.tolist(), mixed.tolist(), strict=True))
    assert len(pairs) == len(set(straight.tolist())) == len(set(mixed.tolist()))


def test_what_is_half_alike_is_not_the_same() -> None:
    """Two messages that begin alike and end each in its own way stay two; so do the same words in another order."""
    chance = random.Random(7)
    for _ in range(50):
        beginning = chance.sample(_WORDS, 12)
        endings = [" ".join(beginning + chance.sample(_WORDS, 8)) for _ in range(2)]
        assert len(set(similar_groups(endings).tolist())) == 2
        assert len(set(similar_groups([" ".join(beginning), " ".join(sorted(beginning))]).tolist())) == 2


def test_many_texts_fall_into_what_they_were_made_from() -> None:
    """5,000 variants of 100 messages of 30 words: no group mixes two, and 99 % lie in the main group of theirs."""
    chance = random.Random(5)
    made_from: dict[str, int] = {}
    originals = [[chance.choice(_WORDS) for _ in range(30)] for _ in range(100)]
    while len(made_from) < 5_000:
        origin = chance.randrange(len(originals))
        made_from.setdefault(_told(originals[origin], 2, chance), origin)
    origins = np.array(list(made_from.values()))
    groups = similar_groups(list(made_from))
    assert all(len(set(origins[groups == group])) == 1 for group in set(groups.tolist()))
    in_main = sum(np.bincount(groups[origins == origin]).max() for origin in range(len(originals)))
    assert in_main >= 0.99 * len(origins)


def test_nothing_has_no_groups() -> None:
    """No text, no group; a text without a word is one of its own."""
    assert similar_groups([]).tolist() == []
    assert len(set(similar_groups(["", "a b c"]).tolist())) == 2
