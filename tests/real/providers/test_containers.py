"""The docker provider on an engine of the tests' own."""

import os
from pathlib import Path

from pytest_kmigrate.providers.bench import SMALLEST
from pytest_kmigrate.providers.owned.software import software_for
from tests.real.providers import contract_in_containers
from tests.real.providers.private_engine import private_engine

WHOLE = os.environ.get("KMIGRATE_CONTRACT") == "whole"
"""A nightly run asks for it; otherwise the part that is quick."""
QUICK = "was_ended or stands_still or after_an_error or by_a_cut or killed or lost"


def test_the_contract_of_providers_holds_in_containers(tmp_path: Path) -> None:
    """What is fetched is fetched before: in the engine's namespace there is no way out."""
    software_for(SMALLEST, print)
    chosen = [] if WHOLE else ["-k", QUICK]
    with private_engine() as engine:
        engine.pytest(tmp_path / "state", str(contract_in_containers.__file__), *chosen)
