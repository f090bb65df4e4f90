"""The docker provider on an engine of the tests' own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_kmigrate.providers.bench import SMALLEST
from pytest_kmigrate.providers.owned.software import software_for
from tests.real.providers import contract_in_containers
from tests.real.providers.private_engine import private_engine

WHOLE = os.environ.get("KMIGRATE_CONTRACT") == "whole"
"""A nightly run asks for it; otherwise the part that is quick."""
QUICK = "alive_and_told or was_ended or stands_still or wiped or after_an_error or tool or by_a_cut or killed"
_ENDS_WITHIN_S = 540


@pytest.mark.parametrize("chosen", ["not lost" if WHOLE else QUICK, "lost"])
def test_the_contract_of_providers_holds_in_containers(chosen: str, tmp_path: Path) -> None:
    """What is fetched is fetched before: in the engine's namespace there is no way out."""
    software_for(SMALLEST, print)
    state = tmp_path / "state"
    with private_engine(tmp_path) as engine:
        # The docker package leaves a socket open on which the engine does not answer.
        tests = [str(contract_in_containers.__file__), "-k", chosen, "-W", "ignore::ResourceWarning"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--no-header", *tests]
        run = subprocess.run(
            engine.command(command),
            env={**engine.environment, "KMIGRATE_STATE": str(state), "KMIGRATE_TESTS_ENGINE": str(engine.process.pid)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_ENDS_WITHIN_S,
            check=False,
        )
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout
    assert " skipped" not in run.stdout
