"""Which checks the faults could make red, or leave without evidence: a table as data."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Family:
    """Checks that read the same evidence; by effect, a word and, where there is more to say, a reason."""

    name: str
    reads: str
    checks: Sequence[str]
    cells: Mapping[str, str]
    shown_by: Sequence[str]

    def word(self, effect: str) -> str:
        """How its checks stand under an effect."""
        return self.cells[effect].partition(":")[0]


@dataclass(frozen=True)
class Table:
    """All of it: words, faults by effect, families of checks."""

    words: Mapping[str, str]
    faults: Mapping[str, Sequence[str]]
    effects: Mapping[str, str]
    families: Sequence[Family]


def table() -> Table:
    """As the file has it."""
    read = tomllib.loads(FILE.read_text(encoding="utf-8"))
    effects = read["effects"]
    families = [
        Family(
            each["name"],
            each["reads"],
            each["checks"],
            {effect: each[effect] for effect in effects if effect in each},
            each.get("shown_by", ()),
        )
        for each in read["family"]
    ]
    by_effect = {name: each["faults"] for name, each in effects.items()}
    return Table(read["words"], by_effect, {name: each["text"] for name, each in effects.items()}, families)


def page() -> str:
    """The generated section of ``docs/reference/faults-and-checks.md``."""
    whole = table()
    lines = ["| word | meaning |", "| --- | --- |", *(f"| {word} | {text} |" for word, text in whole.words.items()), ""]
    lines += ["| effect | faults | what they do |", "| --- | --- | --- |"]
    lines += [
        f"| {name} | {', '.join(f'`{fault}`' for fault in whole.faults[name])} | {text} |"
        for name, text in whole.effects.items()
    ]
    for family in whole.families:
        lines += ["", f"### {family.name.capitalize()}", "", f"They read {family.reads}.", ""]
        lines += [", ".join(f"`{check}`" for check in family.checks), "", "| effect | |", "| --- | --- |"]
        lines += [f"| {effect} | {family.cells[effect]} |" for effect in whole.effects]
    return "\n".join(lines) + "\n"
