"""Facts about what a session that does not use this package pays for it."""

import pytest

pytest_plugins = ["pytester"]
AT_THE_END = """
import sys

def pytest_unconfigure():
    ours = {name for name in sys.modules if name.startswith("pytest_kmigrate")}
    heavy = sorted(sys.modules.keys() & {"packaging", "tomllib", "numpy", "pydantic", "psutil", "pyarrow", "yaml"})
    print("LOADED", *sorted(ours), *heavy)
"""
LIGHT = (
    "model", "model.capabilities", "model.errors", "model.exit_status", "model.provider_names", "plugin",
    "plugin.calling", "plugin.display", "plugin.fixtures", "plugin.handing_over", "plugin.hooks", "plugin.identity",
    "plugin.marks", "plugin.options", "plugin.starting", "plugin.terminal",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("test", ["def test_it(): pass", "def test_it(nothing): pass", "def test_it(): assert False"])
def test_a_session_without_tests_of_ours_loads_almost_nothing(pytester: pytest.Pytester, test: str) -> None:
    """No catalogue, no document, and no package that they are read with; whatever becomes of its tests."""
    pytester.makeconftest(AT_THE_END)
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.nightly\n@pytest.mark.requirement('REQ-1')\n{test}\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-s")
    (line,) = [each for each in result.outlines if each.startswith("LOADED")]
    assert line.split()[1:] == sorted(["pytest_kmigrate", *(f"pytest_kmigrate.{each}" for each in LIGHT)])
