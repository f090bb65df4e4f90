"""What counts as arrived on a disturbed link, read from three tables of the kernel's."""

from collections.abc import Iterator

import pytest

from pytest_kmigrate.model.links import Arrived, Stream
from pytest_kmigrate.providers.owned.network import arrivals
from pytest_kmigrate.providers.owned.network.arrivals import Arrivals, counting, onward
from pytest_kmigrate.providers.owned.network.socket_table import Sockets, TcpSocket

LINK, OTHER_LINK, NODE = "127.7.1.3:9092", "127.7.2.3:9092", "127.7.0.3:9092"
NOTHING = Arrived(0, 0)


def accepted(received_bytes: int, sent_bytes: int, at: str = LINK) -> TcpSocket:
    """The side of a proxy that was dialled."""
    return TcpSocket(at, "127.0.0.1:50000", received_bytes, sent_bytes)


def onwards(received_bytes: int, sent_bytes: int) -> TcpSocket:
    """The side of a proxy that dialled the node; it does not say for which link."""
    return TcpSocket("127.0.0.1:60000", NODE, received_bytes, sent_bytes)


def arrived(stream: Stream, well: Sockets, now: Sockets, before: Sockets | None = None) -> Arrived:
    """What is counted on LINK when the table looked like this while all was well, at the beginning, and now."""
    tables: Iterator[Sockets] = iter([well, well if before is None else before, now])
    count = Arrivals({LINK: NODE}, stream, lambda: next(tables))
    count.begin(LINK)
    return count.so_far()


def test_what_came_before_does_not_count() -> None:
    """A connection that merely exists has not met the fault, whatever it carried until its link was disturbed."""
    table = {b"a": accepted(70, 90), b"u": onwards(90, 70)}
    for stream in Stream:
        assert arrived(stream, {}, table, before=table) == NOTHING


def test_an_end_takes_no_byte_away() -> None:
    """Of a socket that was reset one byte too many is taken for its end; that is no traffic, in either sense."""
    assert arrived(Stream.BOTH, {b"a": accepted(70, 0)}, {b"a": accepted(69, 0)}) == NOTHING


@pytest.mark.parametrize(("stream", "size_bytes"), [(Stream.FORWARD, 5), (Stream.BACK, 0), (Stream.BOTH, 5)])
def test_what_the_dialler_sent_counts_forwards(stream: Stream, size_bytes: int) -> None:
    """On connections there were from where they stood, on new ones from nothing."""
    well = {b"a": accepted(70, 0)}
    now = {b"a": accepted(73, 0), b"new": accepted(2, 0)}
    assert arrived(stream, well, now) == Arrived(size_bytes, 1 if size_bytes else 0)


@pytest.mark.parametrize(("stream", "size_bytes"), [(Stream.FORWARD, 0), (Stream.BACK, 40), (Stream.BOTH, 40)])
def test_what_the_node_answered_counts_backwards_though_it_was_held_back(stream: Stream, size_bytes: int) -> None:
    """It arrived at the side that had sent on what the connection received."""
    well = {b"a": accepted(70, 90), b"u": onwards(90, 70)}
    now = {b"a": accepted(70, 90), b"u": onwards(130, 70)}
    assert arrived(stream, well, now) == Arrived(size_bytes, 1 if size_bytes else 0)


def test_what_was_passed_on_is_not_counted_twice() -> None:
    """A slow link holds nothing back for good: both sides of the proxy then report the same bytes."""
    well = {b"a": accepted(70, 90), b"u": onwards(90, 70)}
    now = {b"a": accepted(70, 120), b"u": onwards(130, 70)}
    assert arrived(Stream.BACK, well, now) == Arrived(40, 1)


def test_what_was_passed_on_counts_in_the_midst_of_traffic() -> None:
    """While bytes are on their way through the proxy, its two sides cannot be matched; what went out is known."""
    well = {b"a": accepted(71, 90), b"u": onwards(90, 70)}
    now = {b"a": accepted(81, 120), b"u": onwards(130, 80)}
    assert arrived(Stream.BACK, well, now) == Arrived(30, 1)


def test_of_sides_that_look_alike_the_quietest_counts() -> None:
    """Another link to the same node may have carried as much: its bytes are never taken for ours."""
    well = {b"a": accepted(70, 90), b"b": accepted(70, 90, OTHER_LINK), b"u": onwards(90, 70), b"v": onwards(90, 70)}
    now = {**well, b"v": onwards(500, 70)}
    assert arrived(Stream.BOTH, well, now) == NOTHING
    assert arrived(Stream.BOTH, well, {**now, b"u": onwards(97, 70)}) == Arrived(7, 1)


def test_sides_are_matched_while_forwards_is_undisturbed() -> None:
    """With both ways cut, what was sent on falls behind, and may meet by chance what another connection received."""
    well = {b"a": accepted(70, 90), b"v": onwards(90, 75)}
    now = {b"a": accepted(75, 90), b"v": onwards(500, 75)}
    assert arrived(Stream.BOTH, well, now) == Arrived(5, 1)


def test_links_are_counted_that_carried_any() -> None:
    """Bytes of several links add up."""
    tables: Iterator[Sockets] = iter(
        [
            {},
            {},
            {},
            {},
            {b"a": accepted(3, 0), b"b": accepted(4, 0, OTHER_LINK), b"c": accepted(0, 0, "127.7.4.3:9092")},
        ]
    )
    count = Arrivals({LINK: NODE, OTHER_LINK: NODE, "127.7.4.3:9092": NODE}, Stream.BOTH, lambda: next(tables))
    for proxy in (LINK, OTHER_LINK, "127.7.4.3:9092"):
        count.begin(proxy)
    assert count.so_far() == Arrived(7, 2)


def test_what_comes_while_other_links_are_still_being_disturbed_counts() -> None:
    """One request may be all that comes: its sender waits for its answer for as long as the fault lasts."""
    held = {b"a": accepted(70, 0)}
    tables: Iterator[Sockets] = iter([{}, {}, held, held])
    count = Arrivals({LINK: NODE, OTHER_LINK: NODE}, Stream.FORWARD, lambda: next(tables))
    count.begin(LINK)
    count.begin(OTHER_LINK)
    assert count.so_far() == Arrived(70, 1)


def test_a_kernel_that_does_not_tell_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is counted, and the fault is applied all the same."""

    def refuse(_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(arrivals, "SocketTable", refuse)
    with counting({LINK: NODE}, Stream.BOTH) as count:
        assert count is None


def test_a_connection_is_followed_through_its_proxy() -> None:
    """Whoever it leads to sees it come from the side that sent on what it received, and received what it sent."""
    own, other = TcpSocket("127.0.0.1:60001", NODE, 90, 70), TcpSocket("127.0.0.1:60002", NODE, 90, 71)
    table = {b"a": accepted(70, 90), b"o": own, b"x": other, b"n": TcpSocket(NODE, "127.0.0.1:60001", 70, 90)}
    assert list(onward({LINK: NODE}, table)) == ["127.0.0.1:60001"]
    assert list(onward({OTHER_LINK: NODE}, table)) == []


def test_connections_that_look_alike_are_not_followed() -> None:
    """Two that carried as much both ways cannot be distinguished, nor one that carried nothing."""
    twins = {b"u": TcpSocket("127.0.0.1:60001", NODE, 90, 70), b"v": TcpSocket("127.0.0.1:60002", NODE, 90, 70)}
    assert list(onward({LINK: NODE}, {b"a": accepted(70, 90), **twins})) == []
    assert list(onward({LINK: NODE}, {b"a": accepted(0, 0), b"u": onwards(0, 0)})) == []
