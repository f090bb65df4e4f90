"""Commands about consumer groups that migrate: ``consumers status``, ``toggle`` and ``validate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pytest_kmigrate.model.document import GroupOperator, GroupReport, Servers

app = typer.Typer(help="Consumer groups on their way from ZooKeeper's coordination to Kafka's.", no_args_is_help=True)

_Group = Annotated[str, typer.Argument(help="The consumer group.", metavar="GROUP")]
_Zookeeper = Annotated[
    str, typer.Option("--zookeeper", help="ZooKeeper's servers, and the chroot.", metavar="HOST:PORT,...")
]
_Bootstrap = Annotated[
    str | None,
    typer.Option("--bootstrap", help="Kafka's brokers (default: those that ZooKeeper has).", metavar="HOST:PORT,..."),
]
_Profile = Annotated[str, typer.Option(help="The document.", metavar="PROFILE")]


_Client = Annotated[
    Path | None,
    typer.Option(help="Properties of a Kafka client, such as those of TLS and SASL; Java's keys, too.", metavar="FILE"),
]
_Ca = Annotated[Path | None, typer.Option(help="Whom to trust at ZooKeeper, in PEM: TLS is used.", metavar="FILE")]
_Certificate = Annotated[
    Path | None, typer.Option(help="The certificate, and its key, to show to ZooKeeper, in PEM.", metavar="FILE")
]
_LOGIN = "KMIGRATE_ZOOKEEPER_LOGIN"


@app.command()
def status(
    group: _Group,
    *,
    zookeeper: _Zookeeper,
    bootstrap: _Bootstrap = None,
    client: _Client = None,
    zookeeper_ca: _Ca = None,
    zookeeper_certificate: _Certificate = None,
    profile: _Profile = "kip-125",
) -> None:
    """Show a group's members by kind, its mode, who forces it, and the offsets in both stores.

    KMIGRATE_ZOOKEEPER_LOGIN has USER:PASSWORD of ZooKeeper's scheme digest, where ACLs ask for it.
    """
    servers = _servers(zookeeper, bootstrap, client, zookeeper_ca, zookeeper_certificate)
    _show(_operator(profile).status(group, servers))


@app.command()
def toggle(
    group: _Group,
    mode: Annotated[str, typer.Argument(help="The system that decides from now on.", metavar="kafka|zookeeper")],
    *,
    zookeeper: _Zookeeper,
    bootstrap: _Bootstrap = None,
    client: _Client = None,
    zookeeper_ca: _Ca = None,
    zookeeper_certificate: _Certificate = None,
    profile: _Profile = "kip-125",
) -> None:
    """Write a group's mode, unless its members cannot take it; back to zookeeper also if Kafka does not answer.

    KMIGRATE_ZOOKEEPER_LOGIN has USER:PASSWORD of ZooKeeper's scheme digest, where ACLs ask for it.
    """
    servers = _servers(zookeeper, bootstrap, client, zookeeper_ca, zookeeper_certificate)
    _show(_operator(profile).toggle(group, mode, servers))


@app.command()
def validate(
    command: Annotated[str, typer.Argument(help="Runs one member of a group.", metavar="COMMAND")],
    *,
    kafka: Annotated[str | None, typer.Option(help="The distribution to run.", metavar="VERSION|PATH")] = None,
    profile: _Profile = "kip-125",
) -> None:
    """Run a consumer under test by a small script, and say what its command lacks."""
    import shlex
    import shutil

    from pytest_kmigrate.cli.console import notify, say, show
    from pytest_kmigrate.documents import document
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.providers.choosing import provider_named
    from pytest_kmigrate.running.rehearsing import rehearse

    words = shlex.split(command)
    if not words or shutil.which(words[0]) is None:
        program = words[0] if words else ""
        raise WrongUseError(f"COMMAND: expected a program that this machine can start; got {program!r}")
    found = rehearse(document(profile), words, provider_named("process", notify), kafka, notify)
    show(("line", "judges", "printed"), [(name, purpose, str(count)) for name, purpose, count in found.lines])
    for problem in found.problems:
        say(problem)
    if found.problems:
        raise typer.Exit(1)
    lacking = [(name, purpose) for name, purpose, count in found.lines if not count]
    say("the command keeps the contract")
    for name, purpose in lacking:
        say(f"nothing is judged of {purpose}: {name} was never printed")


def _servers(
    zookeeper: str, bootstrap: str | None, client: Path | None, ca: Path | None, certificate: Path | None
) -> "Servers":
    import os

    from kazoo.hosts import collect_hosts

    from pytest_kmigrate.model.document import Servers
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.model.peer import ZookeeperTls

    try:
        collect_hosts(zookeeper)
    except ValueError:
        raise WrongUseError(f"--zookeeper: expected HOST:PORT,... and a chroot or none; got {zookeeper!r}") from None
    for option, file in (("client", client), ("zookeeper-ca", ca), ("zookeeper-certificate", certificate)):
        if file is not None and not file.is_file():
            raise WrongUseError(f"--{option}: expected a file; got {file}")
    if certificate and not ca:
        raise WrongUseError("--zookeeper-certificate: expected --zookeeper-ca beside it, whom to trust; got none")
    shown = str(certificate) if certificate else None
    tls = ZookeeperTls(str(ca), shown, shown) if ca else None
    return Servers(zookeeper, bootstrap, _properties(client) if client else {}, tls, os.environ.get(_LOGIN))


def _properties(file: Path) -> dict[str, str]:
    """The keys and values of a Java properties file, of the plain kind."""
    from pytest_kmigrate.model.errors import WrongUseError

    try:
        text = file.read_text(encoding="utf-8")
    except ValueError:
        raise WrongUseError(f"--client: expected properties as text in UTF-8; {file} holds other bytes") from None
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#!")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _operator(profile: str) -> "GroupOperator":
    from pytest_kmigrate.documents import document
    from pytest_kmigrate.model.errors import WrongUseError

    found = document(profile).operator
    if found is None:
        raise WrongUseError(f"--profile: expected a document about consumer groups, such as kip-125; got {profile}")
    return found


def _show(report: "GroupReport") -> None:
    from pytest_kmigrate.cli.console import say, show

    say(f"{report.group}: {report.followed} decides; the mode node: {report.mode}")
    show(("member", "kind"), report.members)
    show(("partition", "owner", "ZooKeeper's offset", "Kafka's offset", "end"), report.partitions)
    for finding in report.findings:
        say(finding)
