"""What holds for every document that the package carries, and how those of others are found or refused."""

import re
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import places, profiles, requirement, requirements
from pytest_kmigrate.documents import document, documents
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.reports.planted import mutants_of
from tests.brought import ROW, installed

EVERY = pytest.mark.parametrize("each", documents(), ids=lambda each: each.id)


@EVERY
def test_metrics_are_in_the_catalogue(each: Document) -> None:
    """One that is not would read as None for ever."""
    for metric in each.metrics:
        check_metric(metric)


@EVERY
def test_steps_reach_states_of_the_document(each: Document) -> None:
    """A driver would wait in vain for any other."""
    states = {state.name for state in each.states}
    assert {step.reaches[0] for step in each.procedure} <= states


@pytest.mark.parametrize("profile", ["kip-500", "kip-778"])
def test_mutants_of_a_document_are_sound(profile: str) -> None:
    """Each has a test and a requirement that exist, and an id of its own."""
    mutants = mutants_of(profile)
    assert len({each.id for each in mutants}) == len(mutants) >= 14


CODE = "from pytest_kmigrate.model.document import Document\nDOCUMENT = Document('toy', 'A toy.')\n"
POINT = 'entry point kmigrate.documents "toy = toys" of toys 1.2: '


def brought(site: Path, requirements: str | None = ROW, code: str | None = CODE) -> AbstractContextManager[None]:
    """A package ``toys`` with the files of a document; None: without that file."""
    (site / "toys").mkdir()
    for name, text in (("__init__.py", ""), ("requirements.toml", requirements), ("document.py", code)):
        if text is not None:
            (site / "toys" / name).write_text(text)
    return installed(site, "toy = toys")


def test_another_package_brings_a_document(tmp_path: Path) -> None:
    """By its entry point alone; its data is read without its code."""
    with brought(tmp_path):
        assert profiles()[-1] == "toy"
        assert [each.id for each in requirements("toy")] == ["TOY-one"]
        assert "toys.document" not in sys.modules
        assert document("toy").title == "A toy."
        assert requirement("TOY-one").profile == "toy"
    assert "toy" not in profiles()


@pytest.mark.parametrize(
    ("files", "reported"),
    [
        (
            {"requirements": None},
            r"expected requirements.toml in \S+/toys, got none: add it; docs/adding-a-document.md",
        ),
        ({"requirements": "[[requirement]"}, r"/toys/requirements.toml: expected TOML; "),
        (
            {"requirements": "[requirement]\n"},
            r"/toys/requirements.toml: expected \[\[requirement\]\] tables, got none",
        ),
        (
            {"requirements": ROW.replace("area", "aera")},
            r'/toys/requirements.toml: TOY-one: aera: expected one of id, .*; did you mean "area"\?\n.*area: expected',
        ),
    ],
    ids=["missing", "torn", "no rows", "misspelt"],
)
def test_wrong_data_is_told_with_its_file_and_key(tmp_path: Path, files: dict[str, str | None], reported: str) -> None:
    """What was expected, what was found, and where it says what belongs there."""
    with brought(tmp_path, **files), pytest.raises(WrongUseError, match=reported):
        requirements("toy")


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        (None, "got ModuleNotFoundError: No module named 'toys.document'"),
        ("1 / 0\n", "got ZeroDivisionError: division by zero"),
        ("", "got no DOCUMENT in it"),
        ("DOCUMENT = 3\n", "got 3 as DOCUMENT"),
        (CODE.replace("'toy'", "'yot'"), "got one with the id 'yot'"),
    ],
    ids=["missing", "failing", "empty", "another thing", "another id"],
)
def test_code_that_does_not_load_is_told_with_its_entry_point(tmp_path: Path, code: str | None, reported: str) -> None:
    """And with what to do; the data of the document can be read all the same."""
    expected = "expected toys.document with DOCUMENT, a Document whose id is 'toy'; "
    with brought(tmp_path, code=code):
        with pytest.raises(WrongUseError, match=f"{re.escape(POINT + expected + reported)}: repair it, or uninstall"):
            document("toy")
        assert requirements("toy")


@pytest.mark.parametrize(
    ("points", "reported"),
    [
        (["toy = toys"], f"{POINT}expected a package with the document, got no package of this name: repair or uninst"),
        (["toy = tests.brought"], "got a module without a folder: repair or uninstall it"),
        (["toy = toys.x"], "got ModuleNotFoundError: No module named 'toys'"),
        (["kip-866 = toys"], "profile kip-866: expected one document of this name, got "),
    ],
    ids=["nothing", "no package", "no parent", "taken"],
)
def test_an_entry_point_that_leads_nowhere_is_named(tmp_path: Path, points: list[str], reported: str) -> None:
    """With its package and release; so are two documents of one name."""
    with installed(tmp_path, *points), pytest.raises(WrongUseError, match=re.escape(reported)):
        requirements(points[0].partition(" ")[0])


def test_a_folder_of_ours_that_lacks_its_requirements_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One without any file is no document: version control leaves such."""
    ours = tmp_path / "ours"
    for name in ("kip_998", "kip_999"):
        (ours / name).mkdir(parents=True)
    (ours / "kip_999" / "__init__.py").touch()
    monkeypatch.setattr(places, "_OURS", ours)
    with installed(tmp_path / "site"):
        assert profiles() == ("kip-999",)
        with pytest.raises(WrongUseError, match=r"kip_999: expected requirements.toml in .*, got none: add it"):
            requirements("kip-999")


def test_a_profile_that_is_not_installed_is_told_with_those_that_are() -> None:
    """A run of another machine may be judged here."""
    with pytest.raises(WrongUseError, match=r"expected one of kip-125, .*; got 'toy': .* install the package"):
        document("toy")
