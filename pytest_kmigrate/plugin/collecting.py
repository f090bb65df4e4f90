"""What is asked at collection: which tests can run on this release and by this document, and which red is expected.

A test that uses no fixture of ours is left alone. One that asks for the first one while it runs is looked at then.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.catalogue import KnownBug, check_data, is_before, known_bug, met_by_any_run, requirement
from pytest_kmigrate.model.capabilities import not_offered
from pytest_kmigrate.model.errors import KmigrateError, UnfitReleaseError, WrongUseError
from pytest_kmigrate.plugin.asking import (
    check_bare,
    check_runs,
    check_start,
    chosen_topology,
    marked,
    needs_cluster,
    provider_of,
    topology_of,
)
from pytest_kmigrate.plugin.chosen import Options
from pytest_kmigrate.plugin.handing_over import REFUSED, refuse
from pytest_kmigrate.plugin.marks import PREFIX, is_of_ours, marks_left_to_others, nearest_mark
from pytest_kmigrate.plugin.needs import names_in, needs_of, why_not_on_given
from pytest_kmigrate.plugin.options import is_strict, options_of
from pytest_kmigrate.plugin.outcomes import KnownBugError, expect_of
from pytest_kmigrate.plugin.places import place_of
from pytest_kmigrate.plugin.scenes import scene_of
from pytest_kmigrate.recording.identity import SUITES, module_in_suites

if TYPE_CHECKING:
    from pytest_kmigrate.model.topology import Topology

_UNFIT = pytest.StashKey[UnfitReleaseError]()
_OF_ANOTHER_DOCUMENT = pytest.StashKey[frozenset[str]]()
_ON_ANOTHER_SHAPE = pytest.StashKey[str]()
_GIVEN = pytest.StashKey["Topology"]()
_KAFKA = pytest.StashKey[str]()
_LOOKED_AT = pytest.StashKey["_Topology | None"]()
"""What a test was looked at with; None: without its topology."""

_Topology = Callable[[], "Topology"]

_Topologies = dict[str, "Topology | UnfitReleaseError"]
"""What each name or file comes to with the release under test."""


def look_at(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse wrong use, leave out what cannot run here, expect the red of known bugs; nothing is downloaded.

    Tests that use no fixture of ours stay as they are. pytest.UsageError for wrong use. Of a worker of pytest-xdist
    pytest would only show that it broke: it runs no test, and the process that started it refuses the same.
    """
    try:
        refuse(config, items)
        _refuse_unused_schedules(config, items)
        _deselect_nightly(config, items)
        _look_at_all(options_of(config), items)
    except pytest.UsageError as error:
        if not hasattr(config, "workeroutput"):
            raise
        config.workeroutput[REFUSED] = str(error)
        items.clear()


