"""A document's requirements against releases of Kafka: a page that is made from run folders.

Run as ``python -m pytest_kmigrate.judging.matrix PROFILE PAGE RELEASE=RUNS [RELEASE=RUNS ...]``; a release that is
given more than once has several folders of runs. Exit status 0 when the page is written; 2 for a folder without runs.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_kmigrate.judging.coverage import Coverage, Covered, coverage
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.pages.drawing import WORDS
from pytest_kmigrate.reports.pages.markup import code, escaped, table
from pytest_kmigrate.reports.suite_tests import ended_by_mistake

_UNJUDGED = "not judged"


def matrix(profile: str, runs: Mapping[str, Sequence[Path]]) -> dict[str, Coverage]:
    """Release -> what its runs say about each requirement; WrongUseError for a folder without runs."""
    return {release: coverage(profile, *folders) for release, folders in runs.items()}


def page(profile: str, found: Mapping[str, Coverage]) -> str:
    """A table of outcomes by release, then a row per requirement: its state on each, and in how many runs."""
    releases = list(found)
    first = next(iter(found.values()))
    counts = [
        (code(release), str(each.runs), *(str(each.of(outcome)) for outcome in Outcome), str(each.of(None)))
        for release, each in found.items()
    ]
    rows = [
        (
            code(row.requirement.id),
            row.requirement.level,
            *(_state(found[release].rows[number]) for release in releases),
        )
        for number, row in enumerate(first.rows)
        if row.requirement.covered_by is None
    ]
    how_to_read = (
        "`make matrix` writes this page from run folders. A requirement conforms when every run that could have "
        "violated it did not; the number says how many runs these were. A run that a known bug ended before its test "
        "was over counts only for what it violates. What a requirement violates by is a known bug or a known deviation "
        "where one is named ([docs/bugs-found.md](../bugs-found.md), "
        f"`documents/{profile.replace('-', '_')}/deviations.toml`). Not judged: no run could have violated it. "
        f"`kmigrate requirements --profile {profile}` says what each requirement is."
    )
    by_outcome = table(("Kafka", "runs", *(WORDS[each.name] for each in Outcome), _UNJUDGED), counts)
    by_requirement = table(("requirement", "level", *releases), rows)
    return "\n\n".join([f"# {profile} on releases of Apache Kafka", how_to_read, by_outcome, by_requirement])


def _state(row: Covered) -> str:
    if row.worst is None:
        return "untestable" if row.requirement.untestable else _UNJUDGED
    known = f": {escaped(', '.join(row.known_bugs))}" if row.known_bugs else ""
    return f"{WORDS[row.worst.name]}{known} ({row.runs})"


def _given(arguments: Sequence[str]) -> dict[str, list[Path]]:
    runs: dict[str, list[Path]] = {}
    for each in arguments or ("nothing",):
        release, is_given, folder = each.partition("=")
        if not is_given:
            raise WrongUseError(
                "expected RELEASE=RUNS of each release, such as 3.9.1=reports/runs/conformance/kip-866/3.9.1; "
                f"got {each}"
            )
        runs.setdefault(release, []).append(Path(folder))
    return runs


def main(profile: str, to: str, *given: str) -> int:
    """Write the page."""
    try:
        written = page(profile, matrix(profile, _given(given)))
    except KmigrateError as error:
        return ended_by_mistake(error)
    Path(to).parent.mkdir(parents=True, exist_ok=True)
    Path(to).write_text(written + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
