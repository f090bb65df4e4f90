"""The command: one member, until its standard input ends or it is ordered to stop."""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from pytest_kmigrate.distributions.steady_clients import prefer_steady_clients

if __name__ == "__main__":  # before any of the modules below loads the clients
    prefer_steady_clients()

from confluent_kafka import KafkaException

from pytest_kmigrate.documents.kip_125.reference.connector import Connector
from pytest_kmigrate.documents.kip_125.reference.finding import require_kafka, servers_of
from pytest_kmigrate.documents.kip_125.reference.java_keys import without_effect
from pytest_kmigrate.documents.kip_125.reference.lines import Lines
from pytest_kmigrate.documents.kip_125.reference.plain import PlainConsumer
from pytest_kmigrate.documents.kip_125.reference.settings import (
    PREFIX,
    RefusedError,
    properties,
    read,
    refused_by_the_client,
)

REFUSED = 2
_CONNECTORS = ("MDZKCC", "MEZKCC")


def main(arguments: list[str]) -> int:
    """Run a member of a kind; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", required=True, choices=(*_CONNECTORS, "KC"))
    parser.add_argument("--settings", required=True, type=Path)
    parser.add_argument("--topics", required=True)
    parser.add_argument("--listener", action="store_true", help="have a ConsumerRebalanceListener")
    parser.add_argument("--hosts", help="names of brokers, for members that cannot use the addresses of clients")
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run = (
            _plain(chosen.settings, chosen.topics)
            if chosen.kind == "KC"
            else _connector(chosen.settings, chosen.topics, has_listener=chosen.listener)
        )
    except RefusedError as refused:
        sys.stderr.write(f"{refused}\n")
        return REFUSED
    run()
    return 0


def _connector(file: Path, topics: str, *, has_listener: bool) -> Callable[[], None]:
    settings, lines = read(file, topics, has_listener=has_listener), Lines()
    given = settings.embedded.get("bootstrap.servers")
    kind = "MEZKCC" if settings.is_migrating else "MDZKCC"
    shown = {
        "poll.interval.ms": int(settings.poll_interval_s * 1000),
        "ignored": [*settings.ignored, *(f"{PREFIX}{key}" for key in without_effect(settings.embedded))],
    }
    try:
        connector = Connector(settings, lines, given or servers_of(settings))
    except KafkaException as refused:
        raise refused_by_the_client(refused, PREFIX) from refused
    if given:
        require_kafka(settings)
    lines.say("startup_complete", consumer_id=settings.consumer_id, kind=kind, pid=os.getpid(), settings=shown)

    def run() -> None:
        _listen(lambda order: connector.post(lambda: connector.obey(order)))
        connector.run()
        lines.say("shutdown_complete")

    return run


def _plain(file: Path, topics: str) -> Callable[[], None]:
    given, lines = properties(file.read_text(encoding="utf-8")), Lines()
    streams = {topic: 1 for topic, _, _ in (each.partition("=") for each in topics.split(","))}
    try:
        consumer = PlainConsumer(given, streams, lines)
    except KafkaException as refused:
        raise refused_by_the_client(refused) from refused
    lines.say("startup_complete", consumer_id=given.get("client.id", ""), kind="KC", pid=os.getpid(), settings={})

    def run() -> None:
        _listen(consumer.post)
        consumer.run()
        lines.say("shutdown_complete")

    return run


def _listen(obey: Callable[[str], None]) -> None:
    """Obey the lines of standard input; its end is an order to stop, as SIGTERM is."""
    signal.signal(signal.SIGTERM, lambda *_: obey("stop"))

    def work() -> None:
        for line in sys.stdin:
            obey(str(json.loads(line).get("do")))
        obey("stop")

    threading.Thread(target=work, name="orders", daemon=True).start()


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # libraries' threads are not waited for
