"""Reads what a certificate counts from a folder of runs: each complete run, and what sessions have noted."""

import hashlib
import os
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from pytest_kmigrate.certificates.statement import ContainerImage
from pytest_kmigrate.checkers.run.mutants import became_of_rules
from pytest_kmigrate.distributions.distribution import image_and_adapter
from pytest_kmigrate.distributions.releases import known_releases, locked_release
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.coherence.coherence import COHERENT
from pytest_kmigrate.judging.coherence.header import name_under_test
from pytest_kmigrate.judging.judge import outcome_of
from pytest_kmigrate.judging.other_documents import evidence_in
from pytest_kmigrate.judging.outcomes import RowOutcome, outcomes_by_requirement
from pytest_kmigrate.judging.planning.conditions import other_instruments
from pytest_kmigrate.judging.planning.plan import PlannedTest, plan
from pytest_kmigrate.judging.planning.planned import departures
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import EnvironmentLackError, RunFolderError, WrongUseError
from pytest_kmigrate.model.event import Event, RuleOutcome, only
from pytest_kmigrate.model.events.evidence import RaftLogRead
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.provider_names import ATTACH
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from pytest_kmigrate.recording.reading import digests_of, read_events, read_header, read_transactions
from pytest_kmigrate.recording.run_folder import RunFolder, run_folders
from pytest_kmigrate.recording.sessions import SESSIONS, RecordedRun, RecordedSession, recorded_sessions
from pytest_kmigrate.recording.verdicts import stored_verdicts

_STREAMS = ("history.jsonl", "metrics/", "znodes/", "operations/", "zookeeper/")
"""Files whose contents no two runs share."""
_LOG = re.compile(r"logs/[^/]+/server\.log")
"""What a node logged; no two runs share that either."""
_SHA256 = re.compile("[0-9a-f]{64}")
_REFERENCE = "the reference implementation of pytest-kmigrate"
_MOST_SHARED = 0.5
"""The share of its events that a run may have at the same nanosecond as another; of two honest ones, 0.01 was seen."""
_FEWEST = 3
"""Of fewer numbers nothing is concluded."""
RAN_A_MUTANT = "it ran a mutant of Kafka"
"""Why such a run does not count."""
ON_A_CLUSTER_THAT_STANDS = "it was made on a cluster that stands, whose jars cannot be read"
"""The same of a run of the provider attach."""
_SESSIONS_OF_ZOOKEEPER = "its ZooKeeper had the same sessions"
_EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class RunEvidence:
    """One complete run."""

    folder: RunFolder
    header: RunHeader
    manifest: str
    outcome: Outcome
    rows: Mapping[str, RowOutcome]
    red: tuple[Verdict, ...]
    """Verdicts that violate, of SAFETY or of no requirement, and that nothing known explains."""
    known: frozenset[str]
    """What explains the others of them."""
    streams: Mapping[str, str]
    """By their digests, the names of its files of evidence."""
    facts: Mapping[str, frozenset[int]]
    """Numbers that only this run has, by what it would mean if another one had most of them."""
    departs: str = ""
    """Why it is not what the plan, or its session, has; empty if it is."""
    is_void: bool = False
    """Whether not even its violations count: it ran a mutant."""
    finding: str = ""
    """What is wrong with its evidence; it departs then, too."""

    @property
    def offered(self) -> frozenset[str]:
        """What its provider could do; all where the run is older than the table of it."""
        return frozenset(Capability) if self.header.offered is None else self.header.offered


@dataclass(frozen=True)
class Evidence:
    """All runs of one folder that are about a profile, and its sessions."""

    runs: Sequence[RunEvidence]
    sessions: Sequence[RecordedSession]
    kafka: str
    digest: str
    """SHA-256 of the software under test."""
    called: Sequence[str] = ()
    """What runs call that software: ``kafka`` and other names of the very same jars."""
    classes: str = ""
    """SHA-256 of its classes, whatever else is in its jars; empty if no run has it."""
    image: ContainerImage | None = None
    """The container image that it comes in."""
    members: str | None = None
    """What ran the members of groups, where the document is about them."""

    def possible(self, profile: str) -> list[PlannedTest]:
        """The tests of the plan that this Kafka can run with what one of the providers offers."""
        return [test for test in plan(profile).tests.values() if self.can_run(test)]

    def can_run(self, test: PlannedTest) -> bool:
        """Whether this Kafka can run a test with what one of the providers offers."""
        return test.runs_on(self.kafka) and any(test.needs <= offered for offered in self.offers)

    @property
    def offers(self) -> set[frozenset[str]]:
        """What the providers of runs that count offer; everything where none counts, as such runs excuse no test."""
        return {run.offered for run in self.runs if not run.departs} or {frozenset[str](Capability)}


