"""What the fixtures are made of: a run with its terminal, and what a test does with it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import find_bug, requirement
from pytest_kmigrate.documents import document
from pytest_kmigrate.faults.schedules.schedule import data_of
from pytest_kmigrate.judging.complete import complete_run
from pytest_kmigrate.judging.judge import Judgement
from pytest_kmigrate.machine.plan import plan_here
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import Check, Checker
from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError, WrongUseError
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.plugin.asking import conditions_of, marked, needs_cluster, provider_of, start_of
from pytest_kmigrate.plugin.calling import is_in_call
from pytest_kmigrate.plugin.display import terminal_of
from pytest_kmigrate.plugin.identity import begun_session, identity_of, words_for
from pytest_kmigrate.plugin.marks import nearest_mark
from pytest_kmigrate.plugin.needs import needs_of
from pytest_kmigrate.plugin.options import is_strict, options_of
from pytest_kmigrate.plugin.outcomes import (
    InconclusiveError,
    Judged,
    KnownBugError,
    MetBeforeError,
    ViolationError,
    ending_of,
    is_cut_off,
    is_first_try,
    met_by,
    raise_for,
    remember,
    remember_run,
    run_of_test,
)
from pytest_kmigrate.plugin.progress import Progress
from pytest_kmigrate.plugin.scenes import scene_of, shared_as, shared_by
from pytest_kmigrate.plugin.scheduling import night_of, schedule_of
from pytest_kmigrate.recording.sources import digest_of_test
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from pytest_kmigrate.running import Checkpoints, Claim, Run, RunSettings, SharedCluster, header_of, open_run
from pytest_kmigrate.running.calls import Expect, Inject, Verify
from pytest_kmigrate.running.expectations import expect

_PROGRESS = pytest.StashKey[Progress]()
_CHECKPOINTS = pytest.StashKey[Checkpoints]()
_MAKE_ROOM = "make room there, or name another folder by --kmigrate-runs, KMIGRATE_STATE or KMIGRATE_CACHE"
_BEGUN = pytest.StashKey[Run]()
"""The run whose cluster was brought to where its test begins."""


@contextmanager
def run_of(item: pytest.Item, topology: Topology) -> Iterator[Run]:
    """A run of one test, its progress shown; judged at the end when the test itself did not."""
    options = options_of(item.config)
    with ExitStack() as ending:
        ending.enter_context(_progress(item.config).shown(f"starting {topology.name}", _tests_left(item)))
        try:
            provider = provider_of(item.config)
            if scene_of(item) is None:
                _require_room(provider, topology)
            session = begun_session(item, options.runs, lambda: _tests_of(item.session))
            settings = replace(_settings(item.config, provider), session=session)
            settings = replace(settings, clocks=Capability.CLOCKS in needs_of(item))
            schedule = schedule_of(item)
            if schedule is not None:
                settings = replace(settings, seed=schedule.seed)
            claim = Claim(
                identity_of(item),
                marked(item, "requirement"),
                digest_of_test(item.path),
                start_of(item),
                conditions_of(item),
                words_for(item),
                schedule=data_of(schedule) if schedule is not None else None,
                night=night_of(item),
            )
            if options.resume:
                report_complete_run(item, settings.runs, header_of(settings, provider, topology, claim))
            shared = _shared_cluster(item, settings, provider, topology)
            opened = shared.run if shared else partial(open_run, settings, provider, topology)
            run = ending.enter_context(opened(claim, write_run_reports))
            remember_run(item, run)
        except OSError as error:
            raise EnvironmentLackError(f"{error}; {_MAKE_ROOM}") from error
        yield run
        _judge_unjudged(item, run)
        if run.judgement is not None and not is_cut_off(item):  # otherwise it is run again with --kmigrate-resume
            bug = met_by(item)
            run.ended(ending_of(item), bug.id if bug else None)
        if shared is not None:
            shared.hand_on(_why_not_again(item))


def begin(item: pytest.Item) -> None:
    """Bring the cluster of a test to where the test begins, unless it stands there; nothing if it has none yet."""
    run = run_of_test(item)
    if run is None or item.stash.get(_BEGUN, None) is run:
        return
    item.stash[_BEGUN] = run
    start, shared = start_of(item), shared_by(item)
    if start is not None:
        run.walk_to(start)
    if shared is not None:
        shared.begun()


def begin_late(item: pytest.Item) -> None:
    """The same for a test that asks for its cluster while it runs."""
    if is_in_call(item):
        begin(item)


def _shared_cluster(
    item: pytest.Item, settings: RunSettings, provider: Provider, topology: Topology
) -> SharedCluster | None:
    """The cluster of a test's scene, if the test is in one: the one that stands if it is fit, otherwise a new one.

    Under a mutant each test gets a new one, since what rules did is counted from the start of a node.
    """
    scene = scene_of(item)
    if scene is None:
        return None
    shared = shared_as(item, scene, lambda: SharedCluster(settings, provider, topology, terminal_of(item.config).line))
    if settings.byteman is not None or settings.mutant is not None:
        shared.close()
    if not shared.prepare():
        _require_room(provider, topology)
    return shared


def _require_room(provider: Provider, topology: Topology) -> None:
    """EnvironmentLackError where the kernel would kill a node in the midst, which looks like Kafka's doing."""
    if provider.runs_here:
        plan_here(topology)


