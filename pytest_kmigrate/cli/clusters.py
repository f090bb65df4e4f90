"""Commands about clusters that stand on this machine: ``up``, ``ps``, ``logs``, ``down``, ``gc``."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

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
        str | None,
        typer.Option(
            help="Drive the procedure of the profile's document to this phase. A cluster of this topology that stands "
            "goes on from where it is; the phase in which the procedure begins leads back.",
            metavar="PHASE",
        ),
    ] = None,
    profile: Annotated[str, typer.Option(help="The document.", metavar="PROFILE")] = "kip-866",
    block: Annotated[str | None, typer.Option(help="The cluster that goes on.", metavar="BLOCK")] = None,
    new: Annotated[bool, typer.Option("--new", help="Start another cluster, whatever stands.")] = False,
) -> None:
    """Start a cluster and leave it running until `kmigrate down`; or have it go on to another phase."""
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
    goal = Goal(of, phase.upper() if phase else "")
    if goal.value:
        goal.check(wanted)
    if goal.value and not dry_run and not new and (there := _that_stands(wanted, kafka, block)):
        _go_on(there, goal, topology)
        return
    plan = dry.plan_here(wanted)
    if dry_run:
        from pytest_kmigrate.cli.console import say

        say(dry.rendered(plan).rstrip())
    else:
        chosen.artifacts(wanted)
        _stand_up(wanted, goal, topology, provider, kafka)


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
    import threading

    from pytest_kmigrate.cli.following import LogPrinter
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.model.spelling import did_you_mean
    from pytest_kmigrate.providers.standing import standing
    from pytest_kmigrate.waiting import repeat

    cluster = _chosen(block)
    names = [each.name for each in cluster.nodes]
    if node not in names:
        meant = did_you_mean(node, names, "; take one of these")
        raise WrongUseError(f"expected a node of {cluster.topology} ({', '.join(names)}), got {node!r}{meant}")
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


def _that_stands(topology: "Topology", kafka: str | None, block: str | None) -> "Standing | None":
    """The cluster of this topology that goes on; None if none stands. WrongUseError for several."""
    from pytest_kmigrate.model.errors import WrongUseError
    from pytest_kmigrate.providers.owned.standing import keeper_file
    from pytest_kmigrate.providers.standing import standing

    alike = [each for each in standing() if each.topology == topology.name and kafka in (None, each.kafka)]
    kept = [each for each in alike if keeper_file(each.logs).exists()]
    fitting = [each for each in kept if block in (None, str(each.block))]
    blocks = ", ".join(str(each.block) for each in kept)
    if block is not None and not fitting:
        raise WrongUseError(f"--block: expected a cluster of {topology.name} ({blocks or 'none stands'}); got {block}")
    if len(fitting) > 1:
        raise WrongUseError(
            f"--phase: expected one cluster of {topology.name}; got several, on blocks {blocks}: "
            "name one with --block, or start another with --new"
        )
    return fitting[0] if fitting else None


def _go_on(cluster: "Standing", goal: "Goal", topology: str) -> None:
    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.providers.owned.standing import keeper_file
    from pytest_kmigrate.running.keeping import order

    notify(f"{cluster.topology} on block {cluster.block} goes on to {goal.value}")
    order(keeper_file(cluster.logs), {"phase": goal.value}, notify)
    _report(cluster.logs, goal, topology)


def _stand_up(topology: "Topology", goal: "Goal", named: str, provider: str, kafka: str | None) -> None:
    import signal
    import socket
    import subprocess
    import sys
    from datetime import UTC, datetime

    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.cli.keeper import wish
    from pytest_kmigrate.providers.owned.standing import log_folders
    from pytest_kmigrate.running.keeping import relay

    logs = log_folders() / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{topology.name}"
    notify(f"starting {topology.name} on Kafka {topology.kafka}; logs in {logs}")
    ours, of_keeper = socket.socketpair()
    wanted = wish(named, provider, kafka, goal.document.id, goal.value, logs)
    with ours, of_keeper, ours.makefile() as lines:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "pytest_kmigrate.cli.keeper", str(of_keeper.fileno()), wanted],
            pass_fds=[of_keeper.fileno()],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        of_keeper.close()
        try:
            relay(lines, notify)
        except KeyboardInterrupt:
            keeper.send_signal(signal.SIGINT)
            keeper.wait()
            raise
    _report(logs, goal, named)


def _report(logs: "Path", goal: "Goal", named: str) -> None:
    """What stands now, where it is, and how it goes on."""
    from pytest_kmigrate.cli.console import say
    from pytest_kmigrate.providers.standing import standing

    _describe(next(each for each in standing() if each.logs == logs.resolve()))
    if goal.value:
        say(f"phase:             {goal.value} is reached")
    if goal.next_values:
        say(f"to go on:          kmigrate up {named} --phase {goal.next_values[0]}")
    if goal.value and goal.document.revert is not None and not goal.is_back:
        say(f"to go back:        kmigrate up {named} --phase {goal.document.begins_in}")


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
