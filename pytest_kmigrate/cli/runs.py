"""Commands about recorded runs: ``requirements``, ``judge``, ``analyze``, ``replay``."""

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_kmigrate.judging.coverage import Coverage, Covered
    from pytest_kmigrate.judging.rejudge import JudgedAgain
    from pytest_kmigrate.model.verdict import Verdict
    from pytest_kmigrate.reports.analyze import AnalysisResult
    from pytest_kmigrate.reports.summary.comparison import Comparison
    from pytest_kmigrate.reports.summary.rows import Row

_MOST_TESTS = 25
"""Tests listed on the terminal, the worst ones; the report has all."""

_MOST_SET_ASIDE = 5
"""Paths listed that are set aside; the report has all."""

_MOST_CHECKS = 3
"""Checks named beside a requirement; the report has all."""

_MOST_CHARACTERS = 120
"""A longer failure is cut in a table of the terminal; the report has it whole."""


Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="For auditors: 1 for known violations, too, and 3 for what a requirement was never judged by."
    ),
]


def requirements(
    *,
    profile: Annotated[str, typer.Option(help="The document.", metavar="PROFILE")] = "kip-866",
    covered_by: Annotated[
        list[Path] | None,
        typer.Option(
            "--coverage",
            help="A folder of runs: show their outcome for each requirement. May be given again.",
            metavar="RUNS",
        ),
    ] = None,
    strict: Strict = False,
) -> None:
    """List the requirements of a profile, and what runs show about them."""
    from pytest_kmigrate import catalogue
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.cli.console import say, show

    if covered_by:
        from pytest_kmigrate.checkers.tally import exit_status
        from pytest_kmigrate.judging.coverage import coverage

        found = coverage(profile, *covered_by)
        _show_coverage(found)
        raise typer.Exit(exit_status(found.words, is_strict=strict))
    listed = catalogue.requirements(profile)
    show(("id", "level", "area", "statement"), [(each.id, each.level, each.area, each.statement) for each in listed])
    say(f"{counted(len(listed), 'requirement')} of {profile}")


def judge(
    run: Annotated[Path, typer.Argument(help="A run folder.", metavar="RUN")],
    *,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            help="A document that judges such runs (default: the run's own). May be given again.", metavar="PROFILE"
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every verdict.")] = False,
    strict: Strict = False,
) -> None:
    """Judge a recorded run again from its evidence, without a cluster; nothing in the folder is changed."""
    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.judging.rejudge import judge_again
    from pytest_kmigrate.recording.reading import torn_streams
    from pytest_kmigrate.recording.run_folder import RunFolder

    judged = [judge_again(run, each) for each in dict.fromkeys(profile)] if profile else [judge_again(run)]
    if not judged[0].is_complete:
        torn = "".join(f"; the last line of {each} is torn and left out" for each in torn_streams(RunFolder(run)))
        notify(f"{run}: no manifest.json: the run was interrupted; it is judged by what it left{torn}")
    elif not judged[0].is_sealed:
        notify(f"{run}: no seals, as in folders of version 0.1: lines that were taken out may go unnoticed")
    for each in judged:
        show_verdicts(each, verbose=verbose)
    raise typer.Exit(status_of(judged, is_strict=strict))


def analyze(
    runs: Annotated[str, typer.Argument(help="A folder of runs.", metavar="RUNS")],
    out: Annotated[str, typer.Option("--out", help="Where the report goes.", metavar="DIR")],
    *,
    master: Annotated[str | None, typer.Option(help="A Spark master (default: this machine).", metavar="URL")] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Two Kafka versions of these runs: what changed from A to B.", metavar="A B"),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            help="A condition of other tools' results: NAME=property:KEY, NAME=hostname or NAME=folder:PATTERN.",
            metavar="NAME=SOURCE",
        ),
    ] = None,
    strict: Strict = False,
) -> None:
    """Aggregate many runs with Spark into tables and a report."""
    from pytest_kmigrate.checkers.tally import exit_status
    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.reports.analyze import analyze as analyzed

    result = analyzed(runs, out, master, notify, compare, label or ())
    _show_analysis(result, runs)
    words = [*result.words, *(result.requirements if strict else ())]
    raise typer.Exit(exit_status(words, is_strict=strict))


def replay(
    run: Annotated[Path, typer.Argument(help="A run folder.", metavar="RUN")], *, strict: Strict = False
) -> None:
    """Run the test of a recorded run again with the same seed, Kafka, topology and profile, and judge it."""
    import shlex

    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.judging.rejudge import judge_again
    from pytest_kmigrate.recording.reading import read_header
    from pytest_kmigrate.recording.run_folder import RunFolder
    from pytest_kmigrate.running import replaying

    header, runs = read_header(RunFolder(run)), run.resolve().parent
    command = replaying.replay_command(header, runs, Path.cwd())
    notify(shlex.join(command))
    before = set(runs.iterdir())
    replaying.replay(command)
    made = replaying.runs_of(header, set(runs.iterdir()) - before)
    if not made:
        notify(f"{run}: pytest recorded no run of this test: nothing was judged")
    raise typer.Exit(status_of(map(judge_again, made), is_strict=strict))


