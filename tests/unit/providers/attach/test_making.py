"""What is ours in a cluster of others: nothing else is removed, and what cannot be is named."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.providers.attach import making
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.healing import heal_own
from pytest_kmigrate.providers.attach.journal import Journal
from pytest_kmigrate.providers.attach.making import Making
from pytest_kmigrate.providers.bench import MemoryRecorder
from tests.unit.providers.attach.files import written

TOPICS, GROUP = ["kmigrate-orders", "kmigrate-payments"], "kmigrate-kmigrate"


class Admin:
    """Has what was made, and what others made; refuses at first so often what is named."""

    def __init__(self, refused: Mapping[str, list[int]]) -> None:
        self.there = {*TOPICS, GROUP, "theirs"}
        self._refused = dict(refused)

    def delete_topics(self, names: Sequence[str], **_: object) -> dict[str, Future[None]]:
        """As a broker does."""
        return {name: self._deleted(name) for name in names}

    def delete_consumer_groups(self, names: Sequence[str]) -> dict[str, Future[None]]:
        """As a coordinator does."""
        return {name: self._deleted(name) for name in names}

    def _deleted(self, name: str) -> "Future[None]":
        done: Future[None] = Future()
        codes = self._refused.get(name)
        code = codes.pop(0) if codes else None if name in self.there else KafkaError.UNKNOWN_TOPIC_OR_PART
        if code is None:
            self.there.remove(name)
            done.set_result(None)
        else:
            done.set_exception(KafkaException(KafkaError(code)))
        return done


def made(
    folder: Path, monkeypatch: pytest.MonkeyPatch, refused: Mapping[str, list[int]]
) -> tuple[Callable[[], None], Admin]:
    """What removes that which a run made, in a cluster."""
    site, admin = site_at(written(folder)), Admin(refused)
    journal = Journal(site)
    monkeypatch.setattr(making, "admin_of", lambda _: admin)
    monkeypatch.setattr(Making, "_topics_there", lambda _: {"theirs"})
    Making(site, journal).note(TOPICS, GROUP)
    return partial(heal_own, site, journal, MemoryRecorder()), admin


def test_what_a_run_made_is_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group whose members have just left is asked again; a topic that was never written to is gone already."""
    remove, admin = made(tmp_path, monkeypatch, {GROUP: [KafkaError.NON_EMPTY_GROUP]})
    admin.there.remove(TOPICS[1])
    remove()
    assert admin.there == {"theirs"}


def test_what_cannot_be_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With Kafka's reason: it is the operator's to remove now."""
    monkeypatch.setattr(making, "_REMOVED_WITHIN_S", 0.1)
    refused = {TOPICS[0]: [KafkaError.TOPIC_AUTHORIZATION_FAILED] * 9}
    remove, admin = made(tmp_path, monkeypatch, refused)
    with pytest.raises(ClusterError, match=r"own: the end of each topic .*kmigrate-orders TOPIC_AUTHORIZATION_FA"):
        remove()
    assert admin.there == {TOPICS[0], "theirs"}
