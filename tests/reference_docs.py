"""Writes the generated tables of ``docs/reference/`` from the code: ``python -m tests.reference_docs``."""

import enum
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import groupby
from pathlib import Path
from types import ModuleType

import typer.main
from pyspark.sql.types import StructField
from typer.core import TyperCommand, TyperGroup, TyperOption

import pytest_kmigrate
from pytest_kmigrate import crash_points, fixtures, targets, triggers
from pytest_kmigrate.analysis.schemas import TABLES
from pytest_kmigrate.checkers.registry import general_checkers
from pytest_kmigrate.cli import app
from pytest_kmigrate.documents import documents
from pytest_kmigrate.faults.schedules.schema import json_schema
from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.plugin import fixtures as of_plugin
from pytest_kmigrate.plugin.marks import MARKS, PREFIX
from pytest_kmigrate.plugin.options import FLAGS, OPTIONS
from pytest_kmigrate.suites.kip_866 import fixtures as of_kip_866
from tests import faults_and_checks
from tests.run_folder_docs import filled, markdown

FOLDER = Path(__file__).parent.parent / "docs" / "reference"


def pages() -> Mapping[str, Mapping[str, Callable[[], str]]]:
    """File name -> generated section -> what makes its text."""
    return {
        "options.md": {"options": _options, "markers": _markers, "commands": _commands, "exit status": _statuses},
        "fixtures.md": {
            "fixtures of the plugin": lambda: _fixtures_of(of_plugin, _defined_in(of_plugin)),
            "general fixtures": lambda: _fixtures_of(fixtures, fixtures.__all__),
            "fixtures of KIP-866": lambda: _fixtures_of(of_kip_866, set(of_kip_866.__all__) - set(fixtures.__all__)),
        },
        "faults.md": {
            "faults": _faults,
            "targets": lambda: _functions(targets, targets.Target),
            "triggers": lambda: _functions(triggers, triggers.Trigger),
            "crash points": _crash_points,
        },
        "faults-and-checks.md": {"faults and checks": faults_and_checks.page},
        "checks.md": {"general checks": lambda: _checks(general_checkers()), "checks of documents": _of_documents},
        "tables.md": {"tables": _tables},
    }


def render(name: str) -> str:
    """A page of the reference with its generated sections as the code has them now."""
    return filled(FOLDER / name, {section: made() for section, made in pages()[name].items()})


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _prose(documented: object) -> str:
    """A docstring in one line, as a cell holds it; a code block of one line becomes code in the text."""
    return " ".join(markdown(documented).split())


def _options() -> str:
    with_values = ((f"`--kmigrate-{name} {value}`", text, default or "") for name, value, default, text in OPTIONS)
    flags = ((f"`--kmigrate-{name}`", text, "") for name, text in FLAGS)
    return _table(("option", "meaning", "default"), [*with_values, *flags])


def _markers() -> str:
    rows = ((f"`{PREFIX}{name}{arguments}`", f"`{name}`", text) for name, arguments, text in MARKS)
    return _table(("marker", "short name", "meaning"), rows)


def _commands() -> str:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    commands = dict(_named(group, ""))
    rows = ((_usage(name, each), " ".join(str(each.help).split())) for name, each in commands.items())
    return _table(("command", "what it does"), rows) + "\n" + _command_options(commands)


def _named(group: TyperGroup, above: str) -> Iterator[tuple[str, TyperCommand]]:
    """The commands of a group, and of the groups in it, by all their words."""
    for name, each in group.commands.items():
        if isinstance(each, TyperGroup):
            yield from _named(each, f"{above}{name} ")
        elif isinstance(each, TyperCommand):
            yield f"{above}{name}", each


def _statuses() -> str:
    """The docstrings below the members, which only the source has."""
    texts = dict(
        re.findall(r'^    ([A-Z_]+) = .*?^    """(.*?)"""', inspect.getsource(ExitStatus), re.DOTALL | re.MULTILINE)
    )
    return _table(("status", "meaning"), ((str(each.value), " ".join(texts[each.name].split())) for each in ExitStatus))


def _usage(words: str, command: TyperCommand) -> str:
    names = [(str(each.name).upper(), each.required) for each in command.params if not isinstance(each, TyperOption)]
    arguments = [name if is_required else f"[{name}]" for name, is_required in names]
    return f"`{' '.join(['kmigrate', words, *arguments])}`"


def _command_options(commands: Mapping[str, TyperCommand]) -> str:
    rows = [
        (f"`{name}`", f"`{' '.join([each.opts[0], *_value_of(each)])}`", str(each.help))
        for name, command in commands.items()
        for each in command.params
        if isinstance(each, TyperOption)
    ]
    return _table(("command", "option", "meaning"), rows)


def _value_of(option: TyperOption) -> list[str]:
    return [] if option.is_flag else [str(option.metavar)]


def _defined_in(module: ModuleType) -> list[str]:
    return [name for name, each in vars(module).items() if type(each).__name__ == "FixtureFunctionDefinition"]


