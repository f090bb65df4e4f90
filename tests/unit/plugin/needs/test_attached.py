"""Tests on a cluster that somebody else runs: it is asked what can be done with it, once for all tests."""

import pytest

from pytest_kmigrate.providers.attach import provider
from pytest_kmigrate.providers.attach.asking import Answer, Asked
from tests.unit.providers.attach.files import CLIENT, SMALL, written

pytest_plugins = ["pytester"]


def test_a_cluster_that_stands_is_asked_once_for_all_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it does not offer is known at collection; nothing is begun for such a test."""
    asked = []

    def ask(*_: object) -> Asked:
        asked.append("once")
        return Asked([Answer("znodes", is_offered=True, why="read")])

    monkeypatch.setattr(provider, "ask", ask)
    secret = '"sasl.password" = { command = ["sh", "-c", "echo once >> fetched; echo secret"] }\n'
    file = written(pytester.path, SMALL + CLIENT + secret)
    pytester.makepyfile("def test_one(workload): pass\n\ndef test_other(workload): pass\n")
    chosen = ("--kmigrate-provider", "attach", "--kmigrate-topology", str(file))
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider", *chosen)
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED * NOT_APPLICABLE: test_o* needs what this provider does not offer: traffic"])
    assert asked == ["once"]
    assert (pytester.path / "fetched").read_text() == "once\n"
    assert not (pytester.path / "reports").exists()
