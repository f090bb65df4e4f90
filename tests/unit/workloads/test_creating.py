"""Topics that are created while something else goes on: each has an answer, also where there is none."""

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.metadata import creating as module
from pytest_kmigrate.workloads.metadata.creating import creating


@pytest.mark.slow
def test_creations_go_on_as_long_as_the_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through each broker, under names of its own; a missing answer is one, and so is a broker that is not reached."""
    errors = {"127.0.0.1:1": AwaitTimeoutError("an answer", 1, None), "127.0.0.1:2": ClusterError("not there")}

    def create(peer: Peer, topics: list[str], **_: object) -> dict[str, str]:
        if peer.address in errors:
            raise errors[peer.address]
        return dict.fromkeys(topics, "NONE")

    monkeypatch.setattr(module, "create_topics_at", create)
    brokers = {f"broker-{number}": Peer(f"127.0.0.1:{number}") for number in range(3)}
    with creating(brokers) as answers:
        before = dict(answers)
        until(lambda: len(answers) > len(before), awaited="more answers", within_s=60)
    assert before
    by_broker = {topic.rpartition("-")[0]: answer for topic, answer in answers.items()}
    assert by_broker == {
        "under-way-broker-0": "NONE",
        "under-way-broker-1": "_TIMED_OUT",
        "under-way-broker-2": "_NOT_CONNECTED",
    }
