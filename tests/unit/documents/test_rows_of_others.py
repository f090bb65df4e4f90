"""Files of a document that another package brings: what is wrong with one is one clear error, wherever it is met."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import check_data, deviations, requirements
from pytest_kmigrate.cli import main
from pytest_kmigrate.model.errors import WrongUseError
from tests.brought import ROW, installed

pytest_plugins = ["pytester"]

REQUIREMENT = ROW.replace('"conforms"', '"deviates: it is two"')
DEVIATION = """[[deviation]]
id = "two-toys"
requirement = "TOY-one"
seen = "It is two"
observed = "^two$"
bound = "exact"
class = "departure"
severity = 1
consequence = "None."
broken = [">=3.4.0,<=3.9.2"]
when = "always"
"""
BUG = """[[bug]]
id = "TOY-bug"
area = "toys"
symptom = "It breaks"
broken = [">=3.4.0,<=3.9.2"]
fixed_in = ["4.0.0"]
severity = 1
class = "defect"
consequence = "A toy is lost."
ticket = "KAFKA-1"
reachability = "race"
verified = true
"""
MISTAKE = """[[mistake]]
id = "broken-toy"
shows = "broken"
advice = "Repair it."
"""
FILES = {
    "requirements.toml": REQUIREMENT,
    "deviations.toml": DEVIATION,
    "known-bugs.toml": BUG,
    "mistakes.toml": MISTAKE,
}

Bring = Callable[..., None]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A package ``toys`` with all files of a document."""
    (tmp_path / "toys").mkdir()
    code = "from pytest_kmigrate.model.document import Document\nDOCUMENT = Document('toy', 'A toy.')\n"
    for name, text in {**FILES, "__init__.py": "", "document.py": code}.items():
        (tmp_path / "toys" / name).write_text(text, encoding="utf-8")
    return tmp_path


def changed(site: Path, file: str, old: str, new: str) -> None:
    """One of its files with another text."""
    path = site / "toys" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1), encoding="utf-8")


WRONG = {
    "deviations.toml": [
        ("TOY-one", "TOY-won", r'two-toys: requirement: expected a requirement of toy, got "TOY-won"'),
        ("^two$", "^(two$", r'two-toys: observed: expected a regular expression, got "\^\(two\$" \('),
        ("seen", "saw", "two-toys: saw: expected one of id, .*; got an unknown key.*\n.*seen: expected"),
        ('bound = "exact"\n', "", "two-toys: bound: expected text, got nothing"),
        ('"exact"', '"a few"', r'two-toys: bound: expected "exact" or comparisons .*, got "a few"'),
        ('"exact"', '"toys < 3"', "two-toys: bound: expected comparisons of nothing, got those of toys"),
        ("^two$", "two$", r'two-toys: bound: expected an expression that begins with "\^"'),
        ('"^two$"', r"'^\d+ toys$'", "two-toys: bound: expected .* got an expression that takes any number"),
        ('"^two$"', r"'^(?P<toys>\d+) toys$'", "two-toys: bound: expected comparisons of toys, got those of nothing"),
        ("when", 'ticket = "soon"\nwhen', 'two-toys: ticket: expected a ticket such as .*, got "soon"'),
        ("when", "ticket = 1\nwhen", "two-toys: ticket: expected text, got 1"),
        ("always", "often", r'two-toys: when: expected "always" or "race", got "often"'),
        (">=3.4.0", ">=4.0.0", r'two-toys: broken: expected ranges .*got ">=4.0.0,<=3.9.2", which holds no'),
        ('[">=3.4.0,<=3.9.2"]', '["soon"]', r'two-toys: broken: expected ranges .*got "soon"'),
        ('[">=3.4.0,<=3.9.2"]', '[" "]', r'two-toys: broken: expected ranges .*got " ", which names no'),
        ('[">=3.4.0,<=3.9.2"]', "[]", r"two-toys: broken: expected ranges .*got none"),
        ('[">=3.4.0,<=3.9.2"]', '">=3.4.0"', r'two-toys: broken: expected a list of texts, got ">=3.4.0"'),
        (DEVIATION, DEVIATION * 2, "two-toys: id: expected one that no other row has, .* in the same"),
        ("two-toys", "TOY-bug", "TOY-bug: id: expected .* that of a row in .*/toys/known-bugs.toml"),
        ("[[dev", "[[more]]\n[[dev", r"expected \[\[deviation\]\] tables, got the unknown more; docs/"),
        (DEVIATION, "", r"expected \[\[deviation\]\] tables, got none; docs/"),
    ],
    "known-bugs.toml": [
        ("severity = 1", "severity = 6", "TOY-bug: severity: expected 1 to 5, got 6"),
        ('class = "defect"\n', "", 'TOY-bug: class: expected "defect" or "departure" or "remark", got nothing'),
        ('"defect"', '"fault"', 'TOY-bug: class: expected "defect" or "departure" or "remark", got "fault"'),
        ('"KAFKA-1"', '"1"', 'TOY-bug: ticket: expected a ticket such as "KAFKA-17146" or .*, got "1"'),
        ("severity = 1", "severity = true", "TOY-bug: severity: expected a whole number, got true"),
        ("verified", "is_verified", "TOY-bug: is_verified: expected one of .*; did you mean"),
        ("4.0.0", "later", r'TOY-bug: fixed_in: expected releases such as "3.6.2", got "later"'),
        ("TOY-bug", "kmigrate-1", "kmigrate-1: id: expected one .* that of a row in .*/kip_866/kno"),
        ('symptom = "It breaks"', 'symptom = ""', 'TOY-bug: symptom: expected text, got ""'),
        ('id = "TOY-bug"\n', "", "a row without id: id: expected text, got nothing"),
    ],
    "requirements.toml": [
        ("MUST", "SHALL", 'TOY-one: level: expected "MUST" or "SHOULD" or "MAY", got "SHALL"'),
        (REQUIREMENT, REQUIREMENT * 2, "TOY-one: id: expected one that no other row has"),
        ("TOY-one", "K866-DW-multi", "K866-DW-multi: id: expected one .* in .*/kip_866/req"),
        ("area", 'same_as = ["K866-won"]\narea', 'TOY-one: same_as: expected a requirement of .*got "K866-won"'),
        ("area", 'same_as = "K866-DW-multi"\narea', 'TOY-one: same_as: expected a list of texts, got "K866-DW-multi"'),
        ("area", 'covered_by = "TOY-one"\narea', "TOY-one: covered_by: expected the id of another"),
    ],
    "mistakes.toml": [
        ('"broken"', '"("', "broken-toy: shows: expected a regular expression"),
        ("advice", "advise", "broken-toy: advise: expected one of id, shows, advice; got an unknown key"),
    ],
}  # fmt: skip
EACH = [(file, *each) for file, wrong in WRONG.items() for each in wrong]


