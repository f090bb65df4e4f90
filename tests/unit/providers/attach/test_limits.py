"""How much of what is allowed may be done: hours, nodes down at once, names of what is ours."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability, Own
from pytest_kmigrate.model.errors import ClusterError, TopologyError, WrongUseError
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.file.values import window
from pytest_kmigrate.providers.attach.looking import Looker, Seen
from tests.unit.providers.attach.files import SMALL, cluster_of, written

NIGHT = "21:00-05:00 Europe/Berlin"
UP = Seen(is_alive=True)


def limited(folder: Path, more: str) -> Path:
    """A file with these tables."""
    return written(folder, 'allow = ["kill", "traffic"]\n' + SMALL + f'{more}[hooks]\nkill = ["true"]\n')


@pytest.mark.parametrize(
    ("hours", "open_at", "closed_at"),
    [
        (NIGHT, ["2026-01-10T20:00", "2026-01-10T23:30", "2026-01-11T03:59"], ["2026-01-10T19:59", "2026-01-11T04:00"]),
        ("09:00-17:00 UTC", ["2026-01-10T09:00", "2026-01-10T16:59"], ["2026-01-10T08:59", "2026-01-10T17:00"]),
    ],
)
def test_hours_are_of_their_zone_and_may_pass_midnight(hours: str, open_at: list[str], closed_at: list[str]) -> None:
    """The end is the first moment that is too late."""
    assert all(window(hours).is_open(datetime.fromisoformat(each).replace(tzinfo=UTC)) for each in open_at)
    assert not any(window(hours).is_open(datetime.fromisoformat(each).replace(tzinfo=UTC)) for each in closed_at)


def test_out_of_hours_no_hook_is_called_and_no_topic_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the hours."""
    monkeypatch.setattr(Looker, "seen", lambda *_: UP)
    begin, end = (datetime.now(UTC) + timedelta(hours=hours) for hours in (2, 3))
    file = limited(tmp_path, f'[limits]\nwithin = "{begin:%H:%M}-{end:%H:%M} UTC"\n')
    cluster = cluster_of(file, Capability.KILL, Capability.TRAFFIC)
    with pytest.raises(ClusterError, match=r"limits\.within: expected killing broker-0 at .* UTC; got .* UTC: wait"):
        cluster.node("broker-0").kill()
    with pytest.raises(ClusterError, match=r"limits\.within: expected writing records at"):
        cluster.makes(["kmigrate-orders"], "kmigrate-readers")


def test_no_more_nodes_are_brought_down_than_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that was never seen is not down."""
    cluster = cluster_of(limited(tmp_path, "[limits]\nnodes_down_at_once = 1\n"), Capability.KILL)
    monkeypatch.setattr(Looker, "down", lambda _: ["broker-1"])
    monkeypatch.setattr(Looker, "seen", lambda *_: UP)
    sentence = "expected no more than 1; broker-1 is down before killing broker-0: start what is down first"
    with pytest.raises(ClusterError, match=rf"limits\.nodes_down_at_once: {sentence}"):
        cluster.node("broker-0").kill()


def test_what_is_not_named_as_ours_is_not_made(tmp_path: Path) -> None:
    """Neither topics nor a group; what is ours has the prefixes of the file."""
    cluster = cluster_of(limited(tmp_path, '[own]\ntopics = "test-"\n[limits]\nrecords_per_s = 7\n'))
    assert cluster.own == Own("test-", "kmigrate-", 7)
    with pytest.raises(WrongUseError, match=r"with test- and a group that begins with kmigrate-; got orders, us:"):
        cluster.makes(["test-payments", "orders"], "us")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('[limits]\nwithin = "21:00-05:00"\n', "limits.within: expected hours and their zone, such as"),
        ('[limits]\nwithin = "21:00-25:00 UTC"\n', "limits.within: expected hours and their zone, such as"),
        ('[limits]\nwithin = "21:00-05:00 Europe/Berlim"\n', "limits.within: expected hours and their zone, such as"),
        ("[limits]\nnodes_down_at_once = 0\n", "limits.nodes_down_at_once: expected at least 1, got 0"),
        ('[own]\ntopics = "a"\n', "own.topics: expected at least three of letters, digits"),
        ("[logs]\n", 'logs: expected exactly one of "file" and "command"'),
        ('[logs]\nfile = "/{pod}"\n', "logs.file: expected none but {name}, {id}, {host}, {role} in braces"),
        (
            '[client]\n"ssl.key.location" = "k"\n',
            'client: expected "ssl.certificate.location" beside the other',
        ),
        ('[zookeeper.tls]\nca = "ca"\nkey = "k"\n', 'zookeeper.tls: expected "certificate" beside "key"; got nothing'),
    ],
)
def test_a_wrong_limit_is_named(tmp_path: Path, more: str, problem: str) -> None:
    """By its key."""
    with pytest.raises(TopologyError) as raised:
        site_at(written(tmp_path, SMALL + more))
    assert problem in str(raised.value)
