"""A store of checkpoints for tests: its time stands still, and what it holds costs nothing to make."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pytest_kmigrate.model.checkpoint import Frozen, FrozenNode
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint, Content, Key
from pytest_kmigrate.running.checkpoints.store import Store

KEY = Key("process", {"3.9.1": "digest"}, "shape", "kip-866", "HYBRID", ("topics", "acls"), "ours")
NODES = {
    "broker-0": FrozenNode({"process.roles": "broker", "zookeeper.connect": None}, BrokerMode.KRAFT),
    "controller-3000": FrozenNode(is_up=False),
}
KIB = 1024


class Bench:
    """A store whose time stands still until a test moves it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = datetime(2026, 11, 26, 12, tzinfo=UTC)
        self.reported: list[str] = []
        self.made: list[str] = []
        self.store = self.another()

    def another(self, most_bytes: int = 1 << 30) -> Store:
        """As another process has it."""
        return Store(self.folder, self.reported.append, lambda: self.now, most_bytes)

    def make(self, disks: Path) -> Content:
        """Two disks of 64 KiB, the first with a folder in it."""
        self.made.append(disks.parent.name)
        for name in ("broker-0/orders-0/0.log", "controller-3000/meta.properties"):
            (disks / name).parent.mkdir(parents=True)
            (disks / name).write_bytes(b"x" * 64 * KIB)
        return Content(Frozen(NODES, 474, 1138), self.now, [{"change": "create-topic", "wanted": {"partitions": 3}}])

    def get(self, key: Key = KEY, make: Callable[[Path], Content] | None = None) -> Checkpoint | None:
        """Hold it for a moment."""
        with self.store.held(key, make or self.make) as checkpoint:
            return checkpoint

    @property
    def place(self) -> Path:
        """Of the one checkpoint."""
        return self.folder / KEY.name

    @property
    def there(self) -> list[str]:
        """All that there is, locks left out."""
        return sorted(path.name for path in self.folder.iterdir() if path.name != ".locks")
