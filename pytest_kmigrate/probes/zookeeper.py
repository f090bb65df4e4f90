"""The cluster's ZooKeeper reached past the links: read, write, delete, and expire somebody's session."""

import contextlib
import logging
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import BadVersionError, ConnectionClosedError, KazooException, NoAuthError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.interfaces import IAsyncResult
from kazoo.retry import ForceRetryError, KazooRetry
from kazoo.security import ACL, Id

from pytest_kmigrate.model.capabilities import Capability, not_offered
from pytest_kmigrate.model.errors import ClusterError, NotApplicableError
from pytest_kmigrate.model.peer import Access, ZookeeperTls
from pytest_kmigrate.probes.znodes import snapshot

_ANSWER_WITHIN_S = 30  # an ensemble that elects does not answer, and its second attempt begins after 5 s only
_QUIET = logging.getLogger("pytest_kmigrate.kazoo")
_QUIET.setLevel(logging.CRITICAL)  # lost connections are what we make happen; what matters of them is in the history
_SERVER_WITHIN_S = 2
_CONNECTION = re.compile(r"/(?P<origin>[\d.]+:\d+)\[.*sid=0x(?P<session>[0-9a-f]+)")
_TIMEOUT = re.compile(r"\bto=(\d+)")
_NO_VERSION = (1 << 31) - 1
"""A version that no znode has: ZooKeeper looks at the ACL first, and then refuses to write."""
_SERVER_SECRET = 0xB3415C00
"""ZooKeeper derives a session's password from its id and this constant, so that any server can check it."""


