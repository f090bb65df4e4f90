"""The command ``kmigrate consumers validate`` on a real cluster: the reference keeps the contract."""

import sys

from pytest_kmigrate.documents import document
from pytest_kmigrate.documents.kip_125.rehearsing import LINES
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running.rehearsing import rehearse


def test_the_reference_keeps_the_contract() -> None:
    """It prints every line that the script brings about, and there is nothing to repair."""
    command = [sys.executable, "-m", "pytest_kmigrate.documents.kip_125.reference"]
    found = rehearse(document("kip-125"), command, ProcessProvider(lambda _: None), None, lambda _: None)
    assert found.problems == []
    assert {name for name, _, count in found.lines if count} == set(LINES)
