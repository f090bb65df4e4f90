"""The kernel's table of TCP sockets on loopback blocks, as text."""

from pathlib import Path
from typing import NamedTuple

import psutil

from pytest_kmigrate.providers.owned.cluster import OwnedCluster

_STATES = {"01": "established", "0A": "listening"}


class TcpSocket(NamedTuple):
    """One end of a connection, or a listener."""

    local: str
    remote: str
    state: str


def sockets_in(block: int) -> list[TcpSocket]:
    """Every established or listening socket whose local address lies in 127.<block>.0.0/16."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # Java binds IPv6 sockets where it may; a mapped IPv4 address is the last word of the four.
    rows += [line.split() for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]]
    found = [TcpSocket(_host(row[1]), _host(row[2]), _STATES[row[3]]) for row in rows if row[3] in _STATES]
    return [socket for socket in found if socket.local.startswith(f"127.{block}.")]


def _host(kernel_form: str) -> str:
    """``0301077F:2384`` (or the IPv6 form that ends in it) as ``127.7.1.3``."""
    address = kernel_form.partition(":")[0][-8:]
    return ".".join(str(int(address[at : at + 2], 16)) for at in (6, 4, 2, 0))


def past_the_links(cluster: OwnedCluster) -> list[str]:
    """Each node that holds a connection to the real address of another one."""
    names = {node.address: node.name for node in cluster.nodes()}
    return [
        f"{node.name} to {names[address]}"
        for node in cluster.nodes()
        if node.pid is not None
        for address in sorted(reached_by(node.pid) & names.keys() - {node.address})
    ]


def reached_by(pid: int) -> set[str]:
    """The addresses that a process has connections to; connections to loopback come from 127.0.0.1."""
    connections = psutil.Process(pid).net_connections("tcp")
    return {each.raddr.ip.removeprefix("::ffff:") for each in connections if each.status == psutil.CONN_ESTABLISHED}
