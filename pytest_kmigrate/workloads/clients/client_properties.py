"""librdkafka properties of our clients: quick to find a new leader, frugal, and never full of memory."""

from collections.abc import Mapping

from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings

QUICK_FAILOVER: Mapping[str, str | int | bool] = {
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "retry.backoff.ms": 100,
    "retry.backoff.max.ms": 500,
    "socket.connection.setup.timeout.ms": 3000,
    "topic.metadata.refresh.interval.ms": 5000,
    "topic.metadata.refresh.fast.interval.ms": 100,
    "metadata.max.age.ms": 15000,
    "allow.auto.create.topics": False,
    # Cut links break connections all the time; a line for each would fill the log and say nothing.
    "log.connection.close": False,
    "log_level": 2,
}

FRUGAL_FETCHES: Mapping[str, str | int | bool] = {
    # Wait for more rather than fetch each record by itself: most of a consumer's cost is per fetch.
    "fetch.wait.max.ms": 500,
    "fetch.min.bytes": 65536,
    "queued.min.messages": 2000,
    "queued.max.messages.kbytes": 2048,
    # Looking again after a second, as is the default, would make every full queue a stall.
    "fetch.queue.backoff.ms": 20,
    "fetch.message.max.bytes": 262144,
}


def _shared(settings: ClientsSettings, client_id: str) -> dict[str, str | int | bool]:
    timeout_ms = int(settings.workload.request_timeout_s * 1000)
    return {**QUICK_FAILOVER, **settings.connection, "client.id": client_id, "socket.timeout.ms": timeout_ms}


def producer_properties(settings: ClientsSettings, number: int) -> dict[str, str | int | bool]:
    """Idempotent, acks=all, keyed records spread by hash, a bounded queue."""
    workload = settings.workload
    return {
        **_shared(settings, f"{workload.name}-producer-{number}"),
        "enable.idempotence": True,
        "acks": "all",
        # With more, librdkafka makes duplicates itself (its issue 4953): when the first of two batches meets a change
        # of leader, the second is out of sequence, the client begins a new epoch for all partitions, and whatever was
        # written to another partition without an answer having come is written again, which no broker can notice.
        "max.in.flight.requests.per.connection": 1,
        # What costs, here and in proxies and brokers, is the request: fewer, with more in them.
        "linger.ms": 250,
        "request.timeout.ms": int(workload.request_timeout_s * 1000),
        "message.timeout.ms": int(workload.message_timeout_s * 1000),
        "queue.buffering.max.messages": workload.most_in_flight,
        "queue.buffering.max.kbytes": max(1024, 2 * workload.most_in_flight * workload.record_bytes // 1024),
    }


def transactor_properties(settings: ClientsSettings, number: int) -> dict[str, str | int | bool]:
    """As other producers, in transactions; an id of its own keeps its transactions, whichever process it lives in."""
    return {
        **producer_properties(settings, number),
        "client.id": f"{settings.workload.name}-transactor-{number}",
        "transactional.id": f"{settings.workload.name}-transactor-{number}",
        "transaction.timeout.ms": int(settings.workload.message_timeout_s * 1000),
    }


def consumer_properties(settings: ClientsSettings, number: int) -> dict[str, str | int | bool]:
    """A member of the group, reading only committed records, committing by hand."""
    workload = settings.workload
    session_ms = int(workload.session_timeout_s * 1000)
    return {
        **_shared(settings, f"{workload.name}-consumer-{number}"),
        **FRUGAL_FETCHES,
        "group.id": workload.group,
        # A static member. Others, whose session ended in an outage, come back as new ones, and a coordinator that was
        # away as well makes them wait until the sessions of the old ones, which it remembers, end too.
        "group.instance.id": f"{workload.name}-consumer-{number}",
        "session.timeout.ms": session_ms,
        "heartbeat.interval.ms": min(2000, session_ms // 3),
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
    }


def reader_properties(settings: ClientsSettings, number: int) -> dict[str, str | int | bool]:
    """A reader outside any group that notices the end of a partition."""
    return {
        **_shared(settings, f"{settings.workload.name}-reader-{number}"),
        **FRUGAL_FETCHES,
        # librdkafka wants a group's name even where no group is joined.
        "group.id": f"{settings.workload.group}-reader-{number}",
        "fetch.min.bytes": 1,
        "queued.min.messages": 50_000,
        "queued.max.messages.kbytes": 16_384,
        "fetch.message.max.bytes": 1_048_576,
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
    }