@pytest.mark.parametrize(("file", "old", "new", "reported"), EACH, ids=[each[-1][:40] for each in EACH])
def test_a_wrong_row_is_reported_with_file_id_and_key(site: Path, file: str, old: str, new: str, reported: str) -> None:
    """What was expected, what was found, and what to do."""
    changed(site, file, old, new)
    if new in ("TOY-one", "K866-DW-multi"):
        changed(site, "deviations.toml", "TOY-one", new)
    with installed(site, "toy = toys"), pytest.raises(WrongUseError, match=reported) as error:
        check_data("toy")
    assert str(site / "toys" / file) in str(error.value)
    assert re.search("correct the file, or uninstall what brings it|docs/adding-a-document.md says", str(error.value))


def test_right_files_are_read_also_with_a_byte_order_mark(site: Path) -> None:
    """As some editors write it."""
    for file in FILES:
        changed(site, file, "[[", "\ufeff[[")
    with installed(site, "toy = toys"):
        check_data("toy")
        assert [each.id for each in requirements("toy")] == ["TOY-one"]
        assert [each.id for each in deviations("toy")] == ["two-toys"]


def test_a_command_ends_as_wrong_use(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And not as a defect of this package."""
    changed(site, "requirements.toml", "MUST", "SHALL")
    with installed(site, "toy = toys"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["kmigrate", "requirements", "--profile", "toy"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == WrongUseError.exit_status
    assert "TOY-one: level: expected" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("-n", "2")])
@pytest.mark.parametrize("file", ["deviations.toml", "mistakes.toml"])
def test_pytest_ends_as_wrong_use(pytester: pytest.Pytester, site: Path, words: tuple[str, ...], file: str) -> None:
    """Before any test runs, with workers too; the document need not be the profile for its ids to be in the way."""
    changed(site, file, "[[", 'what = "this"\n[[')
    info = site / "toys-1.2.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.2\n")
    info.joinpath("entry_points.txt").write_text("[kmigrate.documents]\ntoy = toys\n")
    pytester.makepyfile("def test_one(cluster): pass\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site))
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--kmigrate-profile", "toy", *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {site}/toys/{file}: expected *tables, got the unknown what; *"])