def evidence_of(root: Path, profile: str, kafka: str | None = None) -> Evidence:
    """The evidence below a folder; WrongUseError if it has none of one Kafka for this profile.

    ``kafka``: which one, if there are several. EnvironmentLackError for a file or folder that this user may not read.
    """
    try:
        return _evidence_of(root, profile, kafka)
    except OSError as error:
        raise EnvironmentLackError(unreadable(error)) from error


def unreadable(error: OSError) -> str:
    """The sentence about a file or folder of a run that cannot be read."""
    return f"{error.filename}: it cannot be read: {error.strerror}; let this user read it"


def _evidence_of(root: Path, profile: str, kafka: str | None) -> Evidence:
    wanted = {profile, *document(profile).judges_runs_of}
    by_profile = [(read_header(folder).profile, folder) for folder in complete_runs(root)]
    folders = [folder for own, folder in by_profile if own in wanted]
    if not folders:
        got = ", ".join(sorted({own for own, _ in by_profile}))
        raise WrongUseError(f"{root}: expected runs of {profile}, got runs of {got} only: name another by --profile")
    sessions = [each for file in session_files(root) for each in recorded_sessions(file.read_bytes(), str(file))]
    noted = _noted_once(root, sessions)
    runs = [_read(folder, profile, noted) for folder in folders]
    digest = _software(root, runs, kafka)
    counted = tuple(_without_repetitions(_of_software(runs, digest)))
    own = [run for run in counted if _digest(run) == digest]
    named = _names(own, digest)
    members, image = _members(root, profile, own), _image(root, own)
    return Evidence(counted, tuple(sessions), named[0], digest, named, _classes(root, own), image, members)


def complete_runs(root: Path) -> list[RunFolder]:
    """The run folders below a folder that have a manifest, by name; WrongUseError if there are none."""
    _must_be_readable(root)
    found = [each for each in run_folders(root) if each.manifest.is_file()]
    if not found:
        raise WrongUseError(f"{root}: expected complete run folders (with run.json and manifest.json) in it, got none")
    if found[0].path == root:
        raise WrongUseError(
            f"{root}: expected a folder of runs, got one run: give the folder that it is in, {root.parent}"
        )
    return found


def _must_be_readable(root: Path) -> None:
    """OSError for a folder that this user may not look into: a search would look past it and the runs in it."""

    def refuse(error: OSError) -> None:
        raise error

    for _ in os.walk(root, onerror=refuse):
        pass


def session_files(root: Path) -> list[Path]:
    """The files of sessions below a folder."""
    return sorted(file for file in root.rglob(SESSIONS) if file.is_file())


def _noted_once(root: Path, sessions: Sequence[RecordedSession]) -> dict[str, RecordedRun]:
    """What sessions have of each run; RunFolderError where two files have one: another would replace its manifest."""
    noted: dict[str, RecordedRun] = {}
    for run in (run for each in sessions for run in each.runs):
        if run.run_id in noted:
            raise RunFolderError(
                f"{root}: expected one file {SESSIONS} to have noted {run.run_id}, got two: take away the copy"
            )
        noted[run.run_id] = run
    return noted


def _read(folder: RunFolder, profile: str, noted: Mapping[str, RecordedRun]) -> RunEvidence:
    header, content = read_header(folder), folder.manifest.read_bytes()
    stored = stored_verdicts(folder) if folder.verdicts.is_file() else []
    rows = outcomes_by_requirement(stored)
    if header.profile != profile:
        rows |= outcomes_by_requirement(evidence_in(folder, document(profile)))
    manifest = hashlib.sha256(content).hexdigest()
    digests, _ = digests_of(folder)
    streams = {digest: name for name, digest in digests.items() if name.startswith(_STREAMS) or _LOG.fullmatch(name)}
    streams.pop(_EMPTY, None)
    events = read_events(folder)
    unfit = [each.summary for each in stored if each.check == COHERENT]
    departs = "; ".join([*unfit, *_unnoted(header, manifest, noted), *_from_plan(events, header)])
    grave = [each for each in stored if each.outcome is Outcome.VIOLATES and _is_grave(each)]
    red = tuple(each for each in grave if not each.known_bugs)
    known = frozenset(bug for each in grave for bug in each.known_bugs)
    finding = f"{header.run_id}: {unfit[0]}" if unfit else ""
    outcome = outcome_of(stored)
    facts = _facts(folder, header, events)
    return RunEvidence(folder, header, manifest, outcome, rows, red, known, streams, facts, departs, finding=finding)