def _fixtures_of(module: ModuleType, names: Iterable[str]) -> str:
    found = ((name, getattr(module, name)) for name in sorted(names))
    rows = ((f"`{name}`", f"`{type_of(fixture)}`", _prose(fixture)) for name, fixture in found)
    return _table(("fixture", "type", "what it is"), rows)


def type_of(fixture: object) -> str:
    """What a fixture returns, as an annotation has it; a fixture that yields is what it yields."""
    returned = inspect.unwrap(fixture).__annotations__["return"]  # type: ignore[arg-type]  # the function behind it
    written = re.sub(r"['\"]", "", returned if isinstance(returned, str) else inspect.formatannotation(returned))
    written = re.sub(r"\b(?:typing|contextlib|collections\.abc|pytest_kmigrate(?:\.\w+)+)\.", "", written)
    return re.sub(r"^Iterator\[(.*)\]$", r"\1", re.sub(r"ForwardRef\((.*?)\)", r"\1", written))


def _faults() -> str:
    public = (getattr(pytest_kmigrate, name) for name in pytest_kmigrate.__all__)
    classes = [each for each in public if inspect.isclass(each) and is_dataclass(each) and hasattr(each, "applied_to")]
    rows = ((f"`{each.__name__}({_arguments(each)})`", _prose(each)) for each in classes)
    return _table(("fault", "what it does"), rows)


def _arguments(fault: type) -> str:
    positional = [each for each in fields(fault) if not each.kw_only]
    return ", ".join(map(_argument, [*positional, *(each for each in fields(fault) if each.kw_only)]))


def _argument(each: Field[object]) -> str:
    if each.default is MISSING:
        return each.name
    return f"{each.name}={_plain(each.default)}"


def _plain(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    return f"({', '.join(map(_plain, value))})" if isinstance(value, tuple) else repr(value)


def _functions(module: ModuleType, made: type) -> str:
    rows = [
        (f"`{name}({_parameters(each)})`", _prose(each))
        for name, each in vars(module).items()
        if inspect.isfunction(each) and not name.startswith("_") and inspect.signature(each).return_annotation is made
    ]
    return _table((made.__name__.lower(), "meaning"), rows)


def _parameters(function: Callable[..., object], *, first: int = 0) -> str:
    parameters = list(inspect.signature(function).parameters.values())[first:]
    return ", ".join(
        each.name if each.default is each.empty else f"{each.name}={_plain(each.default)}" for each in parameters
    )


def _crash_points() -> str:
    """The docstrings below the module's names, which only its source has."""
    source = inspect.getsource(crash_points)
    texts = dict(re.findall(r'^([A-Z_]+) = .*?^"""(.*?)"""', source, re.DOTALL | re.MULTILINE))
    points = ((name, each) for name, each in vars(crash_points).items() if isinstance(each, CrashPoint))
    rows = ((f"`{name}`", _prose(texts[name]), f"{each.held_s} s") for name, each in points)
    return _table(("crash point", "place", "`Hold` holds for"), rows)


def _of_documents() -> str:
    with_checks = [each for each in documents() if _own_checks(each.checks)]
    return "\n".join(f"### {each.id}\n\n{_checks(_own_checks(each.checks))}" for each in with_checks)


def _own_checks(checks: Iterable[AnyChecker]) -> list[AnyChecker]:
    general = {each.name for each in general_checkers()}
    return [each for each in checks if each.name not in general]


def _checks(checkers: Iterable[AnyChecker]) -> str:
    sections = groupby(checkers, key=lambda each: each.judge.__module__)
    return "\n".join(text for _, found in sections for text in _check_sections(found))


def _check_sections(checkers: Iterable[AnyChecker]) -> Iterator[str]:
    for each in checkers:
        title = f"#### `{each.name}({_parameters(each.judge, first=1)})`"
        yield f"{title}\n\n{markdown(each.judge)}\n\n{_declared(each)}\n"


def _declared(checker: AnyChecker) -> str:
    asked = "where a test asks for it" if checker.in_every_run is None else "in every run that has evidence for it"
    needs = ", ".join(sorted(each.name for each in checker.needs))
    ids = ", ".join(f"`{each}`" for each in checker.requirements)
    lines = [f"- Judged {asked}."]
    lines += [f"- Needs of the provider: {needs}."] if needs else []
    lines += [f"- Speaks for {ids}."] if ids else []
    return "\n".join(lines)


def _tables() -> str:
    rows = ((f"`{name}`", ", ".join(map(_column, columns))) for name, columns in TABLES.items())
    return _table(("table", "columns"), rows)


def _column(column: StructField) -> str:
    """The name of a column with its type, which is left out for text."""
    kind = column.dataType.simpleString()
    return f"`{column.name}`" if kind == "string" else f"`{column.name}` {kind}"


if __name__ == "__main__":
    for page in pages():
        (FOLDER / page).write_text(render(page))
    (FOLDER / "schedule.schema.json").write_text(json.dumps(json_schema(), indent=2) + "\n")
