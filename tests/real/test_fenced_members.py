"""A consumer that librdkafka gave up: a static member for which the coordinator took another one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer

from pytest_kmigrate.judging import checks
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running import Claim, RunSettings, open_run
from pytest_kmigrate.running.run import Run
from pytest_kmigrate.topology.loading import load
from pytest_kmigrate.waiting import PATIENCE_S, until

SHAPE = """
# Broker and controller in one process.
name = "alone"
kafka = "3.9.1"
[combined]
count = 1
first_id = 1
"""


def test_a_fenced_member_comes_again_and_reads_on(tmp_path: Path) -> None:
    """A coordinator that was killed may know a member by a former id, so that nothing would be read any more."""
    file = tmp_path / "alone.toml"
    file.write_text(SHAPE)
    settings = RunSettings(tmp_path / "runs", seed=1)
    with open_run(settings, ProcessProvider(print), load(file), Claim("t::fenced"), lambda _folder: None) as run:
        clients = run.traffic.usual()
        run.traffic.start(clients)
        run.traffic.await_committed(clients.partitions)
        for number in range(clients.producers, clients.producers + clients.consumers):
            with taking_the_place(run, f"{clients.name}-consumer-{number}"):
                pass
        run.traffic.await_committed(4 * clients.partitions)
        judgement = run.verify([checks.no_acked_record_lost(), checks.longest_time_without_consumption(at_most_s=60)])
    assert [each.summary for each in judgement.verdicts if each.violations and not each.known_bugs] == []


@contextmanager
def taking_the_place(run: Run, instance: str) -> Iterator[None]:
    """Another consumer with this instance id has joined the group: the coordinator fences the one that was there."""
    connection = run.cluster.client_connection()
    usual = run.traffic.usual()
    other = Consumer({**connection, "group.id": usual.group, "group.instance.id": instance})
    other.subscribe(list(usual.topics))
    try:
        until(lambda: bool(other.poll(0.1) or other.assignment()), awaited=f"{instance} joined", within_s=PATIENCE_S)
        yield
    finally:
        other.close()
