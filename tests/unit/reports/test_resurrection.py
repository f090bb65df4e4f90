"""Which runs prove that real bugs are found on a broken release and gone on a fixed one."""

import json
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.resurrection import ENOUGH, Seen, is_proof, main, seen_in

BROKEN = {f"t.py::test_{number}": Seen(Outcome.VIOLATES, (f"KAFKA-{number}",)) for number in range(ENOUGH)}
FIXED = {test: Seen(Outcome.CONFORMS, ()) for test in BROKEN}


def test_enough_bugs_on_one_and_none_on_the_other_is_proof() -> None:
    """The very same tests, red by name and then green."""
    assert is_proof(BROKEN, FIXED)


def test_too_few_bugs_are_no_proof() -> None:
    """One bug seen by every test counts once."""
    assert not is_proof(dict.fromkeys(BROKEN, Seen(Outcome.VIOLATES, ("KAFKA-1",))), FIXED)


@pytest.mark.parametrize("outcome", [Outcome.VIOLATES, Outcome.INCONCLUSIVE])
def test_a_fixed_release_that_does_not_conform_is_no_proof(outcome: Outcome) -> None:
    """Then the test may be red for a reason of its own."""
    assert not is_proof(BROKEN, {**FIXED, "t.py::test_0": Seen(outcome, ())})


def test_a_test_that_was_not_run_on_the_fixed_release_is_no_proof() -> None:
    """Red alone proves nothing."""
    assert not is_proof(BROKEN, {test: seen for test, seen in FIXED.items() if test != "t.py::test_0"})


def test_runs_are_read_with_their_bugs(tmp_path: Path) -> None:
    """The worst outcome of a run, and every bug its verdicts name, once."""
    bug = "KAFKA-16171"
    _write(tmp_path, _verdict(), _verdict("VIOLATES", bug, bug))

    assert seen_in(tmp_path, "3.9.1") == {"t.py::test_it": Seen(Outcome.VIOLATES, (bug,))}


def test_a_bug_that_the_fixed_release_has_too_proves_nothing(tmp_path: Path) -> None:
    """It is not counted, and what it explains is no red of the fixed release; what it does not explain is."""
    explained, other = _verdict("VIOLATES", "kmigrate-6"), _verdict("VIOLATES")

    _write(tmp_path / "explained", _verdict(), explained)
    _write(tmp_path / "other", _verdict(), explained, other)

    assert seen_in(tmp_path / "explained", "3.9.1") == {"t.py::test_it": Seen(Outcome.CONFORMS, (), ("kmigrate-6",))}
    assert seen_in(tmp_path / "other", "3.9.1")["t.py::test_it"].outcome is Outcome.VIOLATES


def _verdict(outcome: str = "CONFORMS", *bugs: str) -> dict[str, object]:
    return {"outcome": outcome, "known_bugs": bugs}


def _write(runs: Path, *verdicts: dict[str, object]) -> None:
    run = runs / "run-1"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"test_id": "t.py::test_it"}))
    (run / "verdicts.jsonl").write_text("".join(json.dumps(verdict) + "\n" for verdict in verdicts))


def test_no_runs_are_told(tmp_path: Path) -> None:
    """A folder without runs is a mistake, not an empty table."""
    with pytest.raises(RunFolderError, match="expected folders of runs"):
        main(str(tmp_path), "3.6.0", "3.9.1")