def status_of(judged: "Iterable[JudgedAgain]", *, is_strict: bool = False) -> int:
    """The exit status of a command that judged these runs."""
    from pytest_kmigrate.checkers.grading import words_of_run
    from pytest_kmigrate.checkers.tally import exit_status

    words = [word for each in judged for word in words_of_run(each.outcome, each.verdicts)]
    return exit_status(words, is_strict=is_strict)


def _show_coverage(found: "Coverage") -> None:
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.checkers.tally import Word
    from pytest_kmigrate.cli.console import notify, say, show
    from pytest_kmigrate.judging.coverage import hidden_by_bugs

    rows = [(row.requirement.id, row.requirement.level, row.state, _judged_by(row)) for row in found.rows]
    show(("id", "level", "state", "judged by"), rows)
    for sentence in (*found.unread, *found.doubtful):
        notify(sentence)
    counts = ", ".join(f"{found.of(word)} {word}" for word in Word if found.of(word))
    say(f"{counted(len(found.counted), 'requirement')} over {counted(found.runs, 'run')}: {counts}")
    if hidden := hidden_by_bugs(found):
        say(hidden)


def _judged_by(row: "Covered") -> str:
    same_as = row.requirement.same_as
    return "; ".join([*([f"as {', '.join(same_as)}"] if same_as else []), *([_few(row.checks)] if row.checks else [])])


def _few(checks: "Sequence[str]") -> str:
    """The first checks of a list, and how many more there are."""
    more = len(checks) - _MOST_CHECKS
    return ", ".join(checks[:_MOST_CHECKS]) + (f" and {more} more" if more > 0 else "")


def show_verdicts(again: "JudgedAgain", *, verbose: bool = False) -> None:
    """What of a folder asks for attention, the new first, and the merged outcome; ``verbose``: every verdict."""
    from pytest_kmigrate.cli.console import say, show

    header = again.header
    title = f"{header.test_id}, Kafka {header.kafka}, {header.topology}, seed {header.seed}, profile {again.profile}"
    if verbose:
        show(("outcome", "kind", "check", "summary"), [_row(each) for each in again.verdicts], title=title)
    else:
        say(title)
        _show_concerns(again)
    say(f"merged: {again.outcome.name}{_not_counted(again) if verbose else ''}")
    if again.header.profile != again.profile:
        say(f"judged by {again.profile}; verdicts.jsonl has the verdicts of {again.header.profile}")
    elif not again.has_stored:
        say("no verdicts.jsonl to compare with: this run was never judged")
    elif not again.differences:
        say("the same as stored in verdicts.jsonl")
    for each in _advice(again):
        say(f"advice: {each}")
    for difference in again.differences:
        say(f"differs from verdicts.jsonl: {difference}")


def _row(verdict: "Verdict") -> tuple[str, str, str, str]:
    known_as = f" (known as: {', '.join(verdict.known_bugs)})" if verdict.known_bugs else ""
    kind = verdict.kind.value if verdict.kind else ""
    return verdict.outcome.name, kind, verdict.check, f"{verdict.summary}{known_as}"


def _show_concerns(again: "JudgedAgain") -> None:
    """New violations; known defects with what they cost; what is open and counts; and one line for all else."""
    from collections import Counter

    from pytest_kmigrate.catalogue import find_bug, gravest_first
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.checkers.run.doubts import SO_NOTHING_IS_PROVED
    from pytest_kmigrate.cli.console import say, show
    from pytest_kmigrate.model.verdict import Outcome

    red = [each for each in again.verdicts if each.outcome is Outcome.VIOLATES]
    new = [each for each in red if not each.known_bugs]
    left = [each for each in again.verdicts if each.counts and each.outcome is Outcome.INCONCLUSIVE]
    reasons = Counter(each.summary.partition(SO_NOTHING_IS_PROVED)[0] for each in left if _is_doubted(each))
    shown = [*new, *(each for each in left if not _is_doubted(each))]
    if shown:
        show(("outcome", "kind", "check", "summary"), [_row(each) for each in shown])
    for reason, checks in reasons.items():
        say(f"{counted(checks, 'check')} held, which proves nothing: {reason}")
    known = {name: find_bug(name) for each in red for name in each.known_bugs}
    defects = [bug for bug in known.values() if bug and bug.class_ == "defect"]
    for bug in gravest_first(defects):
        say(bug.described)
    departures = sorted(known.keys() - {bug.id for bug in defects})
    if departures:
        differing = counted(len(departures), "departure")
        say(f"{differing} of Kafka {again.header.kafka} from the text: {', '.join(departures)}")
    say(f"{_all_else(again, len(red) + len(left))} (-v: every verdict)")


