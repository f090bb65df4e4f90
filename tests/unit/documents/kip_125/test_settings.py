"""Settings of a connector: what it takes, and what it is not constructed with."""

from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_125.reference.__main__ import REFUSED, main
from pytest_kmigrate.documents.kip_125.reference.settings import RefusedError, read

MIGRATING = {
    "zookeeper.connect": "zk:2181",
    "group.id": "g",
    "coordination.migration.enabled": "true",
    "coordination.migration.bootstrap.servers": "b:9092",
    "offsets.storage": "kafka",
}


def written(folder: Path, **changes: str) -> Path:
    """A file of the settings of a member with migration, with these changes (``_`` stands for ``.``)."""
    settings = {**MIGRATING, **{key.replace("_", "."): value for key, value in changes.items()}}
    file = folder / "member.properties"
    file.write_text("# a comment\n" + "".join(f"{key} = {value}\n" for key, value in settings.items()))
    return file


def test_the_prefix_leads_to_the_embedded_consumer(tmp_path: Path) -> None:
    """Its own keys are kept back, and those that safety depends on are ignored, which is reported."""
    file = written(tmp_path, coordination_migration_session_timeout_ms="7000", coordination_migration_group_id="other")
    settings = read(file, "orders=2,bills=1")
    assert settings.embedded == {"bootstrap.servers": "b:9092", "session.timeout.ms": "7000"}
    assert settings.ignored == ("coordination.migration.group.id",)
    assert settings.streams == {"orders": 2, "bills": 1}
    assert settings.consumer_id.startswith("g_")
    assert (settings.poll_interval_s, settings.kafka_session_s, settings.client_id) == (1.0, 7.0, "g")
    assert settings.heartbeat_s == pytest.approx(7 / 3)


def test_migration_is_off_unless_it_is_asked_for(tmp_path: Path) -> None:
    """A connector without the key is one of an older build: no setting of the migration is looked at."""
    file = tmp_path / "old.properties"
    file.write_text("zookeeper.connect=zk:2181\ngroup.id=g\n")
    assert not read(file, "orders=1").is_migrating


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("coordination.migration.enabled", "maybe"),
        ("coordination.migration.bootstrap.servers", ""),
        ("offsets.storage", "zookeeper"),
        ("dual.commit.enabled", "false"),
        ("coordination.migration.poll.interval.ms", "0"),
        ("coordination.migration.poll.interval.ms", "-1"),
        ("coordination.migration.session.timeout.ms", "long"),
        ("coordination.migration.session.timeout.ms", "0"),
        ("coordination.migration.heartbeat.interval.ms", "45000"),
        ("zookeeper.session.timeout.ms", "0"),
        ("auto.commit.interval.ms", "1.5"),
        ("group.id", ""),
        ("zookeeper.connect", ""),
        ("partition.assignment.strategy", "roundrobin"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_key(tmp_path: Path, key: str, value: str) -> None:
    """Before anything is joined; the message begins with the key."""
    with pytest.raises(RefusedError, match=f"^{key}: expected "):
        read(written(tmp_path, **{key.replace(".", "_"): value}), "orders=1")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("coordination.migration.session.timeout.ms", "9999999", "outside allowed range"),
        ("coordination.migration.unheard.of", "1", "No such configuration property"),
        ("coordination.migration.fetch.min.bytes", "many", "Invalid value"),
    ],
)
def test_what_the_client_does_not_take_is_refused_by_its_key(
    key: str, value: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With status 2 and one line, before the member is constructed; also of a plain KafkaConsumer."""
    file = written(tmp_path, **{key.replace(".", "_"): value})
    assert main(["--kind", "MEZKCC", "--settings", str(file), "--topics", "orders=1"]) == REFUSED
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"{key}: ")
    assert words in printed.err

    own = key.removeprefix("coordination.migration.")
    file.write_text(f"bootstrap.servers=b:9092\ngroup.id=g\n{own}={value}\n")
    assert main(["--kind", "KC", "--settings", str(file), "--topics", "orders=1"]) == REFUSED
    assert capsys.readouterr().err.startswith(f"{own}: ")
