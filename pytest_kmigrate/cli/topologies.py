"""Commands about topology files: ``topology from``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pytest_kmigrate.topology.importing.importer import Imported

app = typer.Typer(help="Topology files.", no_args_is_help=True)

_STANDARD_NAME = "imported"
_FORCE = "Replace a file that is there."


@app.callback()
def _topology() -> None:
    """Topology files."""


@app.command()
def copy(
    topology: Annotated[str, typer.Argument(help="A shipped topology, or a topology file.", metavar="TOPOLOGY")],
    output: Annotated[Path, typer.Argument(help="The file to write.", metavar="FILE.toml", dir_okay=False)],
    *,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
) -> None:
    """Copy a topology to edit it, with the schema that editors check it by."""
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.topology.importing.toml_text import fit_name
    from pytest_kmigrate.topology.loading import find, load, renamed, text_of

    _must_be_free(output, force=force)
    source = find(topology)
    load(source)
    _write(output, renamed(text_of(source), fit_name(output.stem)))
    say(f"{output}: kmigrate up {output} --dry-run shows it")


@app.command("from")
def from_files(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files of one cluster, or folders of them: server.properties and zoo.cfg (one a node), Strimzi's "
            "resources, an inventory of cp-ansible in YAML, or a compose file.",
            metavar="FILES...",
        ),
    ],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write.", metavar="FILE.toml", dir_okay=False)
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="What the files are: properties, strimzi, cp-ansible or compose.", metavar="KIND"),
    ] = None,
    kafka: Annotated[str | None, typer.Option(help="The release, in place of the files'.", metavar="VERSION")] = None,
    controllers: Annotated[
        int | None,
        typer.Option(help="How many controllers a cluster without any gets: 0, 1, 3 or 5.", metavar="NUMBER"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
) -> None:
    """Make a topology from the files of a cluster, and list what is taken over and what is not. Secrets never are."""
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.topology.importing.draft import Wish
    from pytest_kmigrate.topology.importing.importer import imported
    from pytest_kmigrate.topology.importing.toml_text import fit_name
    from pytest_kmigrate.topology.loading import schema_line

    if controllers not in (None, 0, 1, 3, 5):
        raise WrongUseError(f"--controllers: expected 0, 1, 3 or 5, got {controllers}")
    if output:
        _must_be_free(output, force=force)
    wish = Wish(fit_name(output.stem if output else _STANDARD_NAME), kafka, controllers)
    found = imported(files, wish, kind)
    if output:
        _write(output, f"{schema_line()}{found.text}")
    else:
        print(found.text, end="")  # noqa: T201 - a file for a pipe, as it is
    _report(found, to_stderr=output is None)
    if output:
        say(f"{output}: kmigrate up {output} --dry-run shows it")


def _must_be_free(output: Path, *, force: bool) -> None:
    from pytest_kmigrate.model.errors import WrongUseError

    if not output.parent.is_dir():
        raise WrongUseError(f"{output}: expected a file in a folder that is there, got none: make the folder first")
    if os.path.lexists(output) and not force:
        raise WrongUseError(f"{output}: expected no file there, got one: give --force to replace it")


def _write(output: Path, text: str) -> None:
    """Write a topology, and beside it the schema that its first line names."""
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.topology.loading import SCHEMA, json_schema_text

    for file, content in ((output, text), (output.parent / SCHEMA, json_schema_text())):
        try:
            file.write_text(content, encoding="utf-8")
        except OSError as error:
            raise WrongUseError(f"{file}: it cannot be written: {error.strerror}; name another file") from None


def _report(found: "Imported", *, to_stderr: bool) -> None:
    from pytest_kmigrate.cli.console import show
    from pytest_kmigrate.topology.importing.toml_text import grouped

    rows = [
        *(("taken", setting, key) for setting, key in grouped((each.origin, each.key) for each in found.taken)),
        *(("not taken", setting, why) for setting, why in grouped((each.origin, each.why) for each in found.left)),
        *(("assumed", each.key, each.why) for each in found.assumed),
    ]
    show(("", "setting", "becomes, or why not"), rows, title=f"from files of kind {found.kind}", to_stderr=to_stderr)
