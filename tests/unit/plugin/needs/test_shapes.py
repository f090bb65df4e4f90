"""Tests under ``--kmigrate-topology``: those of another shape do not run, and that is said before."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kmigrate.recording.identity import SUITES

pytest_plugins = ["pytester"]

COUNTED = {"brokers", "controllers", "zookeepers"}


def test_a_test_that_is_about_another_shape_is_not_applicable(pytester: pytest.Pytester) -> None:
    """Before any cluster is started, with what remains and what it takes; one of no shape in particular runs."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.topology("zk1-broker3-controller1", controllers=1)
        def test_one_controller(topology): pass

        @pytest.mark.topology("zk1-broker1-spares", subject=True)
        def test_spares(topology): pass

        @pytest.mark.topology("zk1-broker1-spares")
        def test_any(topology): pass

        @pytest.mark.topology(brokers=3)
        class TestThree:
            @pytest.mark.topology("zk1-broker3-controller1")
            def test_three(self, topology): pass
        """
    )
    given = ("-rs", "-p", "no:cacheprovider", "--kmigrate-topology", "zk1-broker3-controller3")
    result = pytester.runpytest_inprocess(*given)
    result.assert_outcomes(passed=2, skipped=2)
    result.stdout.fnmatch_lines(
        [
            "kmigrate: on zk1-broker3-controller3 (7 nodes) 2 tests of 4 can run: 2 clusters, roughly * minute*",
            "kmigrate:   test_a_test_that_is_about_another_shape_is_not_applicable.py 2",
            "kmigrate: 2 tests written for another shape (-rs lists each):",
            "kmigrate:   1 needs exactly 1 controller (not 3)",
            "SKIPPED*NOT_APPLICABLE: not on zk1-broker3-controller3: needs exactly 1 controller (not 3)",
            'SKIPPED*NOT_APPLICABLE: not on zk1-broker3-controller3: needs broker-1, broker-2 with start = "later"*',
        ]
    )
    assert not (pytester.path / "reports").exists()


def test_the_numbers_of_brokers_are_names_of_theirs(pytester: pytest.Pytester) -> None:
    """A cluster whose brokers are counted from 1 has no broker 0, which an expectation or a helper waits for."""
    pytester.makefile(
        ".toml",
        shape='name = "ids"\nkafka = "3.9.1"\n[zookeeper]\ncount = 1\n[broker]\ncount = 3\nfirst_id = 1\n'
        "[controller]\ncount = 3\nfirst_id = 100\n",
    )
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.topology("zk1-broker3-controller3", subject=True)

        def _all(): return lambda: [0, 1, 2]

        def test_numbers(topology): assert _all()

        def test_set(topology): assert {0, 1, 2} - {7}

        def test_name(topology): assert [f"broker-{each}" for each in (5, 6)]

        def test_none(topology): assert [0, 1]
        """
    )
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider", "--kmigrate-topology", "shape.toml")
    result.assert_outcomes(passed=1, skipped=3)
    result.stdout.fnmatch_lines(["SKIPPED*not on ids: needs the nodes that it calls by name (broker-0)"])


@pytest.mark.parametrize("wrong", ["brokers='3'", "brokers=0", "nodes=3", "subject=False", ""])
def test_a_marker_that_holds_something_else_is_wrong_use(pytester: pytest.Pytester, wrong: str) -> None:
    """With what it may hold."""
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.topology({wrong})\ndef test_it(topology): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *marker topology: expected one text, got *: write * (beside it or alone: *)"])


@pytest.mark.slow
def test_a_test_of_a_suite_that_counts_on_three_brokers_says_so() -> None:
    """On a cluster of five its expectation would be wrong, and Kafka would be blamed."""
    silent = [f"{file.name}: {test}" for file in sorted(SUITES.glob("*/test_*.py")) for test in _silent_in(file)]
    assert silent == []


def _silent_in(file: Path) -> Iterator[str]:
    """The tests of a file whose code has a literal about all of three nodes, and no marker with their number."""
    module = ast.parse(file.read_text(encoding="utf-8"))
    functions = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    marked = any(_is_counted(each) for each in module.body if isinstance(each, ast.Assign))
    for holder in (module, *(each for each in module.body if isinstance(each, ast.ClassDef))):
        of_class = marked or (isinstance(holder, ast.ClassDef) and any(map(_is_counted, holder.decorator_list)))
        for test in holder.body:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                is_said = of_class or any(map(_is_counted, ast.walk(test))) or _has_parametrized_counts(module, test)
                if not is_said and _counts_on_three(test, functions):
                    yield test.name


def _is_counted(node: ast.AST) -> bool:
    return "mark.topology" in ast.unparse(node) and any(each in ast.unparse(node) for each in COUNTED)


def _has_parametrized_counts(module: ast.Module, test: ast.FunctionDef) -> bool:
    """Whether the parameters of a test, which stand above it, have such markers."""
    named = {node.id for each in test.decorator_list for node in ast.walk(each) if isinstance(node, ast.Name)}
    tables = [each for each in module.body if isinstance(each, ast.Assign) and _is_counted(each)]
    return any(isinstance(target, ast.Name) and target.id in named for each in tables for target in each.targets)


def _counts_on_three(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef], depth: int = 3) -> bool:
    for node in ast.walk(function):
        is_times_3 = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and ast.unparse(node.right) == "3"
        is_all = isinstance(node, ast.List | ast.Tuple | ast.Set) and ast.unparse(node)[1:-1] == "0, 1, 2"
        if is_times_3 or is_all:
            return True
    called = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & functions.keys() - {function.name}
    return depth > 0 and any(_counts_on_three(functions[each], functions, depth - 1) for each in called)
