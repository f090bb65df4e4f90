"""What a member finds in ZooKeeper before it is constructed: Kafka's brokers, or a reason to refuse its settings."""

from collections.abc import Callable

import pytest
from kazoo.exceptions import KazooException, NoAuthError, SessionExpiredError
from kazoo.handlers.threading import KazooTimeoutError

from pytest_kmigrate.documents.kip_125.reference import finding
from pytest_kmigrate.documents.kip_125.reference.settings import RefusedError, Settings

BROKER = b'{"endpoints": ["TLS://127.0.0.1:9093", "PLAINTEXT://127.0.0.1:9092", "PLAINTEXT://nowhere.invalid:9092"]}'
KAFKAS = {"/brokers/ids": b"", "/brokers/ids/0": BROKER}
PATH = "zk:2181/kafka"


class FakeKazoo:
    """A client of a ZooKeeper in memory; ``refuses`` is raised at its start, or by ``exists``."""

    def __init__(self, tree: dict[str, bytes], refuses: Exception | None = None) -> None:
        self.tree, self.refuses = tree, refuses
        self.ended: list[str] = []

    def start(self, timeout: float) -> None:
        """None answers."""
        if isinstance(self.refuses, KazooTimeoutError):
            raise self.refuses

    def exists(self, path: str) -> object | None:
        """Something, or None."""
        if isinstance(self.refuses, KazooException):
            raise self.refuses
        return self.tree.get(path)

    def get_children(self, path: str) -> list[str]:
        """Names below."""
        return [each.rpartition("/")[2] for each in self.tree if each.startswith(f"{path}/")]

    def get(self, path: str) -> tuple[bytes, None]:
        """The data."""
        return self.tree[path], None

    def stop(self) -> None:
        """The session ends."""
        self.ended.append("session")

    def close(self) -> None:
        """The client ends."""
        self.ended.append("client")


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeKazoo], Settings]:
    """Has members reach this ZooKeeper; the settings of one."""

    def reach(client: FakeKazoo) -> Settings:
        monkeypatch.setattr(finding, "KazooClient", lambda _: client)
        return Settings(PATH, "g", "g_1", "g", {})

    return reach


def test_a_member_without_an_address_reads_from_what_is_registered(reached: Callable[[FakeKazoo], Settings]) -> None:
    """From plain listeners of known hosts; the session that asked ends."""
    client = FakeKazoo(KAFKAS)
    assert finding.servers_of(reached(client)) == "127.0.0.1:9092"
    assert client.ended == ["session", "client"]


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (FakeKazoo({"/": b""}), f"got '{PATH}', where /brokers/ids is missing: check the chroot"),
        (FakeKazoo({}, KazooTimeoutError()), "expected a ZooKeeper that answers within 20 s; got .*KazooTimeoutError"),
        (FakeKazoo({}, SessionExpiredError()), "expected a ZooKeeper that answers .*SessionExpiredError"),
    ],
)
def test_a_zookeeper_that_is_not_kafkas_is_refused_by_its_key(
    client: FakeKazoo, expected: str, reached: Callable[[FakeKazoo], Settings]
) -> None:
    """Another chroot, or none that answers, with migration and without; the session that asked ends."""
    settings = reached(client)
    for find in (finding.require_kafka, finding.servers_of):
        client.ended = []
        with pytest.raises(RefusedError, match=f"^zookeeper.connect: .*{expected}"):
            find(settings)
        assert client.ended == ["session", "client"]


@pytest.mark.parametrize("client", [FakeKazoo(KAFKAS), FakeKazoo({}, NoAuthError())])
def test_kafkas_zookeeper_is_taken(client: FakeKazoo, reached: Callable[[FakeKazoo], Settings]) -> None:
    """Also one that does not let members look at the brokers: they have an address of their own."""
    finding.require_kafka(reached(client))
    assert client.ended == ["session", "client"]


def test_brokers_of_elsewhere_are_no_address(reached: Callable[[FakeKazoo], Settings]) -> None:
    """A member that knows no broker's host is refused, too."""
    tree = {"/brokers/ids": b"", "/brokers/ids/0": b'{"endpoints": ["PLAINTEXT://nowhere.invalid:9092"]}'}
    with pytest.raises(RefusedError, match=r"^zookeeper.connect: expected a broker with a plain listener of a known"):
        finding.servers_of(reached(FakeKazoo(tree)))
