"""Stand-ins for processes of a cluster: they wait, and are distinguished by their command lines alone."""

import json
import subprocess
import sys
from pathlib import Path

WAITING = "import sys; sys.stdin.read()"

KEEPER = """
import json, sys
from pathlib import Path
from pytest_kmigrate.providers.process import lease as leases
from pytest_kmigrate.providers.owned.commands import Command
from pytest_kmigrate.providers.owned.supervision import Supervision

lease = leases.take()
supervision = Supervision(lease.scratch, lease.lock.filenos)
hosts = f"-Djdk.net.hosts.file={lease.scratch}/broker-0/hosts"
waiting = "import signal; signal.pause()"
pid = supervision.spawn(
    Command((sys.executable, "-c", waiting, hosts)),
    cwd=lease.scratch, log=lease.scratch / "log", on_exit=lambda code: None,
)
logs = Path(sys.argv[1])
(logs / "broker-0").mkdir(parents=True)
(logs / "broker-0" / "server.log").write_text("one line\\n")
lease.state_file.write_text(json.dumps({
    "block": lease.block, "supervisor": supervision.pid, "topology": "small", "kafka": "3.9.1", "bootstrap": "b:9094",
    "logs": str(logs.resolve()), "scratch": str(lease.scratch),
    "nodes": {"broker-0": "127.9.0.1", "broker-1": "127.9.0.2"},
    "client_file": str(lease.scratch / "client.properties"), "client_protocol": "SASL_SSL",
}))
if "keep" in sys.argv:
    supervision.keep()
print(json.dumps([lease.block, supervision.pid, pid]), flush=True)
if "keep" not in sys.argv:
    sys.stdin.read()
"""
"""A run with a supervised node: with ``keep`` it ends and leaves it standing, else it uses it until it is killed."""


def waiting(*words: str, cwd: Path) -> "subprocess.Popen[bytes]":
    """A process with these words on its command line, that waits until its standard input ends."""
    return subprocess.Popen([sys.executable, "-c", WAITING, *words], stdin=subprocess.PIPE, cwd=cwd)


def keeper(logs: Path, *options: str) -> tuple["subprocess.Popen[bytes]", int, int, int]:
    """Start a run; returns it with its block and the pids of its supervisor and its node."""
    command = [sys.executable, "-c", KEEPER, str(logs), *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    block, supervisor, node = json.loads(process.stdout.readline())
    return process, block, supervisor, node
