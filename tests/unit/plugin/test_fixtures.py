"""Facts about which fixtures a session has, and which of them a conftest adds."""

import re

import pytest

from pytest_kmigrate.suites.kip_866 import fixtures as kip_866
from tests.unit.plugin.conftest import Plant

pytest_plugins = ["pytester"]
EVERYWHERE = {"cluster", "cluster_metadata", "expect", "inject", "kmigrate_run", "topology", "verify", "workload"}
OF_A_CONFTEST = f"def test_it({', '.join(kip_866.__all__)}): pass\n"
OURS = re.compile(r"^(\w+) -- \S*pytest_kmigrate/", re.MULTILINE)
"""A line of what ``pytest --fixtures`` lists."""


def test_every_session_has_eight_fixtures_of_ours(pytester: pytest.Pytester) -> None:
    """The plugin alone registers these, and no name that a project may have for something else."""
    pytester.makepyfile("def test_it(): pass\n")
    listed = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--fixtures").stdout.str()
    assert set(OURS.findall(listed)) == EVERYWHERE


def test_the_metadata_of_another_plugin_stays_that_plugins(pytester: pytest.Pytester, plant: Plant) -> None:
    """A fixture as pytest-metadata has it, in a plugin that is loaded before ours: its value, and no cluster."""
    runs = plant()
    pytester.makepyfile(
        strangers="import pytest\n\n@pytest.fixture(scope='session')\ndef metadata(): return {'a': 1}\n"
    )
    pytester.makepyfile("def test_x(metadata): assert metadata == {'a': 1}\n")
    pytester.syspathinsert()
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "strangers").assert_outcomes(passed=1)
    assert runs == []


def test_one_line_in_a_conftest_brings_all_others(pytester: pytest.Pytester) -> None:
    """The conftest may be in any folder; tests in its folder have them, and a test beside it does not."""
    folder = pytester.mkdir("tests") / "kafka"
    folder.mkdir()
    (folder / "conftest.py").write_text("from pytest_kmigrate.suites.kip_866.fixtures import *\n")
    (folder / "test_inside.py").write_text(OF_A_CONFTEST)
    (folder.parent / "test_outside.py").write_text(OF_A_CONFTEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--setup-plan")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*::test_it (fixtures used: admin_of, *", "ERROR tests/test_outside.py::test_it*"])
