"""What disturbances do to real bytes: real proxies, plain sockets for nodes, no Kafka."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import cast

import pytest

from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.links import Partition, Refuse, Reset, Slice, Slow, Throttle
from pytest_kmigrate.faults.targets import every, node
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.links import Arrived, Disturbance, Stream
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.network.addresses import INTERNAL_PORT
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.waiting import until
from tests.real.providers.test_provider_contract import ProcessBench
from tests.unit.fakes import FakeView, FakeZnodes, MemoryRecorder, topology

NODES = ("broker-0", "broker-1", "broker-2")
ONE, TWO = node("broker-0"), node("broker-1")
WITHIN_S = 60
TRIES = 20
CLEARLY = 5
"""How many times longer, or in how many times more pieces: far more than a busy machine makes of nothing."""
ONE_WAY = [Stream.FORWARD, Stream.BACK]


class Ends:
    """The two ends of one connection that crosses a link."""

    def __init__(self, here: socket.socket, there: socket.socket) -> None:
        self.here = here
        self.there = there

    def ways(self, stream: Stream) -> tuple[socket.socket, socket.socket]:
        """Who sends and who receives in this direction."""
        return (self.here, self.there) if stream is Stream.FORWARD else (self.there, self.here)

    def carry(self, stream: Stream, data: bytes = b"x") -> int:
        """Send and receive all of it; in how many pieces it came."""
        sender, receiver = self.ways(stream)
        sender.sendall(data)
        missing, pieces = len(data), 0
        while missing:
            missing -= len(receiver.recv(missing)) or pytest.fail("the connection ended")
            pieces += 1
        return pieces

    def took_s(self, stream: Stream, data: bytes = b"x") -> float:
        """How long they were on their way."""
        began = time.perf_counter()
        self.carry(stream, data)
        return time.perf_counter() - began

    def ended(self) -> bool:
        """Both ends were closed, and nothing came before that."""
        return all(_end(each) for each in (self.here, self.there))


def _end(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


class Place:
    """A cluster of which only the links are real; at each node's own address a plain socket listens."""

    def __init__(self, cluster: OwnedCluster, open_sockets: ExitStack) -> None:
        self.cluster = cluster
        self.recorder = MemoryRecorder()
        self.scene = Scene(cluster, FakeView(), FakeZnodes(), self.recorder, 1)
        self._open = open_sockets
        self._servers = {
            name: open_sockets.enter_context(socket.create_server((cluster.node(name).address, INTERNAL_PORT)))
            for name in NODES
        }

    def dial(self, source: str = "broker-0", destination: str = "broker-1") -> socket.socket:
        """A connection to the proxy of this link."""
        host = self.cluster.addresses.seen_from(source, destination)
        return self._open.enter_context(socket.create_connection((host, INTERNAL_PORT), timeout=WITHIN_S))

    def connect(self, source: str = "broker-0", destination: str = "broker-1") -> Ends:
        """A connection over this link, accepted at its other end."""
        here = self.dial(source, destination)
        there, _ = self._servers[destination].accept()
        there.settimeout(WITHIN_S)
        return Ends(here, self._open.enter_context(there))

    @contextmanager
    def under(self, fault: Fault) -> Iterator[None]:
        """The fault in force, which must have been witnessed by its end."""
        with inject(self.scene, fault):
            yield
        assert self.recorder.of(EventKind.FAULT_WITNESSED)

    @contextmanager
    def cut(self, stream: Stream) -> Iterator[Callable[[], Arrived | None]]:
        """The link between the first two, cut."""
        links = self.cluster.links.between(["broker-0"], ["broker-1"])
        with self.cluster.links.disturb(links, Disturbance("cut", stream)) as arrived:
            yield arrived


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnedCluster]:
    """Three brokers that are never started, and their links."""
    with ProcessBench(ProcessProvider(print), tmp_path_factory.mktemp("links")).cluster(topology(0, 3, 0)) as made:
        yield cast("OwnedCluster", made)


@pytest.fixture
def place(cluster: OwnedCluster) -> Iterator[Place]:
    """Nobody connected, nothing disturbed."""
    with ExitStack() as open_sockets:
        yield Place(cluster, open_sockets)


def disturbed_ways(stream: Stream) -> list[Stream]:
    """The directions that are not left alone."""
    return ONE_WAY if stream is Stream.BOTH else [stream]


Measure = Callable[[Ends, Stream], float]
"""Of one direction of a connection; the less the better."""