def _facts(folder: RunFolder, header: RunHeader, events: Sequence[Event]) -> dict[str, frozenset[int]]:
    """Times, and what Kafka drew or computed by itself: a copy whose times were all moved has these all the same.

    What was there before the run is that of others, too.
    """
    moments = frozenset(each.at_ns for each in events)
    read = [each.what.batches for each in only(events, RaftLogRead)]
    batches = {(crc, last) for log in read for _, last, _, crc, *_ in log if crc is not None and last is not None}
    return {
        "its events have the same times": moments,
        "its events are as far apart": _gaps(moments),
        "its metadata log has the same batches": frozenset(
            crc for crc, last in batches if last > header.inherited_offset
        ),
        _SESSIONS_OF_ZOOKEEPER: frozenset(each.session for each in read_transactions(folder)),
    }


def _is_grave(verdict: Verdict) -> bool:
    """Whether a violation counts whatever requirement has it: one of safety, and one that no requirement has."""
    return verdict.kind is Kind.SAFETY or not verdict.about


def _unnoted(header: RunHeader, manifest: str, noted: Mapping[str, RecordedRun]) -> Iterator[str]:
    run = noted.get(header.run_id)
    if run is None:
        yield f"no session in {SESSIONS} has noted it"
    elif run.manifest != manifest:
        got = "none" if run.manifest is None else "another"
        yield f"its session noted {got} manifest, but the folder has {manifest[:12]}"


def _from_plan(events: Sequence[Event], header: RunHeader) -> Iterator[str]:
    planned = plan(header.profile).tests.get(header.test_id)
    if planned is None:
        yield f"the plan of {header.profile} has no test {header.test_id}"
    else:
        try:
            yield from map(str, departures(header, events, planned))
        except (TypeError, AttributeError) as error:
            raise RunFolderError(
                f"{header.run_id}: expected events as this release records them, got {error}"
            ) from error


def _software(root: Path, runs: Sequence[RunEvidence], kafka: str | None) -> str:
    """The digest of what is certified: software is its jars, whatever folder they were in."""
    found = {(run.header.kafka, digest) for run in runs if (digest := _digest(run)) is not None}
    chosen = {digest for name, digest in found if kafka in (None, name, digest)}
    if not chosen:
        got = ", ".join(sorted({name for name, _ in found})) or "none that has the SHA-256 of its jars"
        stands = any(run.header.provider == ATTACH for run in runs) and not found
        advice = ", as those of a cluster that stands cannot be read: make runs of what it runs by --kmigrate-kafka"
        raise WrongUseError(
            f"{root}: expected runs of Kafka {kafka or 'of any version'}, got {got}{advice if stands else ''}"
        )
    if len(chosen) > 1:
        names = sorted({name for name, digest in found if digest in chosen})
        if len(names) > 1:
            got = ", ".join(names)
            raise WrongUseError(f"{root}: expected runs of one Kafka, got {got}: choose one by --kafka")
        got = ", ".join(sorted(digest[:12] for digest in chosen))
        raise WrongUseError(f"{root}: expected one build of Kafka {names[0]}, got jars of several digests: {got}")
    return chosen.pop()


def _names(runs: Sequence[RunEvidence], digest: str) -> tuple[str, ...]:
    """What runs call these jars, the release of that name or the most frequent one first."""
    often = Counter(run.header.kafka for run in runs)
    return tuple(sorted(often, key=lambda name: (not is_release(name, digest), -often[name], name)))


def is_release(kafka: str, digest: str) -> bool:
    """Whether these are the jars of the Apache release of that name."""
    return kafka in known_releases() and locked_release(kafka).digest() == digest


def _classes(root: Path, runs: Sequence[RunEvidence]) -> str:
    """The digest of the classes of the software under test, empty if no run has it; WrongUseError for several.

    The seeds of a challenge follow from it.
    """
    found = [run.header.circumstances.distribution_classes for run in runs]
    named = zip(found, (name_under_test(run.header) for run in runs), strict=True)
    digests = sorted({each.get(name, "") for each, name in named if each is not None and name is not None} - {""})
    if len(digests) > 1:
        got = ", ".join(each[:12] for each in digests)
        raise WrongUseError(f"{root}: expected one digest of the classes in the same jars, got {got}: leave out others")
    return digests[0] if digests else ""


def _digest(run: RunEvidence) -> str | None:
    """The digest of the software under test; a topology may have other releases beside it.

    None also where it is of no jars, as in runs of the provider that plays Kafka.
    """
    name = name_under_test(run.header)
    digest = (run.header.digests or {}).get(name or "", "")
    return digest if _SHA256.fullmatch(digest) else None


def _image(root: Path, runs: Sequence[RunEvidence]) -> ContainerImage | None:
    """The image that all of these runs were in; WrongUseError if they were in several, or some in none."""
    found = {_image_of(run) for run in runs}
    if len({each.sha256 if each else None for each in found}) > 1:
        got = ", ".join(sorted(f"{each.name} ({each.sha256[:12]})" if each else "none" for each in found))
        raise WrongUseError(f"{root}: expected runs in one image, as its scripts and Java are certified too, got {got}")
    return min((each for each in found if each), key=lambda each: each.name, default=None)


