"""Completion of ``kmigrate`` in shells: each asks the command itself, by variables of its own."""

import os
import subprocess
import sys

import pytest

ASKED = {
    "bash": {"_KMIGRATE_COMPLETE": "complete_bash", "COMP_WORDS": "kmigrate ju", "COMP_CWORD": "1"},
    "zsh": {"_KMIGRATE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "kmigrate ju"},
    "fish": {
        "_KMIGRATE_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": "kmigrate ju",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    },
}


def _answer(variables: dict[str, str]) -> str:
    code = "import sys; sys.argv = ['kmigrate']; from pytest_kmigrate.cli import main; main()"
    environment = {**os.environ, **variables}
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    return asked.stdout


@pytest.mark.parametrize("shell", ASKED)
@pytest.mark.slow
def test_a_shell_completes_a_command(shell: str) -> None:
    """The one command that begins so."""
    answer = _answer(ASKED[shell])
    assert "judge" in answer
    assert "analyze" not in answer
