"""The page of a document's requirements against releases."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.judging.matrix import main
from pytest_kmigrate.model.verdict import Kind, Violation, conforms, violates
from tests.unit.judging.test_coverage import recorded

CONFORMING, DEVIATING, UNASKED = [
    each.id for each in requirements("kip-866") if each.covered_by is None and each.untestable is None
][:3]


def test_each_requirement_has_a_row_with_its_state_on_each_release(tmp_path: Path) -> None:
    """Of several folders of one release together; how many runs there were, and what explains a violation."""
    red = replace(violates(Kind.SAFETY, [Violation("x", "y")]).by("b"), known_bugs=("KAFKA-1",)).speaking_for(DEVIATING)
    green = conforms("all").by("a").speaking_for(CONFORMING)
    recorded(tmp_path / "old" / "one", green, red)
    recorded(tmp_path / "new" / "one", green)
    recorded(tmp_path / "more" / "one", green, conforms("all").by("b").speaking_for(DEVIATING))
    folders = [
        f"{release}={tmp_path / name}" for release, name in (("3.8.1", "old"), ("3.9.1", "new"), ("3.9.1", "more"))
    ]

    assert main("kip-866", str(tmp_path / "docs" / "kip-866.md"), *folders) == 0
    lines = (tmp_path / "docs" / "kip-866.md").read_text().splitlines()
    assert "| `3.9.1` | 2 | 0 | 0 | 0 | 0 | 0 | 2 | 0 | " in "\n".join(lines)
    assert "| `3.8.1` | 1 | 0 | 1 | 0 | 0 | 0 | 1 | 0 | " in "\n".join(lines)
    assert _row(lines, CONFORMING) == ["conforms (1)", "conforms (2)"]
    assert _row(lines, DEVIATING) == ["defect: KAFKA-1 (1 of 1)", "conforms (1)"]
    assert _row(lines, UNASKED) == ["not judged", "not judged"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["3.9.1"], "expected RELEASE=RUNS"),
        ([], "got nothing"),
        (["3.9.1=nowhere"], "expected a folder of"),
    ],
)
def test_without_runs_there_is_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], said: str
) -> None:
    """One clear error."""
    assert main("kip-866", str(tmp_path / "page.md"), *given) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()


def _row(lines: list[str], requirement: str) -> list[str]:
    row = next(line for line in lines if line.startswith(f"| `{requirement}` |"))
    return [cell.strip() for cell in row.strip("|").split("|")[2:]]
