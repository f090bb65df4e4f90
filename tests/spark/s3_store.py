"""A real S3 store that verifies signatures, a process of its own: S3Proxy over a folder; and Hadoop's client for it."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.distributions.manifest import Jar, Manifest, parsed
from pytest_kmigrate.waiting import until

WITHIN_S = 60

SERVER = Manifest(
    "s3proxy",
    "4.0.0",
    (
        Jar(
            "s3proxy-4.0.0-jar-with-dependencies.jar",
            98381182,
            "8842c29ef4cf50c2488cff1da23df3428526c10905998384586e916cc98a2c67",
            "org.gaul:s3proxy:4.0.0:jar-with-dependencies",
        ),
    ),
)

_CLIENT_FILE = Path(__file__).with_name("s3_client.json")
CLIENT = parsed(_CLIENT_FILE.read_text(), _CLIENT_FILE.name)
"""The small client that ``docs/how-to/`` names with ``--packages``, and all that this brings."""


@dataclass(frozen=True)
class Keys:
    """An access key and its secret."""

    id: str
    secret: str


@dataclass(frozen=True)
class Store:
    """A running store, in which each folder of ``folder`` is a bucket."""

    endpoint: str
    folder: Path
    log: Path

    def requests(self, bucket: str) -> int:
        """How many requests there were for a bucket, or for something in it."""
        return len(re.findall(rf" request: .* http://[\d.:]+/{bucket}\b", self.log.read_text()))


OWNER, READER = Keys("owner", "secret-of-the-owner"), Keys("reader", "secret-of-the-reader")
"""Who may do everything, and who may write nothing."""


@contextmanager
def s3(folder: Path, *buckets: str) -> Iterator[Store]:
    """A store with these buckets for the time of the block; everything of it lies in ``folder``."""
    store = folder / "buckets"
    for bucket in buckets:
        (store / bucket).mkdir(parents=True)
    program, log = cached_jars(SERVER, lambda _sentence: None) / SERVER.jars[0].name, folder / "s3.log"
    reported = [
        f"--properties={_properties(folder / f'{each.id}.properties', store, each)}" for each in (OWNER, READER)
    ]
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", str(program), *reported]
    with log.open("wb") as output:
        environment = {**os.environ, "LOG_LEVEL": "debug"}
        process = subprocess.Popen(bound_to_us(command), stdout=output, stderr=output, env=environment, cwd=folder)
    try:
        listening = until(
            lambda: process.poll() is not None or re.search(r"Started \S*ServerConnector@.*:(\d+)}", log.read_text()),
            awaited="a running S3 store",
            within_s=WITHIN_S,
        )
        assert isinstance(listening, re.Match), log.read_text()
        yield Store(f"http://127.0.0.1:{listening[1]}", store, log)
    finally:
        process.kill()
        process.wait(WITHIN_S)


def _properties(file: Path, store: Path, keys: Keys) -> Path:
    """The server's settings for one who has keys; an endpoint that is the same makes it one server."""
    file.write_text(
        "s3proxy.endpoint=http://127.0.0.1:0\n"
        "s3proxy.authorization=aws-v2-or-v4\n"
        f"s3proxy.identity={keys.id}\n"
        f"s3proxy.credential={keys.secret}\n"
        f"s3proxy.read-only-blobstore={'true' if keys == READER else 'false'}\n"
        "jclouds.provider=filesystem\n"
        f"jclouds.filesystem.basedir={store}\n"
    )
    return file


def submit_arguments(store: Store, of_client: Mapping[str, str]) -> str:
    """What points Spark at Hadoop's client, and the client of the store and of more settings."""
    libs = cached_jars(CLIENT, lambda _sentence: None)
    reported = {"endpoint": store.endpoint, "path.style.access": "true", **of_client}
    settings = [f"--conf spark.hadoop.fs.s3a.{name}={value}" for name, value in reported.items()]
    return " ".join(["--jars", ",".join(str(libs / jar.name) for jar in CLIENT.jars), *settings, "pyspark-shell"])