def _is_doubted(verdict: "Verdict") -> bool:
    """Whether a doubt about the whole run leaves it open; many verdicts share one."""
    from pytest_kmigrate.checkers.run.doubts import SO_NOTHING_IS_PROVED

    return SO_NOTHING_IS_PROVED in verdict.summary


def _all_else(again: "JudgedAgain", shown: int) -> str:
    from pytest_kmigrate.checkers.evidence.wording import counted
    from pytest_kmigrate.model.verdict import Outcome

    conforming = sum(each.outcome is Outcome.CONFORMS for each in again.verdicts)
    others = len(again.verdicts) - shown - conforming
    return (
        f"{counted(conforming, 'check')} {'conform' if conforming != 1 else 'conforms'}, {others} had nothing to judge"
    )


def _not_counted(again: "JudgedAgain") -> str:
    """Why worse verdicts in the table above may stand beside a run that conforms."""
    known = sum(not verdict.counts and bool(verdict.known_bugs) for verdict in again.verdicts)
    vacuous = sum(not verdict.counts and verdict.is_vacuous for verdict in again.verdicts)
    parts = ([f"{known} known of this release"] if known else []) + ([f"{vacuous} VACUOUS"] if vacuous else [])
    return f"; unasked, and not counted for the run: {', '.join(parts)}" if parts else ""


def _advice(again: "JudgedAgain") -> list[str]:
    """What to do about the well-known mistakes of operators that show in what is violated."""
    from pytest_kmigrate.catalogue.mistakes import advice
    from pytest_kmigrate.model.verdict import Outcome

    red = [verdict for verdict in again.verdicts if verdict.outcome is Outcome.VIOLATES]
    observed = [violation.observed for verdict in red for violation in verdict.violations]
    return advice(again.header.profile, "\n".join([*(verdict.summary for verdict in red), *observed]))


def _show_analysis(result: "AnalysisResult", runs: str) -> None:
    import json

    from pytest_kmigrate.cli.console import say, show
    from pytest_kmigrate.cli.last_lines import last_lines
    from pytest_kmigrate.reports.ingestion.storage import is_local, local_path
    from pytest_kmigrate.reports.pages.drawing import WORDS

    report = json.loads(result.report.read_text(encoding="utf-8"))
    columns = ("standing", "test", "kafka", "topology", "runs", "violating", "inconclusive")
    rows = [
        (
            WORDS.get(str(test["standing"]), str(test["standing"])),
            _without_file(str(test["test_id"])),
            *(str(test[key]) for key in ("kafka", "topology", "runs", "violating", "inconclusive")),
        )
        for test in report["tests"][:_MOST_TESTS]
    ]
    show(columns, rows)
    if more := len(report["tests"]) - len(rows):
        say(f"{more} more tests, none of them worse, are in the report")
    if report["comparison"]:
        _show_comparison(report["comparison"])
    counted = f"{result.runs} run{'s' * (result.runs != 1)}"
    say(f"{counted}: {result.outcome.name}; {result.set_aside} set aside")
    _show_set_aside(report["set_aside"])
    say(f"report: {result.page.resolve()}")
    say(f"tables: {result.tables.resolve()}")
    if is_local(runs) and any(local_path(runs).glob("*/allure-results")):
        say(f"Allure: {local_path(runs)}/*/allure-results  (a folder per run: `allure serve` takes them all)")
    for line in last_lines(report):
        say(line)


def _show_set_aside(rows: "Sequence[Row]") -> None:
    """What is not counted, or would be counted otherwise with an option; all of it is in the report."""
    from pytest_kmigrate.cli.console import say

    for row in rows[:_MOST_SET_ASIDE]:
        say(f"  {row['path']}: {row['reason']}")
    if (more := len(rows) - _MOST_SET_ASIDE) > 0:
        say(f"  {more} more are in the report")


def _without_file(name: str) -> str:
    """A test, or what took time in it, without the file it is in; a failure may hold an address with such colons."""
    return name.rpartition("::")[2]


def _show_comparison(found: "Comparison") -> None:
    """What changed and is more than chance; all of it is in the report."""
    from pytest_kmigrate.cli.console import say, show
    from pytest_kmigrate.reports.summary.comparison import REAL

    families = (("requirement", found["requirements"]), ("test_id", found["tests"]))
    more = (("name", found["durations"]), ("representative", found["clusters"]))
    rows = [
        (
            str(row["change"]),
            shorten(_without_file(str(row[name])) if name in ("test_id", "name") else str(row[name]), _MOST_CHARACTERS),
            str(row.get("topology", "")),
        )
        for name, family in (*families, *more)
        for row in family
        if row["change"] in REAL
    ]
    if rows:
        show(("change", "what", "topology"), rows, title=f"From Kafka {found['a']} to {found['b']}")
    say(found["headline"])
