"""Plans of documents that another package brings."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_kmigrate.judging.planning.plan import plan, with_suites
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.plugin import planning
from pytest_kmigrate.recording.sources import digest_of_test
from tests.brought import ROW, installed

CODE = "from pytest_kmigrate.model.document import Document\nDOCUMENT = Document('toy', 'A toy.')\n"
TEST = '''"""Facts about toys."""

import pytest

from pytest_kmigrate import Kill, checks, targets


@pytest.mark.requirement("TOY-one")
@pytest.mark.topology("kraft-broker3-controller3")
def test_one(cluster, inject, verify):
    """It is one."""
    inject(Kill(targets.active_controller()))
    verify(checks.no_unexpected_death())
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages with ``toys``, which has a document and a suite of one test."""
    suite = tmp_path / "site" / "toys" / "suite"
    suite.mkdir(parents=True)
    for folder in (suite.parent, suite):
        (folder / "__init__.py").write_text("")
    (suite.parent / "requirements.toml").write_text(ROW)
    (suite.parent / "document.py").write_text(CODE)
    (suite / "test_one.py").write_text(TEST)
    return tmp_path / "site"


def written(site: Path) -> subprocess.CompletedProcess[str]:
    """What the writer of plans prints, with the package installed."""
    command = [sys.executable, "-m", "pytest_kmigrate.plugin.planning", "toy"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=site, env=environment)


@pytest.mark.slow
def test_the_plan_of_a_brought_document_is_written_from_its_suite(site: Path) -> None:
    """Its tests, faults and checks; the digest changes with any file of the document, as no harness has its checks."""
    with installed(site, "toy = toys"):
        assert "toy" in with_suites()
        with pytest.raises(
            WrongUseError, match=r"toys/plan.json: expected the plan of toy, got none: python -m .* toy"
        ):
            plan("toy")
        made = written(site)
        assert made.returncode == 0, made.stderr
        (test,) = plan("toy").tests.values()
        assert (test.test, test.requirements, test.runs) == ("toys.suite.test_one::test_one", ("TOY-one",), 3)
        assert [each.text for each in test.faults] == ["kill(active-controller)"]
        assert [each.name for each in test.checks] == ["no_unexpected_death"]
        assert test.source_digest == digest_of_test(site / "toys" / "suite" / "test_one.py")
        before = plan("toy").digest
        (site / "toys" / "document.py").write_text(f"{CODE}# changed\n")
        plan.cache_clear()
        assert plan("toy").digest != before


@pytest.mark.parametrize(
    ("profile", "refused"),
    [
        ("toy", "profile toy: expected test files in SITE/toys/suite, got none: add them"),
        ("toys", "profile: expected one of kip-"),
    ],
)
def test_a_profile_without_a_suite_is_named(
    site: Path, monkeypatch: pytest.MonkeyPatch, profile: str, refused: str
) -> None:
    """With the folder in which its tests are expected, or the profiles that there are."""
    (site / "toys" / "suite" / "test_one.py").unlink()
    monkeypatch.setattr(sys, "argv", ["planning", profile])
    with installed(site, "toy = toys"):
        assert "toy" not in with_suites()
        with pytest.raises(SystemExit, match=f"^{re.escape(refused.replace('SITE', str(site)))}"):
            planning.main()