def _members(root: Path, profile: str, runs: Sequence[RunEvidence]) -> str | None:
    """What ran the members of these runs; WrongUseError if that were several: one could pass for another."""
    if document(profile).members is None:
        return None
    given = [run.header.circumstances.member for run in runs]
    found = {shlex.join(map(str, each)) if isinstance(each, list) and each else _REFERENCE for each in given}
    if len(found) > 1:
        got = "; ".join(sorted(found))
        raise WrongUseError(
            f"{root}: expected runs of members by one command, got {got}: certify each from its own folder"
        )
    return found.pop()


def _image_of(run: RunEvidence) -> ContainerImage | None:
    own = name_under_test(run.header)
    if own is None or own not in run.header.images:
        return None
    name, _ = image_and_adapter(own)
    return ContainerImage(name=name, sha256=run.header.images[own].removeprefix("sha256:"))


def _of_software(runs: Sequence[RunEvidence], digest: str) -> Iterator[RunEvidence]:
    called = {run.header.kafka for run in runs if _digest(run) == digest}
    for run in runs:
        if _digest(run) is None and run.header.provider == ATTACH and run.header.kafka in called:
            yield _of_a_cluster_that_stands(run)
            continue
        if _digest(run) != digest:
            continue
        if not run.header.has_mutant:
            yield run
            continue
        # Nodes report what was planted in them: without a report, or a command that asks for it, the words of the
        # header excuse nothing. A rule that was never carried out changed nothing.
        became = became_of_rules(read_events(run.folder))
        unreported = [] if became else ["no node reported of a rule"]
        unlike = "; ".join([*unreported, *map(str, other_instruments(run.header))])
        finding = f"{run.header.run_id} is called a mutant, and {unlike}" if unlike else ""
        ran_one = not unlike and RuleOutcome.CARRIED_OUT in became.values()
        yield replace(run, departs=RAN_A_MUTANT, is_void=ran_one, finding=finding)


def _of_a_cluster_that_stands(run: RunEvidence) -> RunEvidence:
    """Its nodes may run anything that calls itself so: it neither counts nor violates, unless the harness had jars."""
    known = any(each.what.digest for each in only(read_events(run.folder), NodeStarted))
    finding = f"{run.header.run_id}: a cluster that stands runs jars that the harness had" if known else ""
    return replace(run, departs=ON_A_CLUSTER_THAT_STANDS, is_void=not known, finding=finding)


def _without_repetitions(runs: Iterator[RunEvidence]) -> Iterator[RunEvidence]:
    """A run that shares evidence with an earlier one is a copy, or was made of it; what it violates stands."""
    owner: dict[str, str] = {}
    owners: defaultdict[str, dict[int, str]] = defaultdict(dict)
    headers: dict[str, RunHeader] = {}
    for run in runs:
        shared = sorted((name, owner[digest]) for digest, name in run.streams.items() if digest in owner)
        alike = [
            (first, what)
            for what, facts in run.facts.items()
            if (first := _mostly_of(facts, owners[what]))
            and not (what == _SESSIONS_OF_ZOOKEEPER and _are_of_one_scene(headers[first], run.header))
        ]
        headers[run.header.run_id] = run.header
        if shared or alike:
            first = shared[0][1] if shared else alike[0][0]
            what = ", ".join(name for name, _ in shared[:3]) or alike[0][1]
            departs = f"it has the evidence of {first} once more: {what}"
            finding = f"{run.header.run_id}: {departs}"
            yield replace(run, departs=departs, finding="; ".join(filter(None, (run.finding, finding))))
            continue
        owner |= dict.fromkeys(run.streams, run.header.run_id)
        for what, facts in run.facts.items():
            owners[what] |= dict.fromkeys(facts, run.header.run_id)
        yield run


def _are_of_one_scene(first: RunHeader, later: RunHeader) -> bool:
    """Whether a run may have been on the cluster of an earlier one: tests of one file, in one session, by one seed."""
    one, other = (
        (header.circumstances.session, header.seed, header.test_id.partition("::")[0]) for header in (first, later)
    )
    return later.circumstances.scene is not None and one == other


def _gaps(moments: frozenset[int]) -> frozenset[int]:
    """The times between events, in nanoseconds: the same if all of them are moved by as much."""
    ordered = sorted(moments)
    return frozenset(after - before for before, after in pairwise(ordered))


def _mostly_of(facts: frozenset[int], owners: Mapping[int, str]) -> str | None:
    """The earlier run that has most of these; files of a copy may be respelled."""
    if len(facts) < _FEWEST:
        return None
    shared = Counter(owners[each] for each in facts if each in owners)
    (first, count), *_ = shared.most_common(1) or [("", 0)]
    return first if count > len(facts) * _MOST_SHARED else None
