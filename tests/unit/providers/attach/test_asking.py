"""What a cluster says of itself, against what its file says; what is not in the file is withheld, with the reason."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.providers.attach import asking, making, trials
from pytest_kmigrate.providers.attach.asking import ask
from pytest_kmigrate.providers.attach.cluster import Readers
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.metadata import MetadataLogs
from pytest_kmigrate.providers.attach.metrics import NoMetrics
from pytest_kmigrate.providers.attach.provider import AttachProvider
from tests.unit.providers.attach.files import SMALL, written

BARE = SMALL[: SMALL.index("[zookeeper]")] + SMALL[SMALL.index("[[broker]]") : SMALL.index("[[controller]]")]
WITHHELD = {
    Capability.METRICS: "the file has no [metrics]",
    Capability.ZNODES: "the file has no [zookeeper]",
    Capability.LOGS: "the file has no [logs]",
    Capability.METADATA_LOG: "the file has no [metadata_log]",
    Capability.TRAFFIC: '"traffic" is not among what the file allows',
    Capability.CUTS: '"cut" is not among what the file allows',
    Capability.CHANGE: "changes touch configs of brokers and of the cluster, which have no names of ours; and whom "
    "ACLs and credentials of ours would let in is not known",
    Capability.WIPE: "somebody else runs this cluster, and its file leads to none",
}


class Reporting(NoMetrics):
    """Metrics by which nodes report what they run: all but one what the file has."""

    def __init__(self, broker_1: str = "3.8.1") -> None:
        self._broker_1 = broker_1

    def release(self, node: str) -> str | None:
        """What one of them runs."""
        return self._broker_1 if node == "broker-1" else "3.9.1"


@pytest.fixture(autouse=True)
def _answering(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker lets us in and knows two."""
    monkeypatch.setattr(asking, "cluster_at", lambda *_, **__: (0, frozenset({0, 1})))
    monkeypatch.setattr(asking, "cluster_id_at", lambda *_, **__: "theirs-id")


@pytest.mark.parametrize(
    "reported", ["3.8.1", "3.9.10-acme-1", "3.9.2-SNAPSHOT", "3.6.1-acme", "4.1.0-SNAPSHOT", "7.7.0"]
)
def test_a_release_that_is_not_the_real_one_is_named(tmp_path: Path, reported: str) -> None:
    """With the node that runs another, and before anything is begun."""
    site = site_at(written(tmp_path))
    with pytest.raises(WrongUseError, match=r"kafka: expected the release that nodes run; .*'3\.9\.1', broker-1 rep"):
        ask(site, Readers(Reporting(reported), MetadataLogs(site, print)))


@pytest.mark.parametrize("reported", ["3.9", "3.9.1-acme-2", "3.9.1.redhat-00005", "3.9.1+acme", "7.7.0-ccs"])
def test_a_build_is_what_its_file_claims(tmp_path: Path, reported: str) -> None:
    """A vendor names builds by words behind the release, or counts for himself; the header has what they report."""
    site = site_at(written(tmp_path, BARE))
    asked = ask(site, Readers(Reporting(reported), MetadataLogs(site, print)))
    (release,) = [each.why for each in asked.answers if each.name == "release"]
    assert f"broker-1 {reported}" in release


def test_a_broker_that_the_file_does_not_have_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not asked may be behind."""
    monkeypatch.setattr(asking, "cluster_at", lambda *_, **__: (0, frozenset({0, 1, 7})))
    site = site_at(written(tmp_path))
    with pytest.raises(WrongUseError, match=r"broker: expected a table for each broker .* got none for id 7: add it"):
        ask(site, Readers(NoMetrics(), MetadataLogs(site, print)))


def test_what_can_be_known_of_a_cluster_is_in_the_header_and_the_rest_is_said(tmp_path: Path) -> None:
    """Its id; the release, by the file alone where no node reports any; that no digest can be known."""
    provider = AttachProvider(site_at(written(tmp_path, BARE)), print)
    assert provider.facts["cluster id"] == "theirs-id"
    assert provider.facts["release"] == "3.9.1 by the file; no node reports any"
    assert provider.facts["digest"].startswith("not known: no file of a node can be read from outside")
    assert "producer ids" not in provider.facts["left behind"]


def test_what_the_file_does_not_lead_to_is_withheld_with_the_reason(tmp_path: Path) -> None:
    """Each by itself; hooks that are there are no reason to call them."""
    lacking = AttachProvider(site_at(written(tmp_path, BARE)), print).lacking
    assert {each: lacking[each] for each in WITHHELD} == WITHHELD


def test_what_clients_leave_is_named_where_they_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of producer ids and offsets of their groups cannot be removed; whether they may write is tried."""
    monkeypatch.setattr(making, "_ANSWER_WITHIN_S", 0.2)
    provider = AttachProvider(site_at(written(tmp_path, 'allow = ["traffic"]\n' + BARE)), print)
    assert "a block of producer ids" in provider.facts["left behind"]
    assert provider.lacking[Capability.TRAFFIC] == "making a topic is refused: no answer"


ZOOKEEPER = '[zookeeper]\nconnect = "127.0.0.1:3/kafka"\n'
METRICS = '[metrics]\nkind = "jolokia"\nurl = "http://{host}:4/jolokia"\n'


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (ZOOKEEPER, "zookeeper.connect: expected servers that answer; got no answer of 127.0.0.1:3/kafka"),
        (METRICS, "metrics.url: expected jolokia in each broker; got none at http://"),
    ],
)
def test_what_the_file_names_and_does_not_answer_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, table: str, sentence: str
) -> None:
    """With the key and what to do, in place of a row of a table; the client of ZooKeeper logs nothing."""
    monkeypatch.setattr(trials, "WITHIN_S", 0.2)
    site = site_at(written(tmp_path, BARE.replace("[[broker]]", f"{table}[[broker]]", 1)))
    with pytest.raises(ClusterError) as raised:
        ask(site, Readers(NoMetrics(), MetadataLogs(site, print)))
    text = str(raised.value)
    assert text.startswith(f"{site.path}: {sentence}")
    assert text.endswith(": correct it, or leave the table out")
    assert caplog.text == ""
