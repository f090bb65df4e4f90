"""Facts about runs that end otherwise than usual: without a node, and with a provider that fails."""

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.verdict import conforms
from pytest_kmigrate.plugin import living
from pytest_kmigrate.providers.fake import FakeProvider
from tests.unit.plugin.conftest import Plant, PlantedRun

pytest_plugins = ["pytester"]
QUIET = ("-p", "no:cacheprovider", "-rA")
LATER = "@pytest.mark.topology('kraft-broker1-controller3-down')\n"
ASKED = "    expect('status', lambda: {got}, equals=0, within_s=0)\n    verify()\n"
TOOL = "kmigrate_run.cluster.run_tool('broker-0', 'kafka-storage', ['random-uuid']).status"


@pytest.fixture
def on_fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of an inner pytest are on clusters in memory."""
    monkeypatch.setattr(living, "provider_of", lambda *_: FakeProvider())
    monkeypatch.setattr(living, "plan_here", lambda _topology: None)
    monkeypatch.setattr(living, "write_run_reports", lambda _folder: None)


@pytest.mark.usefixtures("on_fakes")
@pytest.mark.parametrize(
    ("got", "outcome", "reported"),
    [
        (TOOL, "passed", "CONFORMS *"),
        (f"{TOOL} + 1", "failed", "VIOLATES *"),
        ("0", "failed", "INCONCLUSIVE *no node was started*"),
    ],
)
def test_a_test_of_a_tool_needs_no_node(pytester: pytest.Pytester, got: str, outcome: str, reported: str) -> None:
    """It is judged by what it expects of the tool; a test that started nothing and ran nothing showed nothing."""
    pytester.makepyfile(f"import pytest\n\n{LATER}def test_it(kmigrate_run, expect, verify):\n{ASKED.format(got=got)}")
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines([reported])


@pytest.mark.parametrize("broken", ["dump_threads", "verify", "trouble"])
def test_a_provider_that_fails_ends_one_test_and_not_the_session(
    pytester: pytest.Pytester, plant: Plant, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """As an engine of containers that ended does: its error is that of the test, and the next one runs."""

    def lost(*_: object, **__: object) -> None:
        raise ConnectionError("the engine does not answer")

    plant(conforms("all").by("a"))
    for each in {broken, "dump_threads"}:
        monkeypatch.setattr(PlantedRun, each, lost, raising=False)
    pytester.makepyfile(
        f"""
        from {ClusterError.__module__} import ClusterError

        def test_it(kmigrate_run):
            raise ClusterError("broker-0 does not answer")

        def test_passes(kmigrate_run): pass

        def test_other(): pass
        """
    )
    result = pytester.runpytest_inprocess(*QUIET)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1, passed=2, errors=1)
    result.stdout.fnmatch_lines(["broker-0 does not answer"])
    if broken == "dump_threads":
        result.stdout.fnmatch_lines(["INCONCLUSIVE *test_it*"])


QUIET_DEBUGGER = """
import pdb

class Quiet(pdb.Pdb):
    def interaction(self, *arguments, **options):
        print("PROMPT")

    def set_trace(self, *arguments, **options):
        print("PROMPT")
"""


@pytest.mark.usefixtures("on_fakes")
@pytest.mark.parametrize("body", ["assert False", "breakpoint()"])
def test_a_debugger_shows_where_the_cluster_is(pytester: pytest.Pytester, body: str) -> None:
    """Above its prompt: what clients connect to, and where the logs are."""
    pytester.makepyfile(quiet=QUIET_DEBUGGER)
    pytester.syspathinsert()
    pytester.makepyfile(f"def test_it(kmigrate_run):\n    {body}\n\ndef test_other():\n    assert False\n")
    result = pytester.runpytest_inprocess(*QUIET, "--pdb", "--pdbcls", "quiet:Quiet", "-s")
    result.stdout.fnmatch_lines(
        [
            "kmigrate: the cluster of test_it stays up while you debug",
            "  bootstrap servers: 127.*:*",
            "  logs:              *reports/runs/*/logs",
            "PROMPT",
        ]
    )
    assert result.stdout.str().count("stays up while you debug") == 1


@pytest.mark.usefixtures("on_fakes")
def test_the_end_names_the_reason_and_the_timeline(pytester: pytest.Pytester) -> None:
    """A verdict that could not be reached has its first check with the reason; the page of the worst run is named."""
    pytester.makepyfile(f"import pytest\n\n{LATER}def test_it(kmigrate_run, verify):\n    verify()\n")
    result = pytester.runpytest_inprocess(*QUIET)
    result.stdout.fnmatch_lines(
        [
            "INCONCLUSIVE  test_it  reports/runs/*",
            "              no_unexpected_death: no node was started",
            "what happened, on one clock:",
            "  reports/runs/*/timeline.html",
        ],
        consecutive=True,
    )


@pytest.mark.usefixtures("on_fakes")
def test_what_a_debugger_prints_of_a_cluster_is_readable(pytester: pytest.Pytester) -> None:
    """Its topology, size and address; no address in memory."""
    pytester.makepyfile(
        """
        def test_it(kmigrate_run, cluster):
            assert repr(cluster).startswith("<cluster zk1-broker3-controller3 of 7 nodes at 127.")
            assert repr(kmigrate_run).startswith("<run reports/runs/")
            assert repr(cluster.node("broker-0")) == "<node broker-0, Kafka 3.9.1>"
        """
    )
    pytester.runpytest_inprocess(*QUIET).assert_outcomes(passed=1, errors=1)  # which called no verify
