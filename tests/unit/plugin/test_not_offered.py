"""A test that needs what the provider cannot do, from the fixture that asks for it to the summary."""

from types import SimpleNamespace

import psutil
import pytest

from pytest_kmigrate.plugin import living
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.recording.reading import read_events
from pytest_kmigrate.recording.run_folder import RunFolder

pytest_plugins = ["pytester"]


def test_a_test_whose_workload_cannot_run_is_skipped_and_not_applicable(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The capability is named in the reason; the run's folder says the same, and how the test ended."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**40))
    monkeypatch.setattr(living, "provider_named", lambda *_: FakeProvider())
    pytester.makepyfile("def test_it(workload):\n    raise ZeroDivisionError\n")
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [
            "NOT_APPLICABLE test_it *",
            "SKIPPED * workload clients needs what this provider does not offer: change",
        ]
    )
    (folder,) = pytester.path.glob("reports/runs/*/")
    assert read_events(RunFolder(folder))[-1].data["test"] == "not-applicable"
