"""What is asked at collection: which tests can run on this release and by this document, and which red is expected."""

from collections import Counter
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kmigrate.catalogue import KnownBug, check_data, is_before, known_bug, met_by_any_run, requirement
from pytest_kmigrate.model.capabilities import not_offered
from pytest_kmigrate.model.errors import KmigrateError, UnfitReleaseError, WrongUseError
from pytest_kmigrate.plugin.asking import (
    check_bare,
    check_runs,
    check_start,
    chosen_topology,
    kafka_of_file,
    marked,
    needs_cluster,
    provider_of,
    topology_of,
)
from pytest_kmigrate.plugin.needs.needing import names_in, needs_of
from pytest_kmigrate.plugin.options import Options, options_of
from pytest_kmigrate.plugin.outcomes import KnownBugError, expect_of
from pytest_kmigrate.plugin.places import place_of
from pytest_kmigrate.plugin.scenes import scene_of
from pytest_kmigrate.recording.identity import SUITES, module_in_suites

if TYPE_CHECKING:
    from pytest_kmigrate.model.topology import Topology

_REFUSED = "kmigrate_refused"
_UNFIT = pytest.StashKey[UnfitReleaseError]()
_OF_ANOTHER_DOCUMENT = pytest.StashKey[frozenset[str]]()
_KAFKA = pytest.StashKey[str]()

_Topologies = dict[str, "Topology | UnfitReleaseError"]
"""What each name or file comes to with the release under test."""


def look_at(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse wrong use, leave out what cannot run here, expect the red of known bugs; nothing is downloaded.

    pytest.UsageError for wrong use. Of a worker of pytest-xdist pytest would only show that it broke: it runs no test,
    and the process that started it refuses the same.
    """
    try:
        _look_at_all(options_of(config), items)
    except pytest.UsageError as error:
        if not hasattr(config, "workeroutput"):
            raise
        config.workeroutput[_REFUSED] = str(error)
        items.clear()


def deselect_nightly(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take tests marked ``nightly`` away, without ``--kmigrate-nightly``; pytest counts them as deselected."""
    if options_of(config).nightly:
        return
    left_out = [item for item in items if item.get_closest_marker("nightly")]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


class Refusals:
    """What workers of pytest-xdist refused, in the process that started them: it ends as it would without them."""

    def __init__(self) -> None:
        self._refused: str | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended, and may have refused its tests; all of them refuse the same."""
        self._refused = getattr(node, "workeroutput", {}).get(_REFUSED, self._refused)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Refuse it once they are gone."""
        is_done = yield
        if self._refused is not None:
            raise pytest.UsageError(self._refused)
        return is_done


def _look_at_all(options: Options, items: Sequence[pytest.Item]) -> None:
    topologies = _Topologies()
    if any(needs_cluster(item) for item in items):
        _check_data(options.profile)
    for item in items:
        try:
            _look_at(item, options, topologies)
        except (KmigrateError, OSError) as error:
            raise pytest.UsageError(_said_of(item, error)) from error
    _refuse_a_profile_without_tests(options, items)
    _refuse_a_release_without_tests(items)


def _check_data(profile: str) -> None:
    try:
        check_data(profile)
    except (KmigrateError, OSError) as error:
        raise pytest.UsageError(str(error)) from error


def kafka_in_header(config: pytest.Config) -> str:
    """What is under test, as far as it is known before tests are collected."""
    options = options_of(config)
    return options.kafka or (kafka_of_file(options.topology) if options.topology else "as each topology names it")


def kafka_in_use(config: pytest.Config, items: Sequence[pytest.Item]) -> str | None:
    """A line with the distributions of the topologies that tests run on; None if the header has said it."""
    tests = Counter(item.stash[_KAFKA] for item in items if _KAFKA in item.stash)
    if options_of(config).kafka is not None or not tests:
        return None
    counted = (f"{kafka} ({count} test{'s' * (count > 1)})" for kafka, count in tests.most_common())
    return f"kmigrate: kafka {', '.join(counted)}"


def _look_at(item: pytest.Item, options: Options, topologies: _Topologies) -> None:
    bugs = [known_bug(each) for each in marked(item, "known_bug")]
    judged_by = _documents_of(item)
    scene_of(item)
    check_bare(item)
    if judged_by and options.profile not in judged_by:
        item.stash[_OF_ANOTHER_DOCUMENT] = judged_by
        reason = f"judges requirements of {', '.join(sorted(judged_by))}, and --kmigrate-profile is {options.profile}"
        item.add_marker(pytest.mark.skip(reason=reason))
        return
    kafka = options.kafka
    if kafka:
        _skip_by_release(item, kafka, "--kmigrate-kafka")
    if needs_cluster(item) and item.get_closest_marker("skip") is None:
        try:
            topology = _topology(item, options, topologies)
            check_start(item, topology)
            check_way(item, topology, options.profile)
        except UnfitReleaseError as error:
            item.stash[_UNFIT] = error
            item.add_marker(pytest.mark.skip(reason=f"NOT_APPLICABLE: {error}"))
            return
        kafka = item.stash[_KAFKA] = topology.kafka
        _skip_if_not_offered(item)
        if options.kafka is None:
            _skip_by_release(item, kafka, "that of the topology")
    release = _release(item, kafka) if kafka and (_KAFKA in item.stash or bugs) else ""
    _expect_red(item, bugs, release, is_build=release != kafka)


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
    assert isinstance(item, pytest.Function)
    named = set(names_in(getattr(item.function, "__code__", None)))
    for state in [each for each in dict.fromkeys(step.reaches[1] for step in of.procedure) if each in named]:
        try:
            if of.check_topology is not None:
                of.check_topology(topology, state)
        except UnfitReleaseError:
            raise
        except WrongUseError:  # the code may only compare with it; what the test does wrong, it shows itself
            continue


def _skip_if_not_offered(item: pytest.Item) -> None:
    """Before anything is paid for: the cluster would be started only for the test to come to the same end."""
    assert isinstance(item, pytest.Function)
    if lacking := sorted(needs_of(item) - provider_of(item.config).capabilities):
        item.add_marker(pytest.mark.skip(reason=f"NOT_APPLICABLE: {not_offered(item.name, lacking)}"))


def _release(item: pytest.Item, kafka: str) -> str:
    from pytest_kmigrate.distributions.versions import version_of

    provider_of(item.config)  # which knows what the name of an image means
    return version_of(kafka)


def _skip_by_release(item: pytest.Item, kafka: str, whose: str) -> None:
    """Before the topology is looked at: a release that cannot run it may be what the test's marker says of itself."""
    sinces, untils = marked(item, "since"), marked(item, "until")
    release = _release(item, kafka) if sinces or untils else ""
    early = [f"since {each}" for each in sinces if is_before(release, each)]
    late = [f"until {each}" for each in untils if not is_before(release, each)]
    for reason in [*early, *late]:
        text = f"NOT_APPLICABLE: is about what Kafka has {reason}, and {whose} is {release}"
        item.add_marker(pytest.mark.skip(reason=text))


def _expect_red(item: pytest.Item, bugs: Sequence[KnownBug], release: str, *, is_build: bool) -> None:
    expected = [bug for bug in bugs if bug.breaks(release)]
    expect_of(item, list(dict.fromkeys([*expected, *met_by_any_run(release)])))
    for bug in expected:
        # Who wins a race cannot be promised, nor what somebody mended in a build; elsewhere a green is news.
        if bug.reachability != "race" and not is_build:
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