class ZookeeperClient:
    """Implements ``Znodes``. It connects in the background, and again after every outage."""

    def __init__(
        self, hosts: str, superuser: str | None = None, *, writes: bool = True, tls: ZookeeperTls | None = None
    ) -> None:
        """``hosts``: ``address:port,...`` of the servers themselves, and the chroot, below which all paths then are.

        ``superuser`` is the credential (scheme ``digest``) of one whom no ACL keeps out. Without ``writes`` each
        attempt to change anything raises NotApplicableError, and is never sent.
        """
        self._writes = writes
        self._hosts = hosts
        self._auth = [("digest", superuser)] if superuser else None
        self._tls = tls
        self._is_closed = False
        self.kazoo = _client(hosts, self._auth, tls)
        self.sessions_had = set[int]()
        """Every session that this client had."""
        self.kazoo.add_listener(self._on_state)
        self.kazoo.start_async()

    def _on_state(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self.sessions_had.add(self.kazoo.client_id[0])

    def _require_writes(self, what: str) -> None:
        if not self._writes:
            raise NotApplicableError(not_offered(f"changing {what}", [Capability.ZNODE_WRITES]))

    @property
    def last_zxid(self) -> int:
        """The last transaction that any answer to this client named."""
        return int(self.kazoo.last_zxid)

    def get(self, path: str) -> bytes | None:
        """A znode's data, empty if it has none; None when it does not exist.

        ClusterError while ZooKeeper does not answer.
        """
        with _patience(path):
            try:
                data: bytes | None = self._asked(lambda: self.kazoo.get_async(path))[0]
            except NoNodeError:
                return None
            return data or b""

    def set(self, path: str, data: bytes | None) -> None:
        """Overwrite a znode, or create it; None leaves it without data."""
        self._require_writes(path)
        with _patience(path):
            self._asked(lambda: self.kazoo.ensure_path_async(path))
            self._asked(lambda: self.kazoo.set_async(path, data))

    def create_ephemeral(self, path: str, data: bytes) -> None:
        """Create a znode that goes with this client's session."""
        self._require_writes(path)
        with _patience(path):
            self._asked(lambda: self.kazoo.create_async(path, data, ephemeral=True))

    def delete(self, path: str) -> None:
        """Delete a znode and all below it; nothing when it does not exist."""
        self._require_writes(path)
        for child in self.children(path):
            self.delete(f"{path}/{child}")
        with _patience(path), contextlib.suppress(NoNodeError):
            self._asked(lambda: self.kazoo.delete_async(path))

    def children(self, path: str) -> Sequence[str]:
        """Names below a path, sorted; none when it does not exist."""
        with _patience(path):
            try:
                return sorted(self._asked(lambda: self.kazoo.get_children_async(path)))
            except NoNodeError:
                return []

    def may_write(self, path: str) -> bool:
        """Whether the znode's ACL lets this client write to it; nothing is written.

        ClusterError where there is no such znode.
        """
        try:
            with _patience(path):
                self._asked(lambda: self.kazoo.set_async(path, b"", version=_NO_VERSION))
        except ClusterError as error:
            if isinstance(error.__cause__, BadVersionError):
                return True
            if isinstance(error.__cause__, NoAuthError):
                return False
            raise
        return True

    def access(self, path: str) -> Access:
        """Who may do what with a znode; ClusterError where there is no such znode."""
        with _patience(path):
            acl = self._asked(lambda: self.kazoo.get_acls_async(path))[0]
            return frozenset((int(each.perms), str(each.id.scheme), str(each.id.id)) for each in acl)

    def allow(self, path: str, access: Access) -> None:
        """Give a znode another ACL; ClusterError where there is no such znode, or the present ACL forbids it."""
        self._require_writes(path)
        acl = [ACL(permissions, Id(scheme, who)) for permissions, scheme, who in sorted(access)]
        with _patience(path):
            self._asked(lambda: self.kazoo.set_acls_async(path, acl))

    def snapshot(self) -> dict[str, bytes | None]:
        """Every znode with its data, read anew when the connection ended; ClusterError while no server answers."""
        with _patience("/"):
            tree: dict[str, bytes | None] = self._insistently(lambda: snapshot(self.kazoo, _ANSWER_WITHIN_S))
            return tree

    def owner(self, path: str) -> int | None:
        """The session that an ephemeral znode goes with; None when there is no such znode."""
        with _patience(path):
            stat = self._asked(lambda: self.kazoo.exists_async(path))
            return (stat.ephemeralOwner or None) if stat else None

    def sessions(self) -> dict[str, int]:
        """The session of every connection of a server that answers, by the address it comes from."""
        return {
            found["origin"]: int(found["session"], 16)
            for host in self._hosts.partition("/")[0].split(",")
            for found in _CONNECTION.finditer(_connections_at(host))
        }

    def session_timeouts(self) -> list[int]:
        """The timeouts in ms that servers have granted to the session of each of their connections."""
        hosts = self._hosts.partition("/")[0].split(",")
        return [int(timeout) for host in hosts for timeout in _TIMEOUT.findall(_connections_at(host))]

    def watchers(self, path: str) -> AbstractSet[int]:
        """The sessions that any server would inform when this znode is changed, created or deleted."""
        chroot = self._hosts.partition("/")[2]
        wanted = f"/{chroot}{path}" if chroot else path
        servers = self._hosts.partition("/")[0].split(",")
        return {session for host in servers for session in watching(_answer_to("wchp", host), wanted)}

    def expire_session(self, session: int) -> None:
        """Take over a session, and close it."""
        self._require_writes(f"session {session:#x}")
        with _patience(f"session {session:#x}"):
            twin = _client(self._hosts, self._auth, self._tls, (session, session_password(session)))
            twin.start(timeout=_ANSWER_WITHIN_S)
            twin.stop()
            twin.close()

    def _asked(self, ask: Callable[[], IAsyncResult]) -> Any:
        """The answer to a request; without a limit of its own a request made while no server is up waits for ever."""
        return self._insistently(lambda: ask().get(timeout=_ANSWER_WITHIN_S))

    def _insistently(self, ask: Callable[[], Any]) -> Any:
        def asked() -> Any:
            try:
                return ask()
            except ConnectionClosedError as error:
                # So it says of itself too until its thread, which may be late, has begun to connect.
                raise error if self._is_closed else ForceRetryError from error

        return self.kazoo.retry(asked)

    def close(self) -> None:
        """Leave; safe to call twice."""
        self._is_closed = True
        self.kazoo.stop()
        self.kazoo.close()


def watching(answer: str, path: str) -> set[int]:
    """The sessions that watch a path, by an answer to ``wchp``: a line for each path, then one for each session."""
    found, is_wanted = set[int](), False
    for line in answer.splitlines():
        if line.startswith("/"):
            is_wanted = line == path
        elif is_wanted and line.strip():
            found.add(int(line.strip(), 16))
    return found


def _connections_at(host: str) -> str:
    return _answer_to("cons", host)


def _answer_to(word: str, host: str) -> str:
    """What a server answers to a four-letter word; nothing of one that does not answer."""
    address, _, port = host.partition(":")
    with (
        contextlib.suppress(OSError),
        socket.create_connection((address, int(port)), timeout=_SERVER_WITHIN_S) as asked,
    ):
        asked.sendall(word.encode())
        return b"".join(iter(lambda: asked.recv(4096), b"")).decode()
    return ""


def session_password(session_id: int) -> bytes:
    """The 16 bytes ZooKeeper expects from a client that resumes session ``session_id``: Java's Random, seeded by it."""
    modulus = 1 << 48
    state = ((session_id ^ _SERVER_SECRET) ^ 0x5DEECE66D) % modulus
    drawn = b""
    while len(drawn) < 16:
        state = (state * 0x5DEECE66D + 0xB) % modulus
        drawn += (state >> 16).to_bytes(4, "little")
    return drawn


def _client(
    hosts: str,
    auth: Sequence[tuple[str, str]] | None,
    tls: ZookeeperTls | None,
    client_id: tuple[int, bytes] | None = None,
) -> KazooClient:
    endless = KazooRetry(max_tries=-1, delay=0.05, backoff=1.5, max_delay=0.5)
    patient = KazooRetry(max_tries=-1, delay=0.05, max_delay=0.5, deadline=_ANSWER_WITHIN_S, ignore_expire=True)
    return KazooClient(
        hosts,
        timeout=10,
        client_id=client_id,
        auth_data=auth,
        connection_retry=endless,
        command_retry=patient,
        logger=_QUIET,
        **(tls.for_kazoo() if tls else {}),
    )


@contextmanager
def _patience(path: str) -> Iterator[None]:
    try:
        yield
    except NoAuthError as error:
        raise ClusterError(
            f"{path}: expected a znode that this client may read and write; its ACL forbids it"
        ) from error
    except (KazooException, KazooTimeoutError) as error:
        reason = f"{type(error).__name__} {error}".strip()
        raise ClusterError(f"ZooKeeper does not answer for {path} within {_ANSWER_WITHIN_S} s: {reason}") from error
