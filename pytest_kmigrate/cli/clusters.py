"""Commands about clusters that stand on this machine: ``up``, ``ps``, ``logs``, ``down``, ``gc``."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pytest_kmigrate.model.provider import Provider
    from pytest_kmigrate.model.topology import Topology
    from pytest_kmigrate.providers.owned.standing import Standing
    from pytest_kmigrate.running.standing_up import Goal

_FOLLOW_EVERY_S = 0.2


def up(
    topology: Annotated[str, typer.Argument(help="A topology file, or the name of a shipped one.", metavar="TOPOLOGY")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started, and start nothing.")] = False,
    provider: Annotated[str, typer.Option(help="What runs it: process or docker.", metavar="NAME")] = "process",
    kafka: Annotated[
        str | None, typer.Option(help="The distribution to run.", metavar="VERSION|PATH|image:NAME")
    ] = None,
    phase: Annotated[
        str | None, typer.Option(help="Drive the procedure of the profile's document to this phase.", metavar="PHASE")
    ] = None,
    profile: Annotated[str, typer.Option(help="The document.", metavar="PROFILE")] = "kip-866",
) -> None:
    """Start a cluster and leave it running until `kmigrate down`."""
    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.documents import document
    from pytest_kmigrate.machine import plan as dry
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.providers.choosing import STARTING, provider_named, topology_named
    from pytest_kmigrate.running.standing_up import Goal

    if provider not in STARTING:
        raise WrongUseError(f"--provider: expected one of {', '.join(STARTING)}; got {provider!r}")
    chosen = provider_named(provider, notify, kafka=kafka)
    wanted = topology_named(chosen, notify, topology, kafka, "--kafka")
    of = document(profile)
    goal = Goal(of, phase.upper()) if phase else None
    if goal:
        goal.check(wanted)
    plan = dry.plan_here(wanted)
    if dry_run:
        from pytest_kmigrate.cli.console import say

        say(dry.rendered(plan).rstrip())
    else:
        _stand_up(wanted, chosen, goal)


def ps() -> None:
    """List the clusters that run on this machine, and what crashed runs left."""
    from pytest_kmigrate.cli.console import say, show
    from pytest_kmigrate.providers.standing import leftovers, standing

    clusters = standing()
    if clusters:
        columns = ("block", "topology", "kafka", "nodes", "since", "used by", "bootstrap")
        show(columns, [_row(each) for each in clusters])
    for left in leftovers():
        what = [f"processes {', '.join(map(str, left.processes))}"] if left.processes else []
        what += [*left.at_engine, *(str(file) for file in left.files)]
        say(f"block {left.block}: left by a dead run: {'; '.join(what)}; `kmigrate gc` clears it")
    if not clusters:
        say("no cluster stands here; `kmigrate up TOPOLOGY` starts one")


def logs(
    node: Annotated[str, typer.Argument(help="The node's name, such as broker-0.", metavar="NODE")],
    *,
    block: Annotated[str | None, typer.Option(help="The cluster, if several run.", metavar="BLOCK")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue until Ctrl-C or the cluster's end.")] = False,
) -> None:
    """Print the log of one node of a running cluster."""
    import difflib
    import threading

    from pytest_kmigrate.cli.following import LogPrinter
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.providers.standing import standing
    from pytest_kmigrate.waiting import repeat

    cluster = _chosen(block)
    names = [each.name for each in cluster.nodes]
    if node not in names:
        near = difflib.get_close_matches(node, names, n=1)
        suggestion = f"did you mean {near[0]}?" if near else "take one of these"
        raise WrongUseError(f"expected a node of {cluster.topology} ({', '.join(names)}), got {node!r}; {suggestion}")
    log = cluster.log(node)
    if not log.is_file():
        raise WrongUseError(f"{node}: expected a log, got none: it was never started (expected at {log})")
    over = threading.Event()
    with LogPrinter(log) as printer:
        printer.print_more()
        if follow:

            def print_more() -> None:
                if cluster.block not in [each.block for each in standing()]:
                    over.set()
                printer.print_more()

            repeat(print_more, _FOLLOW_EVERY_S, over)


def down(
    block: Annotated[str | None, typer.Argument(help="Only this cluster, even if pytest still uses it.")] = None,
) -> None:
    """Stop the clusters that were kept running, and remove their disks."""
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.providers.standing import end, standing

    clusters = [_chosen(block)] if block is not None else [each for each in standing() if each.attendant is None]
    for cluster in clusters:
        end(cluster)
        say(f"block {cluster.block}: {cluster.topology} ended")
    if not clusters:
        say("no kept cluster is running")
        for used in standing():
            say(f"block {used.block}: {used.topology} is used by process {used.attendant}: kmigrate down {used.block}")


def gc() -> None:
    """Remove what crashed runs left: processes, disks, descriptions, logs of `up`. What is in use stays."""
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.providers.standing import clear_all, clear_logs

    cleared, logs = clear_all(), clear_logs()
    for left in cleared:
        killed = [f"killed {', '.join(map(str, left.processes))}"] if left.processes else []
        removed = [f"removed {each}" for each in (*left.at_engine, *left.files)]
        say(f"block {left.block}: {'; '.join([*killed, *removed])}")
    for folder in logs:
        say(f"removed {folder}")
    if not cleared and not logs:
        say("nothing to clear")


def _stand_up(topology: "Topology", provider: "Provider", goal: "Goal | None") -> None:
    from datetime import UTC, datetime

    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.providers.owned.standing import log_folders
    from pytest_kmigrate.providers.standing import standing
    from pytest_kmigrate.running.standing_up import stand_up

    log_folder = log_folders() / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{topology.name}"
    provider.artifacts(topology)
    notify(f"starting {topology.name} on Kafka {topology.kafka}; logs in {log_folder}")
    stand_up(topology, provider, log_folder, goal, notify)
    _describe(next(each for each in standing() if each.logs == log_folder.resolve()))


def _describe(cluster: "Standing") -> None:
    from pytest_kmigrate.cli.console import say, show

    rows = [(node.name, node.address, str(node.pid or "not started")) for node in cluster.nodes]
    show(("node", "address", "pid"), rows, title=f"{cluster.topology}, Kafka {cluster.kafka}, block {cluster.block}")
    for title, text in cluster.reached_by:
        say(f"{title + ':':18} {text}")
    say(f"logs:              {cluster.logs}  (`kmigrate logs NODE`)")
    say(f"to end it:         kmigrate down {cluster.block}")


def _row(cluster: "Standing") -> tuple[str, ...]:
    from datetime import datetime

    running = [node for node in cluster.nodes if node.pid is not None]
    others = [node.name for node in cluster.nodes if node.pid is None]
    nodes = f"{len(running)} of {len(cluster.nodes)} run" + (f"; not {', '.join(others)}" if others else "")
    since = datetime.fromtimestamp(cluster.since_s).astimezone()
    used_by = f"process {cluster.attendant}" if cluster.attendant else "kept"
    return (str(cluster.block), cluster.topology, cluster.kafka, nodes, f"{since:%F %T}", used_by, cluster.bootstrap)


def _chosen(block: str | None) -> "Standing":
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.providers.standing import standing

    clusters = standing()
    fitting = [each for each in clusters if block in (None, str(each.block))]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(f"{each.block} ({each.topology})" for each in clusters) or "none"
    wanted = "one running cluster" if block is None else f"a cluster on block {block}"
    hint = "name its block with --block" if len(fitting) > 1 else "`kmigrate ps` lists them"
    raise WrongUseError(f"expected {wanted}; running: {there}; {hint}")
