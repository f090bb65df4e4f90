"""A real HDFS, a process of its own: Hadoop's MiniDFSCluster, of the very Hadoop that PySpark brings."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.distributions.manifest import Jar, Manifest
from pytest_kmigrate.waiting import until

WITHIN_S = 300

# Of the version of pyspark/jars/hadoop-client-api-*.jar, on which it builds.
JARS = Manifest(
    "hadoop-minicluster",
    "3.5.0",
    (
        Jar(
            "hadoop-client-minicluster-3.5.0.jar",
            56006450,
            "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c",
            "org.apache.hadoop:hadoop-client-minicluster:3.5.0",
        ),
        Jar(  # which the former makes its folders with
            "junit-jupiter-api-5.11.4.jar",
            216413,
            "ab83ef9e51ac4597d59d26b4b58812129550e2f579a404c8af7d09f5ce5b4293",
            "org.junit.jupiter:junit-jupiter-api:5.11.4",
        ),
    ),
)


@contextmanager
def hdfs(folder: Path) -> Iterator[str]:
    """The URI of a file system with one data node for the time of the block; everything of it lies in ``folder``."""
    libs = cached_jars(JARS, lambda _sentence: None)
    details = folder / "details.json"
    flags = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dtest.build.data={folder / 'data'}"]
    classes = os.pathsep.join([*(str(libs / jar.name) for jar in JARS.jars), str(files("pyspark") / "jars" / "*")])
    cluster = ["org.apache.hadoop.test.MiniDFSClusterManager", "-format", "-datanodes", "1"]
    command = ["java", *flags, "-cp", classes, *cluster, "-writeDetails", str(details)]
    with (folder / "hdfs.log").open("wb") as log:
        process = subprocess.Popen(bound_to_us(command), stdout=log, stderr=log, cwd=folder)
    try:
        until(
            lambda: process.poll() is not None or (details.is_file() and details.stat().st_size),
            awaited="a running HDFS",
            within_s=WITHIN_S,
        )
        assert process.poll() is None, (folder / "hdfs.log").read_text()
        yield f"hdfs://127.0.0.1:{json.loads(details.read_text())['namenode_port']}"
    finally:
        process.kill()
        process.wait(WITHIN_S)