class Fares:
    """How the directions of a link fare, best of all tries: a busy machine may make any single one worse."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._best: dict[tuple[str, Stream], float] = {}

    def look(self, when: str, ends: Ends) -> None:
        """One more try in either direction."""
        for way in ONE_WAY:
            value = self._measure(ends, way)
            self._best[when, way] = min(value, self._best.get((when, way), value))

    def only_suffer(self, stream: Stream) -> bool:
        """Whether the directions asked for fare clearly worse than before, and than one that was left alone."""
        suffering = {("disturbed", way) for way in disturbed_ways(stream)}
        others = [value for key, value in self._best.items() if key not in suffering]
        return min(self._best[key] for key in suffering) > CLEARLY * max(others)


def assert_only_these_suffer(
    place: Place, fault: Fault, stream: Stream, measure: Callable[[Ends, Stream], float]
) -> None:
    """On a connection there was and on a new one."""
    fares, old = Fares(measure), place.connect()
    for _ in range(TRIES):
        fares.look("well", old)
    with place.under(fault):
        for ends in (old, place.connect()):

            def apart(ends: Ends = ends) -> bool:
                fares.look("disturbed", ends)
                return fares.only_suffer(stream)

            until(apart, awaited=f"{fault} to be felt", within_s=WITHIN_S, every_s=0)


@pytest.mark.parametrize("stream", Stream)
def test_slow_makes_bytes_late(place: Place, stream: Stream) -> None:
    """A byte takes longer in the directions asked for."""
    assert_only_these_suffer(place, Slow(ONE, TWO, stream, latency_ms=100), stream, Ends.took_s)


@pytest.mark.parametrize("stream", Stream)
def test_throttle_makes_a_link_narrow(place: Place, stream: Stream) -> None:
    """The same bytes take longer in the directions asked for."""
    many = bytes(8 << 10)
    throttle = Throttle(ONE, TWO, stream, rate_kb_per_s=64)
    assert_only_these_suffer(place, throttle, stream, lambda ends, way: ends.took_s(way, many))


@pytest.mark.parametrize("stream", Stream)
def test_slice_brings_data_in_pieces(place: Place, stream: Stream) -> None:
    """What came in one piece comes in many, with a pause after each, in the directions asked for.

    Who reads late finds several in one: it is enough that they are many once.
    """
    data = bytes(1 << 10)
    pieces = Slice(ONE, TWO, stream, average_bytes=64, delay_us=2000)
    assert_only_these_suffer(place, pieces, stream, lambda ends, way: ends.took_s(way, data))
    with place.under(pieces):
        ends = place.connect()
        for way in disturbed_ways(stream):

            def many(way: Stream = way) -> bool:
                return ends.carry(way, data) > CLEARLY

            until(many, awaited="data in many pieces", within_s=WITHIN_S, every_s=0)


@pytest.mark.parametrize("stream", Stream)
def test_reset_ends_every_connection_that_is_made(place: Place, stream: Stream) -> None:
    """By ECONNRESET at its first byte in a direction asked for, however often; what there was before ends as well."""
    old = place.connect()
    with place.under(Reset(ONE, TWO, stream)):
        sender, _ = old.ways(disturbed_ways(stream)[0])
        sender.sendall(b"x")
        assert old.ended()
        for way in disturbed_ways(stream) * 2:
            ends = place.connect()
            for other in set(ONE_WAY) - set(disturbed_ways(stream)):
                ends.carry(other)
            sender, _ = ends.ways(way)
            sender.sendall(b"x")
            with pytest.raises(ConnectionResetError):
                ends.here.recv(1)
    place.connect().carry(stream)


def test_refuse_closes_and_refuses(place: Place) -> None:
    """The connection there was ends, no client gets another one, and afterwards all do."""
    old = place.connect()
    with place.under(Refuse(ONE, TWO)):
        assert old.ended()
        for _ in range(2):
            with pytest.raises(ConnectionRefusedError):
                place.dial()
    for way in ONE_WAY:
        place.connect().carry(way)


@pytest.mark.parametrize("stream", Stream)
def test_cut_lets_nothing_through_and_closes_what_it_cut(place: Place, stream: Stream) -> None:
    """Not a byte comes in the directions asked for; healed, the connection ends instead of going on with a hole."""
    ends = place.connect()
    for way in ONE_WAY:
        ends.carry(way)
    with place.cut(stream) as arrived:
        for way in disturbed_ways(stream):
            ends.ways(way)[0].sendall(b"lost!")
        for way in set(ONE_WAY) - set(disturbed_ways(stream)):
            ends.carry(way)
        lost = Arrived(5 * len(disturbed_ways(stream)), 1)
        until(lambda: arrived() == lost, awaited=f"{lost}", within_s=WITHIN_S)
    assert ends.ended()
    for way in ONE_WAY:
        place.connect().carry(way)


@pytest.mark.parametrize("stream", Stream)
def test_what_others_send_to_the_same_node_is_not_what_was_cut(place: Place, stream: Stream) -> None:
    """A link on which a connection exists and nothing moves shows no bytes, however busy its neighbour is."""
    silent, busy = place.connect(), place.connect("broker-2")
    for ends in (silent, busy):
        ends.carry(Stream.FORWARD)
    with place.cut(stream) as arrived:
        for way in ONE_WAY:
            busy.carry(way, b"busy")
        assert arrived() == Arrived(0, 0)
    assert silent.ended()


def test_bytes_of_a_connection_that_was_given_up_still_count(place: Place) -> None:
    """Whoever gets no answer closes and dials again, so the connection that met the cut may be gone at its end."""
    with place.cut(Stream.BOTH) as arrived:
        ends = place.connect()
        ends.here.sendall(b"lost!")
        ends.here.close()
        assert ends.there.recv(1) == b""
        until(lambda: arrived() == Arrived(5, 1), awaited="five bytes", within_s=WITHIN_S)


def test_a_partition_leaves_groups_whole(place: Place) -> None:
    """Between the groups nothing comes through, in either direction; inside a group all does."""
    apart = [place.connect(*pair) for pair in (("broker-0", "broker-1"), ("broker-2", "broker-0"))]
    together = [place.connect(*pair) for pair in (("broker-1", "broker-2"), ("broker-2", "broker-1"))]
    with place.under(Partition((ONE, every(Role.BROKER)))):
        for ends in apart:
            for way in ONE_WAY:
                ends.ways(way)[0].sendall(b"lost!")
        for ends in together:
            for way in ONE_WAY:
                ends.carry(way)
    assert all(ends.ended() for ends in apart)
    for ends in together:
        for way in ONE_WAY:
            ends.carry(way)
