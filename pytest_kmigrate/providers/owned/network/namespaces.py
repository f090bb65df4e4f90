"""The network namespace in which the proxies of a cluster have their sockets: ours, or that of another process."""

import ctypes
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_NETLINK_SOCK_DIAG = 4
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Namespace:
    """The network namespace of a process; None: our own."""

    pid: int | None = None

    @property
    def tcp(self) -> Path:
        """The kernel's list of its IPv4 sockets, as text."""
        return Path(f"/proc/{self.pid or 'self'}/net/tcp")

    def netlink(self) -> socket.socket:
        """A socket by which the kernel reports on its sockets; OSError where that needs rights that we do not have."""
        if self.pid is None:
            return _netlink()
        with ThreadPoolExecutor(1) as thread:  # which ends: the next socket of a thread would be opened there, too
            return thread.submit(self._netlink_there).result()

    def _netlink_there(self) -> socket.socket:
        namespace = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            if _libc.setns(namespace, _CLONE_NEWNET) != 0:
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code))
        finally:
            os.close(namespace)
        return _netlink()


HERE = Namespace()


def _netlink() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
