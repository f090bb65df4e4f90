"""The znodes of a cluster, as procedures, faults and tests reach them."""

from collections.abc import Mapping, Sequence
from typing import Protocol


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

    def owner(self, path: str) -> int | None:
        """The session that an ephemeral znode goes with; None when there is no such znode."""
        ...

    def sessions(self) -> Mapping[str, int]:
        """The session of every connection, by the address it comes from, as ``host:port``."""
        ...

    def expire_session(self, session: int) -> None:
        """End a session, as if its time were over."""
        ...
