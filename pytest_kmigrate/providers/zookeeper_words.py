"""What a server of ZooKeeper says of itself, by the four letters ``srvr``."""

import socket


def mode_of(server: tuple[str, int], within_s: float) -> str | None:
    """``leader``, ``follower`` or ``standalone``; None when it does not serve, or does not say so in time."""
    return srvr(server, within_s).get("Mode")


def srvr(server: tuple[str, int], within_s: float) -> dict[str, str]:
    """Its answer; empty when it does not serve, or does not answer in time."""
    try:
        with socket.create_connection(server, timeout=within_s) as connection:
            connection.sendall(b"srvr")
            answer = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    except OSError:
        return {}
    return dict(line.split(": ", 1) for line in answer.splitlines() if ": " in line)
