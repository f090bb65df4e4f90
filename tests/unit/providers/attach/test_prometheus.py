"""Metrics by exporters: each dialect's names of one MBean, as exporters with those rules show it."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.metrics import CATALOGUES
from pytest_kmigrate.providers.attach.file.dialects import dialects, series_of
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.metrics import reader_of
from tests.unit.providers.attach.files import SMALL, written

SHOWN = {
    "jmx-exporter": """
# TYPE kafka_controller_KafkaController_Value untyped
kafka_controller_KafkaController_Value{name="ZkMigrationState",} 2.0
kafka_controller_KafkaController_Value{name="ActiveControllerCount",} 1.0
kafka_controller_KafkaController_Count{name="ZkWriteDeltaTimeMs",} 7.0
kafka_server_raft_metrics_current_epoch 5.0
""",
    "strimzi": """
kafka_controller_kafkacontroller_zkmigrationstate 2.0
kafka_controller_kafkacontroller_activecontrollercount 1.0
kafka_controller_kafkacontroller_zkwritedeltatimems_count 7.0
kafka_server_raftmetrics_current_epoch 5.0
""",
    "confluent": """
kafka_controller_kafkacontroller_zkmigrationstate{env="test"} 2.0
kafka_controller_kafkacontroller_activecontrollercount{env="test"} 1.0
kafka_controller_kafkacontroller_zkwritedeltatimems_count{env="test"} 7.0
kafka_server_raft_metrics_current_epoch{env="test"} 5.0
""",
}
WANTED = {
    "ZkMigrationState": 2.0,
    "ActiveControllerCount": 1.0,
    "ZkWriteDeltaTimeMs.Count": 7.0,
    "RaftCurrentEpoch": 5.0,
    "RaftHighWatermark": None,
}


class Exporter(BaseHTTPRequestHandler):
    """Shows one text."""

    text = ""
    after_s = 0.0
    asked = 0

    def do_GET(self) -> None:
        """Answer."""
        type(self).asked += 1
        threading.Event().wait(self.after_s)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.text.encode())

    def log_message(self, *_: object) -> None:  # type: ignore[override]
        """Say nothing."""


@pytest.fixture
def exporter() -> Iterator[int]:
    """The port of one that shows ``Exporter.text``."""
    with HTTPServer(("127.0.0.1", 0), Exporter) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def exported(folder: Path, port: int, dialect: str, more: str = "") -> Path:
    """A file with metrics by an exporter."""
    metrics = f'kind = "prometheus"\nurl = "http://127.0.0.1:{port}/metrics"\ndialect = "{dialect}"\n{more}'
    return written(folder, SMALL.replace('kind = "jolokia"\nurl = "http://{host}:4/jolokia"\n', metrics))


@pytest.mark.parametrize("dialect", sorted(SHOWN))
def test_a_dialect_names_what_its_exporters_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exporter: int, dialect: str
) -> None:
    """What is not shown is None."""
    monkeypatch.setattr(Exporter, "text", SHOWN[dialect])
    reader = reader_of(site_at(exported(tmp_path, exporter, dialect)))
    assert reader.read("controller-3000", [*WANTED, "BrokerState"]) == WANTED


def test_a_series_of_the_file_wins_over_the_dialect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exporter: int
) -> None:
    """By its labels; a series that is there twice is none."""
    monkeypatch.setattr(Exporter, "text", 'state{of="a"} 3\nstate{of="b"} 4\nepoch{x="1"} 1\nepoch{x="2"} 2\n')
    series = "[metrics.series]\nZkMigrationState = 'state{of=\"b\"}'\nRaftCurrentEpoch = 'epoch'\n"
    reader = reader_of(site_at(exported(tmp_path, exporter, "strimzi", series)))
    names = ["ZkMigrationState", "RaftCurrentEpoch"]
    assert reader.read("controller-3000", names) == {"ZkMigrationState": 4.0, "RaftCurrentEpoch": None}


def test_an_exporter_may_take_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exporter: int) -> None:
    """Without rules it looks at all MBeans; who asks meanwhile does not make it do so twice."""
    monkeypatch.setattr(Exporter, "text", SHOWN["strimzi"])
    monkeypatch.setattr(Exporter, "after_s", 1.5)
    monkeypatch.setattr(Exporter, "asked", 0)
    reader = reader_of(site_at(exported(tmp_path, exporter, "strimzi")))
    with ThreadPoolExecutor(2) as pool:
        both = pool.map(lambda _: reader.read("controller-3000", WANTED), range(2))
        assert list(both) == [WANTED, WANTED]
    assert Exporter.asked == 1


def test_what_no_metric_is_about_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exporter: int) -> None:
    """A node shows thousands of series, of anybody's agents; one that is written wrong hides no other."""
    monkeypatch.setattr(Exporter, "text", SHOWN["strimzi"] + "theirs{ 5\n")
    reader = reader_of(site_at(exported(tmp_path, exporter, "strimzi")))
    assert reader.read("controller-3000", WANTED) == WANTED


def test_an_exporter_that_does_not_answer_shows_nothing(tmp_path: Path) -> None:
    """As a node that is down."""
    reader = reader_of(site_at(exported(tmp_path, 1, "strimzi")))
    assert reader.read("controller-3000", ["ZkMigrationState"]) == {"ZkMigrationState": None}


@pytest.mark.parametrize("dialect", sorted(dialects()))
def test_every_metric_has_a_name_of_its_own(dialect: str) -> None:
    """Two metrics of one name would be one value for both."""
    plain = {
        name: mbean for name, mbean in CATALOGUES["combined"].items() if mbean[0].count(",") < 2 and "*" not in mbean[0]
    }
    named = [series_of(dialect, mbean) for mbean in plain.values()]
    assert None not in named
    assert len(set(named)) == len(named)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("[metrics.series]\nZkMigrationStat = 'x'\n", "got 'ZkMigrationStat'; did you mean \"ZkMigrationState\"?"),
        ("[metrics.series]\nZkMigrationState = 'x{y=1}'\n", "expected a series, such as name{label="),
    ],
)
def test_a_wrong_series_is_named(tmp_path: Path, more: str, problem: str) -> None:
    """A metric that the catalogue has not, or a selector that is none."""
    with pytest.raises(TopologyError) as raised:
        site_at(exported(tmp_path, 1, "strimzi", more))
    assert problem in str(raised.value)


def test_a_wrong_dialect_names_those_there_are(tmp_path: Path) -> None:
    """And one that is left out is asked for."""
    with pytest.raises(TopologyError, match='expected one of jmx-exporter, strimzi, confluent, got "strimsi"'):
        site_at(exported(tmp_path, 1, "strimsi"))
    with pytest.raises(TopologyError, match='metrics: expected "dialect" with kind = "prometheus"'):
        site_at(written(tmp_path, SMALL.replace('"jolokia"', '"prometheus"')))
