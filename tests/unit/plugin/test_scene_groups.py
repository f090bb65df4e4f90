"""Scenes under pytest-xdist."""

import pytest

pytest_plugins = ["pytester"]
WHERE = """
import os, pathlib, pytest

@pytest.mark.scene
class TestScene:
    @pytest.mark.parametrize("number", range(4))
    def test_it(self, request, number, topology): note("scene", request)

@pytest.mark.parametrize("number", range(4))
def test_alone(request, number): note("alone", request)

def note(kind, request):
    worker = os.environ["PYTEST_XDIST_WORKER"]
    pathlib.Path(f"{kind}-{request.node.nodeid.rpartition('::')[2]}-{worker}").touch()
"""


@pytest.mark.slow
def test_a_worker_gets_a_whole_scene(pytester: pytest.Pytester) -> None:
    """By ``--dist loadgroup``; the names of tests stay as they are, for ``--lf``, say."""
    pytester.makepyfile(test_scene=WHERE)
    result = pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup", "-v", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=8)
    notes = [path.name.split("-") for path in pytester.path.iterdir() if "gw" in path.name]
    assert len({worker for kind, _, worker in notes if kind == "scene"}) == 1
    assert {name for kind, name, _ in notes if kind == "scene"} == {f"test_it[{number}]" for number in range(4)}
    assert "@scene" not in result.stdout.str()
