"""Which requirements the code of a document carries out."""

from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import Place
from pytest_kmigrate.documents import documents
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.generated import traced as module
from pytest_kmigrate.reports.generated.traced import Traced, carried_out, mended, traced

ROWS = (
    Traced("org.acme.Driver.*", ("K866-DW-async",)),
    Traced("org.acme.Driver.close", ("K866-RB-clean-shutdown-flush", "K866-DW-async")),
)


def test_all_rows_that_name_a_method_count() -> None:
    """A pattern of a class is none of the classes in it, whose names go on with a dollar sign."""
    assert carried_out(ROWS, "org.acme.Driver", "close") == {"K866-DW-async", "K866-RB-clean-shutdown-flush"}
    assert carried_out(ROWS, "org.acme.Driver", "run") == {"K866-DW-async"}
    assert carried_out(ROWS, "org.acme.Driver$Event", "run") == frozenset()


def test_the_rows_of_every_document_name_requirements_of_its_own() -> None:
    """A document need not have any."""
    rows = {each.id: traced(each.id) for each in documents()}
    assert all(rows[each] for each in ("kip-500", "kip-778", "kip-866"))
    assert rows["kip-125"] == ()


def test_a_requirement_of_another_document_is_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the file, the row, and what it has."""
    (tmp_path / "traced.toml").write_text('[[traced]]\nid = "A.b"\nrequirements = ["K866-DW-asinc"]\n')
    monkeypatch.setattr(module, "place_of", lambda _: Place("kip-866", "", tmp_path, "here"))
    with pytest.raises(WrongUseError, match=r"traced\.toml: A\.b: requirements: .*got K866-DW-asinc"):
        traced("kip-866")


def test_a_row_names_what_a_method_mends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known bugs of older releases; one that is none is wrong use."""
    assert "KAFKA-16171" in mended(
        traced("kip-866"), "org.apache.kafka.metadata.migration.KRaftMigrationDriver$BecomeZkControllerEvent", "run"
    )
    assert mended(ROWS, "org.acme.Driver", "close") == frozenset()
    (tmp_path / "traced.toml").write_text('[[traced]]\nid = "A.b"\nrequirements = []\nmends = ["KAFKA-1x"]\n')
    monkeypatch.setattr(module, "place_of", lambda _: Place("kip-866", "", tmp_path, "here"))
    with pytest.raises(WrongUseError, match=r"traced\.toml: A\.b: mends: expected known bugs; got KAFKA-1x"):
        traced("kip-866")
