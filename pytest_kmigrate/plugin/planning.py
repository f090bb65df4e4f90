"""Writes the plan of a document's suite from its tests: ``python -m pytest_kmigrate.plugin.planning kip-999``.

Without a profile it writes those of all documents that have a suite; ``--check`` writes nothing and names stale ones.

A plan names, for each test, what it needs, which releases run it, and what a run of it has to show: requirements,
topology, start, phases, checks with their arguments, faults, expectations. Tests are read, not run: an expression that
needs a live cluster is left open, and any value fulfils it.
"""

import ast
import builtins
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from enum import Enum
from functools import cache
from io import StringIO
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from pytest_kmigrate.catalogue import is_before, place_of
from pytest_kmigrate.distributions.releases import known_releases
from pytest_kmigrate.faults.effect import effect_name
from pytest_kmigrate.judging.planning.plan import plan_file, suite_of, with_suites
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.document import name_of
from pytest_kmigrate.model.errors import UnfitReleaseError, WrongUseError
from pytest_kmigrate.model.expectation import Expectation
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.plugin.asking import chosen_topology, marked, needs_cluster, start_of
from pytest_kmigrate.plugin.collecting import check_way
from pytest_kmigrate.plugin.identity import identity_of
from pytest_kmigrate.plugin.needs import needs_of
from pytest_kmigrate.plugin.options import options_of
from pytest_kmigrate.providers.choosing import provider_named, topology_named

Entry = dict[str, Any]
_RUNS_UNDER_CHANCE, _RUNS = 3, 1
_SEEDED = {"workload", "cluster_metadata"}
_ENDING = {"expect_end", "may_end", "refused", "started"}
"""Fixtures that draw by the seed of the run, and record what they drew."""
_EXPECTING = ("expect", "claim", "expect_to_stay")
"""Fixtures whose first argument is the name of what a test expects."""


