"""What a server of ZooKeeper says of itself, by the four letters ``srvr``."""

import socket
import ssl

from pytest_kmigrate.model.peer import ZookeeperTls


def mode_of(server: tuple[str, int], within_s: float, tls: ZookeeperTls | None = None) -> str | None:
    """``leader``, ``follower`` or ``standalone``; None when it does not serve, or does not say so in time."""
    return srvr(server, within_s, tls).get("Mode")


def srvr(server: tuple[str, int], within_s: float, tls: ZookeeperTls | None = None) -> dict[str, str]:
    """Its answer; empty when it does not serve, or does not answer in time."""
    try:
        with _connected(server, within_s, tls) as connection:
            connection.sendall(b"srvr")
            answer = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    except OSError:
        return {}
    return dict(line.split(": ", 1) for line in answer.splitlines() if ": " in line)


def _connected(server: tuple[str, int], within_s: float, tls: ZookeeperTls | None) -> socket.socket:
    connection = socket.create_connection(server, timeout=within_s)
    if tls is None:
        return connection
    context = ssl.create_default_context(cafile=tls.ca)
    if tls.certificate:
        context.load_cert_chain(tls.certificate, tls.key)
    return context.wrap_socket(connection, server_hostname=server[0])
