"""What tests need of a provider, as their markers, fixtures, parameters and code show it."""

from pathlib import Path

import pytest

from pytest_kmigrate.documents import document
from pytest_kmigrate.model.document import Move
from pytest_kmigrate.plugin.needs import needs_of
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.topology.loading import find, load

pytest_plugins = ["pytester"]

HEAD = """
import pytest
from pytest_kmigrate import Cut, Hold, Kill, Pause, Phase, Role, checks, crash_points, targets, triggers

FAULTS = [Pause(targets.node("broker-0")), Cut(targets.node("broker-0"), targets.node("broker-1"))]

class Place:
    def __init__(self, at):
        self.at = at

PLACE = Place(triggers.at_crash_point(crash_points.LONG_COPY))
"""


class _Collector:
    """Keeps the needs of the collected tests."""

    def __init__(self) -> None:
        self.needs: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """All are there."""
        self.needs = [", ".join(sorted(needs_of(each))) for each in session.items if isinstance(each, pytest.Function)]


@pytest.mark.parametrize(
    ("source", "needs"),
    [
        ("def test_it(cluster, expect): pass", ""),
        ("def test_it(workload): pass", "traffic"),
        ("@pytest.mark.needs('pause', 'kill')\ndef test_it(cluster): pass", "kill, pause"),
        ("@pytest.mark.needs('kill')\nclass TestIt:\n    def test_it(self, cluster): pass", "kill"),
        ("@pytest.mark.starts_at('HYBRID')\ndef test_it(cluster): pass", "reconfigure, start, znodes"),
        ("def test_it(inject):\n    with inject(Pause(targets.node('broker-0'))): pass", "pause"),
        ("@pytest.mark.parametrize('fault', FAULTS)\ndef test_it(fault, inject): pass", "pause|cuts"),
        ("@pytest.mark.parametrize('place', [PLACE], ids=['x'])\ndef test_it(place, inject): pass", "crash-points"),
        ("def test_it(inject): triggers.at_crash_point(crash_points.LONG_COPY)", "crash-points"),
        ("def _broken(inject): Pause(1)\n\ndef test_it(inject): _broken(inject)", "pause"),
        ("def _twice(): _twice()\n\ndef test_it(cluster): _twice()", ""),
        ("def test_it(cluster): lambda: cluster.node('broker-0').stop()", "start"),
        ("def test_it(cluster, cluster_metadata): cluster_metadata.seen('zookeeper')", "znodes"),
        (
            "def test_it(cluster_metadata, verify): verify(checks.metadata_equivalent('a-log', 'a-brokers'))",
            "metadata-log, metrics",
        ),
        ("def test_it(verify): verify(checks.no_acked_record_lost())", ""),
    ],
)
def test_needs_are_seen_before_the_test_runs(pytester: pytest.Pytester, source: str, needs: str) -> None:
    """Those of markers, of the start, fixtures, faults, triggers, helpers, parameters, methods and images."""
    pytester.makepyfile(f"{HEAD}\n{source}\n")
    collector = _Collector()
    result = pytester.runpytest_inprocess("--collect-only", "-q", "-p", "no:cacheprovider", plugins=[collector])
    assert result.ret == 0
    assert "|".join(collector.needs) == needs


@pytest.mark.parametrize("given", ["", "'fly'", "'kill', why='so'"])
def test_a_marker_that_names_no_capability_is_refused(pytester: pytest.Pytester, given: str) -> None:
    """The capabilities there are stand in the message."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.needs({given})\ndef test_it(cluster): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *::test_it: marker needs: expected some of start, reconfigure, *; got *"])


@pytest.mark.parametrize(
    ("profile", "topology"), [("kip-866", "zk1-broker3-controller3"), ("kip-778", "kraft-broker3-controller3-upgrade")]
)
def test_walking_needs_what_the_moves_of_the_procedure_need(profile: str, topology: str, tmp_path: Path) -> None:
    """A document declares it, since at collection there is no cluster to make moves for."""
    of = document(profile)
    with FakeProvider().provision(load(find(topology)), MemoryRecorder(), tmp_path) as cluster:
        moves: list[Move] = [move for step in of.procedure for move in step.moves(cluster)]
    assert frozenset().union(*(move.needs for move in moves)) == of.walking_needs
