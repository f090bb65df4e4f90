"""Attach files for unit tests; at their addresses no process listens."""

from pathlib import Path

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.providers.attach.cluster import AttachedCluster, Readers
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.metadata import MetadataLogs
from pytest_kmigrate.providers.attach.metrics import NoMetrics
from pytest_kmigrate.providers.bench import MemoryRecorder

SMALL = """
name = "staging"
kafka = "3.9.1"
bootstrap = ["127.0.0.1:1", "127.0.0.1:2"]
[zookeeper]
connect = "127.0.0.1:3,127.0.0.2:3/kafka"
[metrics]
kind = "jolokia"
url = "http://{host}:4/jolokia"
[[broker]]
id = 1
client = "127.0.0.1:1"
[[broker]]
id = 0
client = "127.0.0.1:2"
host = "b0.example"
[[controller]]
id = 3000
controller = "127.0.0.1:5"
"""
CLIENT = """
[client]
"security.protocol" = "SASL_PLAINTEXT"
"sasl.mechanism" = "SCRAM-SHA-512"
"sasl.username" = "us"
"""


def written(folder: Path, text: str = SMALL) -> Path:
    """A file of this text."""
    file = folder / "attach.toml"
    file.write_text(text)
    return file


def cluster_of(file: Path, *offered: Capability, recorder: Recorder | None = None) -> AttachedCluster:
    """A cluster whose nodes answer nothing, that offers so much."""
    site, folder = site_at(file), file.parent
    readers = Readers(NoMetrics(), MetadataLogs(site, print))
    return AttachedCluster(site, frozenset(offered), recorder or MemoryRecorder(), folder, folder, readers)