def _refuse_unused_schedules(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """A file that the command line names is there to be carried out, and all of it."""
    if not config.getoption("--kmigrate-schedules") or not items:
        return
    carrying_out = [item for item in items if nearest_mark(item, "schedules") is not None]
    if not carrying_out:
        raise pytest.UsageError(
            "--kmigrate-schedules: expected a test that carries schedules out, got none; name a test_chaos, "
            "such as --pyargs pytest_kmigrate.suites.kip_866.test_chaos"
        )
    if not options_of(config).nightly and any(nearest_mark(item, "nightly") is not None for item in carrying_out):
        raise pytest.UsageError(
            "--kmigrate-schedules: expected --kmigrate-nightly beside it, as lines are left out without it; "
            "got none: add it"
        )


def _deselect_nightly(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take our tests marked ``nightly`` away, without ``--kmigrate-nightly``; pytest counts them as deselected."""
    if options_of(config).nightly:
        return
    left_out = [item for item in items if is_of_ours(item) and nearest_mark(item, "nightly") is not None]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def look_late(item: pytest.Item, topology: "Topology") -> None:
    """Look at a test that has asked for a fixture of ours while it ran, or whose topology is known only now.

    It ends as it would have at collection: skipped, or by the error of a wrong mark.
    """
    if item.stash.get(_LOOKED_AT, None) is not None:
        return
    options = options_of(item.config)
    if nearest_mark(item, "nightly") is not None and not options.nightly:
        pytest.skip("is marked nightly: --kmigrate-nightly runs it")
    if reasons := _look_at(item, options, lambda: topology):
        pytest.skip(reasons[0])


def _look_at_all(options: Options, items: Sequence[pytest.Item]) -> None:
    topologies = _Topologies()
    if any(needs_cluster(item) for item in items):
        _check_data(options.profile)
    for item in filter(is_of_ours, items):
        given = partial(_topology, item, options, topologies) if needs_cluster(item) else None
        try:
            reasons = _look_at(item, options, given)
        except (KmigrateError, OSError) as error:
            raise pytest.UsageError(_said_of(item, error)) from error
        for reason in reasons:
            item.add_marker(pytest.mark.skip(reason=reason))
    _refuse_a_profile_without_tests(options, items)
    _refuse_a_release_without_tests(items)


def _check_data(profile: str) -> None:
    try:
        check_data(profile)
    except (KmigrateError, OSError) as error:
        raise pytest.UsageError(str(error)) from error


def under_test(config: pytest.Config, items: Iterable[pytest.Item]) -> list[str]:
    """Lines about a session with tests of ours: what is under test, and marks that mean something else here."""
    options, ours = options_of(config), [item for item in items if is_of_ours(item)]
    tests = Counter(item.stash[_KAFKA] for item in ours if _KAFKA in item.stash)
    counted = (f"{kafka} ({count} test{'s' * (count > 1)})" for kafka, count in tests.most_common())
    kafka = options.kafka or ", ".join(counted) or "as each topology names it"
    others = [
        f"kmigrate: this project registers the mark {name} itself: of this package is {PREFIX}{name}"
        for name in marks_left_to_others(ours)
    ]
    line = f"kmigrate: kafka {kafka}, seed {options.seed}, profile {options.profile}, runs in {options.runs}"
    return [line, *others, *_on_the_given(config, ours)]


def _on_the_given(config: pytest.Config, ours: Sequence[pytest.Item]) -> list[str]:
    """What a session does with the topology of the command line, if a test of a suite or of another shape is in it."""
    if options_of(config).topology is None or config.getoption("collectonly"):
        return []
    left_out = {item: item.stash[_ON_ANOTHER_SHAPE] for item in ours if _ON_ANOTHER_SHAPE in item.stash}
    found = [item for item in ours if item.stash.get(_LOOKED_AT, None) is not None]
    if not (left_out or any(module_in_suites(item.path) for item in found)):
        return []
    from pytest_kmigrate.plugin.forecast import forecast  # not at pytest's start

    topology = next((item.stash[_GIVEN] for item in found if _GIVEN in item.stash), None)
    return forecast(config, topology, found, left_out) if topology else []


def _look_at(item: pytest.Item, options: Options, topology_of_test: _Topology | None) -> list[str]:
    """Why it cannot run here; WrongUseError for a mark that cannot be."""
    item.stash[_LOOKED_AT] = topology_of_test
    bugs = [known_bug(each) for each in marked(item, "known_bug")]
    judged_by = _documents_of(item)
    scene_of(item)
    check_bare(item)
    if judged_by and options.profile not in judged_by:
        item.stash[_OF_ANOTHER_DOCUMENT] = judged_by
        return [f"judges requirements of {', '.join(sorted(judged_by))}, and --kmigrate-profile is {options.profile}"]
    kafka = options.kafka
    reasons = _why_not_on(item, kafka, "--kmigrate-kafka") if kafka else []
    if topology_of_test and not reasons and item.get_closest_marker("skip") is None:
        try:
            topology = topology_of_test()
            item.stash[_GIVEN] = topology
            if lacking := why_not_on_given(item, topology):
                item.stash[_ON_ANOTHER_SHAPE] = lacking[0]
                return lacking
            check_start(item, topology)
            check_way(item, topology, options.profile)
        except UnfitReleaseError as error:
            item.stash[_UNFIT] = error
            return [f"NOT_APPLICABLE: {error}"]
        kafka = item.stash[_KAFKA] = topology.kafka
        reasons += _what_is_not_offered(item)
        if options.kafka is None:
            reasons += _why_not_on(item, kafka, "that of the topology")
    release = _release(item, kafka) if kafka and (_KAFKA in item.stash or bugs) else ""
    _expect_red(item, bugs, release, is_build=release != kafka)
    return reasons


def _documents_of(item: pytest.Item) -> frozenset[str]:
    """The profiles that a test is for: those of its requirements, or that of its suite; none: it runs under any."""
    claimed = frozenset(requirement(each).profile for each in marked(item, "requirement"))
    if claimed:
        return claimed
    module = module_in_suites(item.path)
    return frozenset([module.split(".")[2].replace("_", "-")] if module else [])


def _topology(item: pytest.Item, options: Options, topologies: _Topologies) -> "Topology":
    name = chosen_topology(item)
    if name not in topologies:
        check_runs(options.runs)
        try:
            topologies[name] = topology_of(item)
        except UnfitReleaseError as error:
            topologies[name] = error
    found = topologies[name]
    if isinstance(found, UnfitReleaseError):
        raise found
    return found


def check_way(item: pytest.Item, topology: "Topology", profile: str) -> None:
    """UnfitReleaseError when the code of a test names a state that the topology's release cannot come to."""
    from pytest_kmigrate.documents import document

    of = document(profile)
    named = set(names_in(getattr(getattr(item, "function", None), "__code__", None)))
    for state in [each for each in dict.fromkeys(step.reaches[1] for step in of.procedure) if each in named]:
        try:
            if of.check_topology is not None:
                of.check_topology(topology, state)
        except UnfitReleaseError:
            raise
        except WrongUseError:  # the code may only compare with it; what the test does wrong, it shows itself
            continue


def _what_is_not_offered(item: pytest.Item) -> list[str]:
    """Before anything is paid for: the cluster would be started only for the test to come to the same end."""
    lacking = sorted(needs_of(item) - provider_of(item.config).capabilities)
    return [f"NOT_APPLICABLE: {not_offered(item.name, lacking)}"] if lacking else []


def _release(item: pytest.Item, kafka: str) -> str:
    from pytest_kmigrate.distributions.versions import version_of

    provider_of(item.config)  # which knows what the name of an image means
    return version_of(kafka)


def _why_not_on(item: pytest.Item, kafka: str, whose: str) -> list[str]:
    """Before the topology is looked at: a release that cannot run it may be what the test's marker says of itself."""
    sinces, untils = marked(item, "since"), marked(item, "until")
    release = _release(item, kafka) if sinces or untils else ""
    early = [f"since {each}" for each in sinces if is_before(release, each)]
    late = [f"until {each}" for each in untils if not is_before(release, each)]
    return [f"NOT_APPLICABLE: is about what Kafka has {reason}, and {whose} is {release}" for reason in [*early, *late]]


def _expect_red(item: pytest.Item, bugs: Sequence[KnownBug], release: str, *, is_build: bool) -> None:
    expected = [bug for bug in bugs if bug.breaks(release)]
    expect_of(item, list(dict.fromkeys([*expected, *met_by_any_run(release)])))
    for bug in expected:
        # Who wins a race cannot be promised, nor what somebody mended in a build; elsewhere a green is news.
        if bug.reachability != "race" and not is_build and not is_strict(item.config):
            item.add_marker(pytest.mark.xfail(raises=KnownBugError, reason=bug.expectation, strict=True))


def _refuse_a_profile_without_tests(options: Options, items: Sequence[pytest.Item]) -> None:
    """A test that is for no document in particular runs under any, so it is enough."""
    others = [item for item in items if _OF_ANOTHER_DOCUMENT in item.stash]
    if others and len(others) == len(items):
        judged_by = sorted(frozenset[str]().union(*(item.stash[_OF_ANOTHER_DOCUMENT] for item in others)))
        suites = sorted(each.name.replace("_", "-") for each in SUITES.iterdir() if any(each.glob("test_*.py")))
        raise pytest.UsageError(
            f"--kmigrate-profile: expected a document that these tests judge ({', '.join(judged_by)}), got "
            f"{options.profile}; the package has suites of: {', '.join(suites)}"
        )


def _refuse_a_release_without_tests(items: Sequence[pytest.Item]) -> None:
    """A release that rules out every topology here, as 4.x does those with ZooKeeper, was hardly meant."""
    here = [item for item in items if _OF_ANOTHER_DOCUMENT not in item.stash and needs_cluster(item)]
    unfit = [item for item in here if _UNFIT in item.stash and item.stash[_UNFIT].is_general]
    if unfit and len(unfit) == len(here):
        raise pytest.UsageError(_said_of(unfit[0], unfit[0].stash[_UNFIT]))


def _said_of(item: pytest.Item, error: Exception) -> str:
    return f"{place_of(item)}: {item.nodeid}: {error}"
