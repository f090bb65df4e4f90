"""What a run says of itself before it begins."""

from pathlib import Path

from pytest_kmigrate.running.run import RunSettings, _reproduce
from tests.unit.fakes import topology


def test_the_command_that_does_it_again_names_everything_chosen(tmp_path: Path) -> None:
    """Distribution, seed and profile always; topology and rules when the command line chose them."""
    plain = _reproduce(RunSettings(tmp_path, seed=7), topology(kafka="3.9.1"), "t.py::test_it")
    chosen = RunSettings(tmp_path, seed=7, topology="shape.toml", byteman=Path("rules.btm"))

    assert plain == "pytest 't.py::test_it' --kmigrate-kafka 3.9.1 --kmigrate-seed 7 --kmigrate-profile kip-866"
    assert _reproduce(chosen, topology(), "t.py::test_it").endswith(
        " --kmigrate-topology shape.toml --kmigrate-byteman rules.btm"
    )