class _Collector:
    """Keeps the collected tests."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """All are there."""
        self.items = [item for item in session.items if needs_cluster(item)]


def plan_of(profile: str) -> str:
    """The plan of a profile's suite as JSON, one test a line."""
    collector, suite = _Collector(), suite_of(profile)
    quiet = ["--collect-only", "-qqq", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    with redirect_stdout(StringIO()) as printed:
        status = pytest.main([*quiet, f"--kmigrate-profile={profile}", str(suite)], [collector])
    if status:
        raise SystemExit(f"{printed.getvalue()}{suite}: pytest cannot collect it")
    entries = sorted(map(_entry, collector.items), key=lambda entry: str(entry["test"]))
    lines = ",\n".join(json.dumps(entry, sort_keys=True) for entry in entries)
    return f'{{"profile": "{profile}", "tests": [\n{lines}\n]}}\n'


def _entry(item: pytest.Item) -> Entry:
    assert isinstance(item, pytest.Function)
    known = {**item.function.__globals__, **getattr(getattr(item, "callspec", None), "params", {})}
    reading = _Reading(item, known)
    reading.read(item.function)
    start = start_of(item)
    return {
        "test": identity_of(item),
        "requirements": sorted(marked(item, "requirement")),
        "topology": Path(chosen_topology(item)).stem,
        "starts_at": start.state if start else None,
        "needs": sorted(needs_of(item)),
        "checks": reading.checks,
        "faults": reading.faults,
        "phases": list(dict.fromkeys(reading.phases)),
        "expectations": list(dict.fromkeys(reading.expectations)),
        "ends": not _ENDING.isdisjoint(item.fixturenames),
        "seeded": not _SEEDED.isdisjoint(item.fixturenames),
        "runs": _RUNS_UNDER_CHANCE if reading.faults else _RUNS,
        **_releases_of(item),
    }


def _releases_of(item: pytest.Function) -> Entry:
    """The newest releases in a row that can run a test: the first of them, and the first after them; None: no bound."""
    known = known_releases()
    after = next(at for at in range(len(known), 0, -1) if _runs_on(item, known[at - 1]))
    first = next((at for at in range(after - 1, 0, -1) if not _runs_on(item, known[at - 1])), 0)
    return {"since": known[first] if first else None, "until": known[after] if after < len(known) else None}


def _runs_on(item: pytest.Function, release: str) -> bool:
    """By the markers of the test, and by what its topology and the states that it names can be on a release."""
    if any(is_before(release, each) for each in marked(item, "since")):
        return False
    if not all(is_before(release, each) for each in marked(item, "until")):
        return False
    try:
        check_way(item, _described(chosen_topology(item), release), options_of(item.config).profile)
    except UnfitReleaseError:
        return False
    return True


@cache
def _described(topology: str, release: str) -> Topology:
    return topology_named(provider_named("process", _no_progress, None, None), _no_progress, topology, release)


def _no_progress(_: str) -> None:
    pass


class _Reading:
    """What one test asks for, as its source has it."""

    def __init__(self, item: pytest.Function, known: Mapping[str, object]) -> None:
        self._item = item
        self._known = dict(known)
        self.checks: list[Entry] = []
        self.faults: list[Entry] = []
        self.phases: list[str] = []
        self.expectations: list[str] = []

    def read(self, function: FunctionType) -> None:
        """Read a test, and the functions of its module that it hands ``inject`` or ``expect`` to."""
        for node in _in_order(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._remember(node.targets[0].id, node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._call(node, node.func.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "advance_to":
                self._advance(node.args[0])

    def _call(self, node: ast.Call, name: str) -> None:
        if name == "inject":
            self.faults.append(self._fault(node.args[0]))
        elif name in self._item.fixturenames and name.startswith("verify"):
            self.checks += self._asked(name, node)
        elif name in _EXPECTING:
            self._expect(node.args[0])
        elif any(isinstance(each, ast.Name) and each.id in ("inject", *_EXPECTING) for each in node.args):
            helper = self._known.get(name)
            assert isinstance(helper, FunctionType), f"{self._item.nodeid}: {name} is no function of its module"
            self.read(helper)

    def _expect(self, name: ast.expr) -> None:
        """One that a test has a fixed name for; a name that is made of values is left open."""
        is_known, value = self._evaluated(name)
        if is_known and isinstance(value, str | Expectation):
            self.expectations.append(value.name if isinstance(value, Expectation) else value)

    def _advance(self, phase: ast.expr) -> None:
        is_known, value = self._evaluated(phase)
        if is_known and isinstance(value, str | Enum):
            self.phases.append(name_of(value))

    def _remember(self, name: str, value: ast.expr) -> None:
        self._known.pop(name, None)
        is_known, evaluated = self._evaluated(value)
        if is_known:
            self._known[name] = evaluated

    def _fault(self, expression: ast.expr) -> Entry:
        is_known, fault = self._evaluated(expression)
        if is_known:
            return {"effect": effect_name(type(fault)), "fault": str(fault)}
        assert isinstance(expression, ast.Call), f"{self._item.nodeid}: {ast.unparse(expression)} is no known fault"
        effect = self._evaluated(expression.func)[1]
        return {"effect": effect_name(effect) if isinstance(effect, type) else None, "fault": None}

    def _asked(self, name: str, node: ast.Call) -> list[Entry]:
        """The checks that a call of ``verify``, or of a fixture that adds checks to it, asks for."""
        asked: list[object] = []
        named = {each.arg: self._evaluated(each.value)[1] for each in node.keywords if each.arg}
        given = [self._check(each) for each in node.args]
        if name == "verify":
            asked += given
        else:
            definitions = self._item._fixtureinfo.name2fixturedefs  # noqa: SLF001 - it has no public name
            wrapper: Any = definitions[name][-1].func(verify=lambda *all_: asked.extend(all_))
            wrapper(*given, **named)
        return [_plain(each) for each in asked]

    def _check(self, expression: ast.expr) -> object:
        is_known, check = self._evaluated(expression)
        if is_known:
            return check
        assert isinstance(expression, ast.Call), f"{self._item.nodeid}: {ast.unparse(expression)} is no known check"
        return {"name": ast.unparse(expression.func).rpartition(".")[2], "arguments": None}

    def _evaluated(self, expression: ast.expr) -> tuple[bool, object]:
        names = {each.id for each in ast.walk(expression) if isinstance(each, ast.Name)}
        if not all(name in self._known or hasattr(builtins, name) for name in names):
            return False, None
        code = compile(ast.Expression(expression), self._item.nodeid, "eval")
        return True, eval(code, {}, self._known)  # noqa: S307 - the user's own test, which pytest has imported


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes, in the order of the source."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.With):
            yield node
        yield from _in_order(node)


def _plain(check: object) -> Entry:
    if isinstance(check, Check):
        arguments = json.loads(json.dumps(dict(check.arguments)))
        return {"name": check.name, "arguments": arguments}
    assert isinstance(check, dict)
    return check


def main() -> None:
    """Write the plans of the profiles that the command line names, or of all; with ``--check`` name stale ones."""
    asked, stale = [each for each in sys.argv[1:] if each != "--check"], []
    try:
        for each in asked:
            place_of(each)
    except WrongUseError as error:
        raise SystemExit(str(error)) from error
    if without := sorted({*asked} - {*with_suites()}):
        expected = f"expected test files in {suite_of(without[0])}, got none: add them"
        raise SystemExit(f"profile {without[0]}: {expected}; docs/adding-a-document.md says how")
    for profile in asked or with_suites():
        plan, file = plan_of(profile), plan_file(profile)
        if "--check" not in sys.argv:
            file.write_text(plan, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != plan:
            stale.append(file.name)
    if stale:
        raise SystemExit(f"stale: {', '.join(stale)}: run make docs")


if __name__ == "__main__":
    main()
