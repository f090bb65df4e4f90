"""What is reached past the links: a broker as a client finds it, and the znodes of ZooKeeper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Peer:
    """A broker's ``host:port`` and how to be let in: librdkafka's security properties, none for a plain listener.

    Understood: ``security.protocol`` (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL), ``ssl.ca.location``,
    ``ssl.certificate.location``, ``ssl.key.location``, ``ssl.endpoint.identification.algorithm``, ``sasl.mechanism``
    (SCRAM, PLAIN, OAUTHBEARER by ``oidc``), ``sasl.username``, ``sasl.password``, and what a token is had by.
    """

    address: str
    security: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ZookeeperTls:
    """How ZooKeeper's servers are reached by TLS: files in PEM of whom to trust and who we are (None: not shown)."""

    ca: str
    certificate: str | None = None
    key: str | None = None

    def for_kazoo(self) -> dict[str, Any]:
        """As kazoo's client takes them."""
        files = {"ca": self.ca, "certfile": self.certificate, "keyfile": self.key}
        return {"use_ssl": True, "check_hostname": True, **files}


Access = frozenset[tuple[int, str, str]]
"""An ACL of ZooKeeper: permissions (a sum of read 1, write 2, create 4, delete 8, admin 16), scheme and id of each."""


class Znodes(Protocol):
    """The cluster's ZooKeeper, reached past the links."""

    def get(self, path: str) -> bytes | None:
        """A znode's data; None when it does not exist."""
        ...

    def set(self, path: str, data: bytes | None) -> None:
        """Overwrite a znode, or create it; None leaves it without data."""
        ...

    def delete(self, path: str) -> None:
        """Delete a znode and all below it; nothing when it does not exist."""
        ...

    def children(self, path: str) -> Sequence[str]:
        """Names below a path; none when it does not exist."""
        ...

    def access(self, path: str) -> Access:
        """Who may do what with a znode, as its ACL has it."""
        ...

    def allow(self, path: str, access: Access) -> None:
        """Give a znode another ACL."""
        ...

    def owner(self, path: str) -> int | None:
        """The session that an ephemeral znode goes with; None when there is no such znode."""
        ...

    def sessions(self) -> Mapping[str, int]:
        """The session of every connection, by the address it comes from, as ``host:port``."""
        ...

    def expire_session(self, session: int) -> None:
        """End a session, as if its time were over."""
        ...