def _why_not_again(item: pytest.Item) -> str:
    """Why the next test of a scene cannot have the cluster of this one; empty when it can."""
    if nearest_mark(item, "spoils") is not None:
        return f"{item.name} is marked to spoil it"
    return "" if ending_of(item) is Ending.PASSED else f"{item.name} did not pass"


def _settings(config: pytest.Config, provider: Provider) -> RunSettings:
    options = options_of(config)
    return RunSettings(
        runs=options.runs,
        seed=options.seed,
        profile=options.profile,
        keep=options.keep,
        byteman=options.byteman,
        mutant=options.mutant,
        watched=options.watched,
        member=options.member,
        commit=options.commit,
        command=_command(config),
        topology=options.topology,
        schedules=options.schedules,
        began=_progress(config).follow,
        # What rules do must be seen in the run that they were loaded into. Tests of a mutant are chosen by what they
        # execute after their checkpoint, which is made of nodes that nothing is planted in.
        checkpoints=None if options.cold or options.byteman else _checkpoints(config, provider),
    )


def _tests_of(session: pytest.Session) -> list[str]:
    """The collected tests that need a cluster."""
    return [identity_of(each) for each in session.items if needs_cluster(each)]


def _tests_left(item: pytest.Item) -> int | None:
    """Tests with a cluster from this one on; None in a worker of pytest-xdist, which gets some of them only."""
    if hasattr(item.config, "workerinput") or item not in item.session.items:
        return None
    return sum(needs_cluster(each) for each in item.session.items[item.session.items.index(item) :])


def _progress(config: pytest.Config) -> Progress:
    return config.stash.setdefault(_PROGRESS, Progress(terminal_of(config)))


def _checkpoints(config: pytest.Config, provider: Provider) -> Checkpoints:
    """Those of this pytest invocation: what could not be made is not tried again in the same one."""
    notify = terminal_of(config).line
    made = Checkpoints(provider, document(options_of(config).profile), notify)
    return config.stash.setdefault(_CHECKPOINTS, made)


def _command(config: pytest.Config) -> tuple[str, ...]:
    """How pytest was called; a worker of pytest-xdist has it from the one that was."""
    return tuple(getattr(config, "workerinput", {}).get("mainargv", sys.argv))


def injector(run: Run) -> Inject:
    """Begins faults in a run; one that the provider cannot do makes the test NOT_APPLICABLE."""
    return run.inject


def expecting(run: Run) -> Expect:
    """Records whether something comes true of the live cluster; where it does not go on, with all threads."""

    def expected(
        name: str,
        actual: Callable[[], object],
        equals: object,
        *,
        within_s: float = 60,
        kind: Kind | None = Kind.SAFETY,
        requirements: Sequence[str] = (),
    ) -> bool:
        if not callable(actual):
            raise WrongUseError(
                f"expect: {name}: expected something to call again and again, got {actual!r}: write lambda: ..."
            )
        for each in requirements:
            requirement(each)
        is_met = expect(run.recorder, name, actual, equals, within_s=within_s, kind=kind, requirements=requirements)
        if not is_met and kind is Kind.LIVENESS:
            run.dump_threads()
        return is_met

    return expected


def verifier(item: pytest.Item, run: Run) -> Verify:
    """Ends the traffic, judges the run, and fails the test unless everything conforms."""

    def verified(*checks: Check) -> None:
        for each in checks:
            _require_check(each)
        _require_begun(item, run)
        judgement = run.verify(checks)
        remember(item, Judged(run.folder.path, judgement.outcome, judgement.verdicts))
        raise_for(judgement, run.folder.path, is_strict=is_strict(item.config))

    return verified


def _require_begun(item: pytest.Item, run: Run) -> None:
    """WrongUseError where the cluster never was where the test begins, as nothing called pytest's hook for a test."""
    start = start_of(item)
    if start is not None and item.stash.get(_BEGUN, None) is not run:
        raise WrongUseError(
            f"marker starts_at: expected the cluster in {start.state} when the test begins, and nothing brought it "
            "there: call verify in the test itself, and let pytest run it (pytest_runtest_call)"
        )


