"""The same job on a real Spark cluster: one master, two workers, started here and ended by their ids."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.waiting import until
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.commands import WITHOUT_MARTS
from tests.spark.run_folders import migration, verdict, write_run

LOOPBACK = "127.0.0.1"
WITHIN_S = 60

OF_ALL_JVMS = {"SPARK_LOCAL_IP": LOOPBACK, "JDK_JAVA_OPTIONS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}
"""Executors have the environment of their worker. A JVM that lives for a minute has no use for a second compiler."""


@contextmanager
def daemon(log: Path, name: str, *arguments: str) -> Iterator[None]:
    """A daemon of Spark for the time of the block."""
    jars = str(files("pyspark") / "jars" / "*")
    command = ["java", "-Xmx512m", "-cp", jars, f"org.apache.spark.deploy.{name}", *arguments]
    with log.open("wb") as output:
        home = {"SPARK_HOME": str(files("pyspark")), "SPARK_SCALA_VERSION": "2.13"}
        environment = {**os.environ, **home, **OF_ALL_JVMS}
        process = subprocess.Popen(bound_to_us(command), stdout=output, stderr=output, env=environment, cwd=log.parent)
    try:
        yield
    finally:
        process.terminate()
        process.wait(WITHIN_S)


def reported(log: Path, pattern: str) -> str:
    """What a daemon's log says, once it does."""
    found = until(lambda: re.search(pattern, log.read_text()), awaited=f"{pattern} in {log.name}", within_s=WITHIN_S)
    return found[1]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the daemons write, and each worker's executors."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def master(work: Path) -> Iterator[str]:
    """The master's URL; two workers with a core each have registered."""
    with ExitStack() as stack:
        log = work / "master.log"
        address = ("--host", LOOPBACK, "--port", "0", "--webui-port", "0")
        stack.enter_context(daemon(log, "master.Master", *address))
        url = reported(log, r"Starting Spark master at (spark://\S+)")
        for number in (1, 2):
            log_of_worker = work / f"worker-{number}.log"
            room = ("--cores", "1", "--memory", "1g", "--work-dir", str(work / f"worker-{number}"))
            stack.enter_context(daemon(log_of_worker, "worker.Worker", *address, *room, url))
            reported(log_of_worker, r"(Successfully registered with master)")
        yield url


def tasks(work: Path) -> list[int]:
    """How many tasks each worker's executors were given so far."""
    return [
        sum(log.read_text().count("Got assigned task") for log in (work / f"worker-{number}").glob("*/*/stderr"))
        for number in (1, 2)
    ]


def analyzed(runs: Path, out: Path, command: list[str], ended: str) -> dict[str, Any]:
    """The report of a command that analyzed these runs and ended with these words."""
    environment = {**os.environ, **OF_ALL_JVMS, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=runs)
    assert ended in done.stdout, done.stdout + done.stderr
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


def test_a_cluster_gives_the_answers_of_one_machine(master: str, work: Path, tmp_path: Path) -> None:
    """Two runs, one with client operations of which some were lost: read, judged and written by both workers."""
    runs, out = tmp_path / "runs", tmp_path / "out"
    write_run(runs, "plain", [verdict()], migration())
    write_parts(synthetic_run(7, 2_000), write_run(runs, "with-operations", [verdict()], migration()) / "operations")
    analyze = ["analyze", str(runs), "--out", str(out), "--master", master]
    before = tasks(work)
    command = [sys.executable, "-m", "pytest_kmigrate.cli", *analyze]
    report = analyzed(runs, out, command, "2 runs: VIOLATES; 0 set aside")
    assert {each["folder"] for each in report["attempts"]} == {"plain", "with-operations"}
    assert report["versions"][0]["operations"] > 2_000
    assert {"lost write"} <= {each["class"] for each in report["anomaly_classes"]}
    assert all(now > then + 10 for now, then in zip(tasks(work), before, strict=True))


def test_spark_submit_says_where_and_how_it_runs(master: str, work: Path, tmp_path: Path) -> None:
    """The command, started by spark-submit, takes the master and the settings that it was given; facts are enough."""
    runs, out, program = tmp_path / "runs", tmp_path / "out", tmp_path / "program.py"
    write_run(runs, "plain", [verdict()], migration())
    program.write_text(WITHOUT_MARTS)
    told_to_it = ["--master", master, "--conf", "spark.cores.max=1", str(program)]
    submit = str(files("pyspark") / "bin" / "spark-submit")
    before = tasks(work)
    command = [submit, *told_to_it, "analyze", str(runs), "--out", str(out)]
    report = analyzed(runs, out, command, "1 run: CONFORMS; 0 set aside")
    assert [each["folder"] for each in report["attempts"]] == ["plain"]
    assert sum(now > then for now, then in zip(tasks(work), before, strict=True)) == 1
