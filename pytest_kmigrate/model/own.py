"""What a run may call its own in a cluster: all of one that was made for it, of another what has its prefixes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Own:
    """How the names of its topics and groups begin, and how many records it may write per s (None: any number)."""

    topics: str = ""
    groups: str = ""
    records_per_s: int | None = None
