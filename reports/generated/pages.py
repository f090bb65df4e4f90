"""The score of a sample as a page: its interval, each mutant, and what each requirement alone notices."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from pytest_kmigrate.analysis.statistics.bounds import interval_95
from pytest_kmigrate.distributions.java_tools.mutants import GeneratedMutant
from pytest_kmigrate.model.mutants import UNCOUNTED, Fate
from pytest_kmigrate.reports.generated.trials import Trial, fate_of


def page(mutants: Sequence[GeneratedMutant], trials: Sequence[Trial], of: str) -> str:
    """Markdown."""
    tried = {each.id: [trial for trial in trials if trial.mutant == each.id] for each in mutants}
    fates = {name: fate_of(mine) for name, mine in tried.items() if mine}
    parts = [_head(fates, len(mutants), of), _costs(trials), _table(mutants, tried), _alone(trials)]
    return "\n\n".join(each for each in parts if each) + "\n"


def _head(fates: Mapping[str, Fate], drawn: int, of: str) -> str:
    counted = [fate for fate in fates.values() if fate not in UNCOUNTED]
    killed = sum(fate is Fate.KILLED for fate in counted)
    numbers = Counter(fates.values())
    listing = ", ".join(f"{numbers[fate]} {fate}" for fate in Fate if numbers[fate])
    if not counted:
        return f"# Generated mutants of {of}\n\nNone of {drawn} was tried yet."
    low, high = (float(end) for end in interval_95(killed, len(counted)))
    score = f"**{killed / len(counted):.0%}** of {len(counted)} noticed (95 % interval {low:.0%} to {high:.0%})"
    return f"# Generated mutants of {of}\n\n{score}; of {drawn} drawn: {listing}."


def _costs(trials: Sequence[Trial]) -> str:
    seconds = [each.seconds for each in trials if each.test]
    return f"A test took {median(seconds):.0f} s at the median; {len(seconds)} ran." if seconds else ""


def _table(mutants: Sequence[GeneratedMutant], tried: Mapping[str, Sequence[Trial]]) -> str:
    rows = ["| mutant | changed | became | by | tests |", "|---|---|---|---|---|"]
    for each in mutants:
        if mine := tried[each.id]:
            fate = fate_of(mine)
            best = next(trial for trial in mine if trial.fate is fate)
            by = ", ".join([*best.requirements, *best.excused_by]) or _cell(best.seen if fate in UNCOUNTED else "")
            tests = ", ".join(trial.test.rpartition("::")[2] for trial in mine if trial.test)
            changed = f"`{each.method.partition('(')[0]}`: {_cell(each.change)}"
            rows.append(f"| `{each.id}` | {changed} | {fate} | {by} | {tests} |")
    return "\n".join(rows)


def _alone(trials: Sequence[Trial]) -> str:
    """How many mutants each requirement notices, and how many no other one does in the same run."""
    killed = [each for each in trials if each.fate is Fate.KILLED]
    if not killed:
        return ""
    noticed = Counter(name for each in killed for name in each.requirements)
    alone = Counter(each.requirements[0] for each in killed if len(each.requirements) == 1)
    rows = [f"| {name} | {number} | {alone[name]} |" for name, number in noticed.most_common()]
    return "\n".join(["| requirement | mutants that it notices | that it alone notices |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
