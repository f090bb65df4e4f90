"""A test that needs what the provider cannot do: at collection, or when the test comes to it."""

from types import SimpleNamespace

import psutil
import pytest

from pytest_kmigrate.plugin import collecting, living
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.recording.reading import read_events
from pytest_kmigrate.recording.run_folder import RunFolder

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider of few capabilities, on a machine that has room."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**40))
    for room in (living, collecting):
        monkeypatch.setattr(room, "provider_of", lambda *_: FakeProvider())


@pytest.mark.slow
def test_a_test_that_comes_to_what_it_needs_is_skipped_and_not_applicable(pytester: pytest.Pytester) -> None:
    """The capability is named in the reason; the run's folder says the same, and how the test ended."""
    pytester.makepyfile("def test_it(kmigrate_run):\n    kmigrate_run.traffic.start()\n    raise ZeroDivisionError\n")
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [
            "NOT_APPLICABLE test_it *",
            "SKIPPED * workload clients needs what this provider does not offer: traffic",
        ]
    )
    (folder,) = pytester.path.glob("reports/runs/*/")
    assert read_events(RunFolder(folder))[-1].data["test"] == "not-applicable"


@pytest.mark.parametrize(
    ("source", "lacking"),
    [
        ("def test_it(workload): pass", "traffic"),
        ("@pytest.mark.starts_at('HYBRID')\ndef test_it(cluster): pass", "znodes"),
        ("@pytest.mark.needs('identity', 'requests')\ndef test_it(cluster): pass", "identity, requests"),
    ],
)
def test_nothing_is_started_for_a_test_that_shows_what_it_needs(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, source: str, lacking: str
) -> None:
    """It is skipped at collection with the same sentence: no cluster, no run folder, no session."""
    monkeypatch.setattr(FakeProvider, "provision", lambda *_, **__: pytest.fail("a cluster was paid for"))
    pytester.makepyfile(f"import pytest\n\n{source}\n")
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [f"SKIPPED * NOT_APPLICABLE: test_it needs what this provider does not offer: {lacking}"]
    )
    assert not (pytester.path / "reports").exists()


def test_a_test_that_needs_no_more_than_is_offered_runs(pytester: pytest.Pytester) -> None:
    """What another test of the module needs is not its need."""
    pytester.makepyfile("def test_it(cluster):\n    assert cluster.nodes()\n\ndef test_other(workload): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, skipped=1, errors=1)  # the error: it ends without verify
