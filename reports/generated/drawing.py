"""Which generated mutants are tried: sensible ones, so many of each class as its share of all, by a seed."""

import random
import re
from collections import Counter
from collections.abc import Sequence

from pytest_kmigrate.distributions.java_tools.mutants import GeneratedMutant

_SAID_ONLY = re.compile(
    r"::(trace|debug|info|warn|error|fatal|log\w*|toString|format|append|msgWithLogIdent|logIdent|logIdent_\$eq)$"
    r"|org/slf4j/|kafka/utils/Logging|LogContext"
)
"""Changes of what is logged or shown: no document says anything of it."""
_MADE_BY_COMPILERS = re.compile(
    r"^(toString|hashCode|equals|canEqual|copy(\$default\$\d+)?|product\w*|apply\$default\$\d+|unapply|curried|tupled|"
    r"writeReplace|readResolve|values|valueOf|logger|log(ger)?Name|name|\$deserializeLambda\$)\("
)
"""Methods that a language demands or makes, and names for people."""

_FOR_THE_LOG = re.compile(
    r"^(?i:(is)?(trace|debug|info|warn|error|fatal)(Enabled)?|logger\$lzycompute|logIdent[\w$]*|msgWithLogIdent)\("
)
"""What Scala's trait of logging gives a class."""

_NAMED = re.compile(r" for \S+$")
"""The method, in what PIT says of a value that it returns."""


def is_sensible(mutant: GeneratedMutant) -> bool:
    """Whether a mutant changes what Kafka does, and not only what it says of itself."""
    return not _SAID_ONLY.search(mutant.change) and is_written(mutant.method)


def is_written(method: str) -> bool:
    """Whether somebody wrote a method, named with its descriptor, for something else than people's eyes."""
    return not _MADE_BY_COMPILERS.match(method) and not _FOR_THE_LOG.match(method)


def without_copies(mutants: Sequence[GeneratedMutant]) -> list[GeneratedMutant]:
    """Those of which no earlier one changes the same instruction of the source.

    Compilers copy a function into its callers, with its lines, as Scala's does what handles an error of ZooKeeper.
    """
    known, nth = set[tuple[object, ...]](), Counter[tuple[object, ...]]()
    kept = []
    for each in mutants:
        change = (each.class_name, each.line, each.mutator, _NAMED.sub("", each.change))
        number = nth[*change, each.method]
        nth[*change, each.method] += 1
        if (*change, number) not in known:
            kept.append(each)
        known.add((*change, number))
    return kept


def drawn(mutants: Sequence[GeneratedMutant], count: int, seed: int) -> list[GeneratedMutant]:
    """So many of them, of each class its share; the same ones for the same seed, in an order of their own.

    What is over after whole shares goes to the classes with the largest rest. All are drawn if there are no more.
    """
    chance = random.Random(seed)
    of_class: dict[str, list[GeneratedMutant]] = {}
    for each in sorted(mutants, key=lambda each: (each.class_name, each.place)):
        of_class.setdefault(each.class_name, []).append(each)
    exact = {name: min(count, len(mutants)) * len(mine) / len(mutants) for name, mine in of_class.items()}
    shares = {name: int(share) for name, share in exact.items()}
    rest = min(count, len(mutants)) - sum(shares.values())
    for name in sorted(exact, key=lambda name: (shares[name] - exact[name], chance.random()))[:rest]:
        shares[name] += 1
    chosen = [each for name, mine in of_class.items() for each in chance.sample(mine, shares[name])]
    chance.shuffle(chosen)
    return chosen