def _require_check(given: object) -> None:
    """WrongUseError for anything but a check."""
    if not isinstance(given, Check):
        name = given.name if isinstance(given, Checker) else ""
        got = f"checks.{name} without parentheses: write checks.{name}()" if name else repr(given)
        raise WrongUseError(f"verify: expected checks, such as checks.no_acked_record_lost(); got {got}")


def known_bug_behind(item: pytest.Item, end: ClusterError) -> KnownBugError | None:
    """What a test that its cluster ended before ``verify`` has met; None unless its run shows expected bugs only.

    Its run is judged while the cluster stands. An end that is not in its history is explained by no bug: it is trouble
    of the harness, which no check has judged.
    """
    run = run_of_test(item)
    if run is None:
        return None
    if run.judgement is None and not end.is_recorded:
        _note_trouble(run, "the test could not go on", end)
    if not _is_judged(item, run) or not end.is_recorded:
        return None
    try:
        _raise_for_violations(item, run)
    except KnownBugError as error:
        return error
    except ViolationError:
        return None
    return None


def _judge_unjudged(item: pytest.Item, run: Run) -> None:
    """Judge a test that ended before ``verify`` by what stands in its folder; its own failure stays the first.

    One that passed without it claims more than anybody looked at, and fails here. So does one that made a fault after
    ``verify`` and never began it.
    """
    if ending_of(item) is Ending.PASSED:
        run.inject.require_begun()
    if run.judgement is None and _is_judged(item, run) and ending_of(item) is Ending.PASSED:
        _raise_for_violations(item, run)
        raise InconclusiveError(
            f"expected the test to call verify(...): nothing was judged\nevidence: {run.folder.path}"
        )


def _is_judged(item: pytest.Item, run: Run) -> bool:
    """Judge the run of a test that did not, with what every thread does; whether it could be.

    After a Ctrl-C no thread is looked at and nothing is read back any more, which may take minutes.
    """
    if run.judgement is not None or not is_first_try(item):
        return run.judgement is not None
    is_interrupted = item.session.exitstatus == pytest.ExitCode.INTERRUPTED
    if not is_interrupted:
        _dump_threads(run)
    try:
        judgement = _verified(run, reads_back=not is_interrupted)
    except Exception as error:  # of a provider, say: the tests after this one run
        _note_trouble(run, "judging an unfinished run", error)
        if ending_of(item) is Ending.PASSED:
            raise
        return False
    remember(item, Judged(run.folder.path, judgement.outcome, judgement.verdicts))
    return True


def _verified(run: Run, *, reads_back: bool) -> Judgement:
    """The judgement of a run; a Ctrl-C meanwhile ends the reading back, and the run is judged by what it has."""
    try:
        return run.verify(None, reads_back=reads_back)
    except KeyboardInterrupt:
        if reads_back and run.judgement is None:
            run.verify(None, reads_back=False)
        raise


def _dump_threads(run: Run) -> None:
    """Log what every thread does; no verdict needs it."""
    try:
        run.dump_threads()
    except Exception as error:  # noqa: BLE001 - as of an engine that has ended
        _note_trouble(run, "dumping threads", error)


def _note_trouble(run: Run, what: str, error: Exception) -> None:
    with suppress(Exception):  # the folder may be gone as well
        run.trouble(what, error)


def _raise_for_violations(item: pytest.Item, run: Run) -> None:
    if run.judgement is not None and run.judgement.outcome is Outcome.VIOLATES:
        raise_for(run.judgement, run.folder.path, is_strict=is_strict(item.config))


def report_complete_run(item: pytest.Item, runs: Path, header: RunHeader) -> None:
    """Skip a test that has passed, and expect a known bug again of one that met it; return if it is to be run.

    A test whose complete run failed is run again, since a skip would hide that. So is one that is expected to fail now
    and passed then, or the other way round.
    """
    found = complete_run(runs, header)
    if found is None:
        return
    reason = f"has a complete run in {found.folder} with {found.outcome}"
    judged = Judged(found.folder, Outcome[found.outcome], ())
    if found.test in (Ending.PASSED, Ending.NOT_APPLICABLE) and item.get_closest_marker("xfail") is None:
        remember(item, judged)
        pytest.skip(reason)
    bug = find_bug(found.known_bug) if found.test == Ending.KNOWN_BUG and found.known_bug else None
    is_red = item.config.option.runxfail or is_strict(item.config)
    if bug is not None and bug.breaks(header.kafka) and not is_red:
        remember(item, judged)
        raise MetBeforeError(reason, frozenset({bug.id}))
