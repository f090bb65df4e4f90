"""The brokers' image: every broker is asked, and who is behind, silent or dead shows as what it is."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.differences import differences, untold_configs
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.image import FAMILIES, MetadataImage
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.probes import broker_images
from pytest_kmigrate.probes.broker_images import agreed, image_of_brokers
from pytest_kmigrate.wire.admin import BROKER_RESOURCE
from pytest_kmigrate.wire.describing import TOPIC_RESOURCE, ToldAcl, ToldTopic
from pytest_kmigrate.wire.request import UnsupportedRequestError
from pytest_kmigrate.wire.tokens import Token

TOKEN = {"owner": "User:a", "expires_ms": 1}
LOG = MetadataImage("log", delegation_tokens={"t": TOKEN})
PARTITION: dict[str, object] = {"replicas": [0], "isr": [0], "leader": 0, "leader_epoch": 1}
BROKERS = ("broker-0", "broker-1", "broker-2")
TOPIC, OF_ALL = (TOPIC_RESOURCE, "t"), (BROKER_RESOURCE, "")
ACL = ToldAcl(4, 3, "kafka-cluster", "User:a", "*", 12, 3)
"""The right to write idempotently to the cluster."""


def configs_of(number: int, **of_all: str | None) -> dict[tuple[int, str], dict[str, str | None]]:
    """What a broker reports: of the topic, of all brokers and of itself."""
    own = (BROKER_RESOURCE, str(number))
    return {TOPIC: {"retention.ms": "9"}, OF_ALL: of_all or {"a": "1"}, own: {"b": "2", "ssl.key.password": None}}


def test_what_all_brokers_tell_is_told() -> None:
    """Three brokers that report the same are one."""
    assert agreed({f"broker-{number}": {"t": TOKEN} for number in range(3)}) == {"t": TOKEN}


def test_a_broker_that_does_not_know_a_token_is_a_difference() -> None:
    """Each field has what each broker reported, so that no side equals it."""
    reported = agreed({"broker-0": {"t": TOKEN}, "broker-1": {}})
    assert reported["t"]["owner"] == {"broker-0": "User:a", "broker-1": None}
    found = differences(LOG, MetadataImage("brokers", delegation_tokens=reported))
    assert [each.part for each in found] == ["expires_ms", "owner"]


def test_a_broker_that_missed_a_renewal_is_a_difference() -> None:
    """The fields on which all agree stay as they are."""
    reported = agreed({"broker-0": {"t": TOKEN}, "broker-1": {"t": {**TOKEN, "expires_ms": 2}}})
    assert reported == {"t": {"owner": "User:a", "expires_ms": {"broker-0": 1, "broker-1": 2}}}


class Cluster:
    """Brokers that answer as a test wants: question -> broker -> answer, or the error it ends with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, mode: BrokerMode = BrokerMode.KRAFT) -> None:
        self.dead: set[str] = set()
        self.mode = mode
        self.answers: dict[str, dict[str, Any]] = {
            "all_topics_at": {key: {"t": ToldTopic("x", {0: PARTITION})} for key in BROKERS},
            "configs_at": {key: configs_of(number) for number, key in enumerate(BROKERS)},
            "acls_at": {key: [ACL] for key in BROKERS},
            "scram_at": {key: {("u", 2): 8192} for key in BROKERS},
            "quotas_at": {key: [({"client-id": None, "user": "a"}, {"producer_byte_rate": 1.0})] for key in BROKERS},
            "tokens_at": dict.fromkeys(BROKERS, ("NONE", {})),
            "features_at": {key: {"metadata.version": 21, "kraft.version": 1} for key in BROKERS},
        }
        for question in self.answers:
            monkeypatch.setattr(broker_images, question, self._answering(question))

    def _answering(self, question: str) -> Callable[..., Any]:
        def answer(peer: str, *which: object, within_s: float) -> Any:
            assert within_s < 10
            reported = self.answers[question][peer]
            if isinstance(reported, Exception):
                raise reported
            return {each: reported[each] for each in which[0] if each in reported} if which else reported  # type: ignore[attr-defined]

        return answer

    def image(self) -> MetadataImage:
        """What they report."""
        nodes = [
            SimpleNamespace(
                name=name, alive=name not in self.dead, mode=self.mode, spec=SimpleNamespace(node_id=number)
            )
            for number, name in enumerate(BROKERS)
        ]
        cluster = SimpleNamespace(nodes=lambda _: nodes, peer=lambda name: name)
        return image_of_brokers(cluster)  # type: ignore[arg-type]  # a stand-in


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Three brokers in KRaft mode that report the same."""
    return Cluster(monkeypatch)


def test_what_every_broker_can_know_is_in_the_image(cluster: Cluster) -> None:
    """Topics with ids, partitions, configs of all kinds, ACLs, quotas, iterations, tokens, features."""
    image = cluster.image()
    assert set(image.known) == set(FAMILIES) - {"producer_ids"}
    assert image.topics == {"t": {"id": "x"}}
    assert image.partitions == {"t-0": PARTITION}
    own = {"b": "2", "ssl.key.password": "[hidden]"}
    of_others = {"topic:t": {"retention.ms": "9"}, "broker:<default>": {"a": "1"}}
    assert image.configs == {**of_others, "broker:0": own, "broker:1": own, "broker:2": own}
    assert image.acls == {"Cluster:LITERAL:kafka-cluster": ["User:a|*|IdempotentWrite|Allow"]}
    assert image.scram == {"u:SCRAM-SHA-512": {"iterations": 8192}}
    assert image.quotas == {"user=a,client-id=<default>": {"producer_byte_rate": 1.0}}
    assert image.features == {"metadata.version": 21}
    assert image.extra == {"silent_brokers": [], "unanswered": {}}


def test_brokers_in_zookeeper_mode_are_not_asked_for_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have none, which is no difference from the metadata log."""
    assert "features" not in Cluster(monkeypatch, BrokerMode.ZOOKEEPER).image().known


@pytest.mark.parametrize(
    ("question", "answer", "subjects"),
    [
        (
            "all_topics_at",
            {"t": ToldTopic("x", {0: PARTITION}), "gone": ToldTopic("y", {0: PARTITION})},
            ["topics gone", "partitions gone-0"],
        ),
        ("all_topics_at", {"t": ToldTopic("x", {0: {**PARTITION, "leader": 2}})}, ["partitions t-0 leader"]),
        ("configs_at", configs_of(2, a="7"), ["configs broker:<default> a"]),
        ("configs_at", {**configs_of(2), TOPIC: {}}, ["configs topic:t retention.ms"]),
        ("acls_at", [], ["acls Cluster:LITERAL:kafka-cluster"]),
        ("acls_at", [ACL, ACL], ["acls Cluster:LITERAL:kafka-cluster"]),
        ("acls_at", [ACL, replace(ACL, resource="other")], ["acls Cluster:LITERAL:other"]),
        ("quotas_at", [], ["quotas user=a,client-id=<default> producer_byte_rate"]),
        ("scram_at", {}, ["scram u:SCRAM-SHA-512 iterations"]),
        ("scram_at", {("u", 2): 8192, ("v", 1): 4096}, ["scram v:SCRAM-SHA-256"]),
        ("features_at", {"metadata.version": 19}, ["features metadata.version"]),
        ("features_at", {}, ["features metadata.version"]),
    ],
    ids=[
        "keeps a topic",
        "another leader",
        "another default config",
        "no config of a topic",
        "no ACL",
        "an ACL twice",
        "keeps an ACL",
        "no quota",
        "no credential",
        "keeps a credential",
        "another level",
        "no features",
    ],
)
def test_one_broker_that_is_behind_is_a_difference_that_names_it(
    cluster: Cluster, question: str, answer: Any, subjects: list[str]
) -> None:
    """What the others report and the metadata log holds it does not outvote (kmigrate-13)."""
    log = cluster.image()
    cluster.answers[question]["broker-2"] = answer
    found = differences(log, cluster.image())
    assert [each.subject for each in found] == subjects
    assert all("broker-2" in str(each.right) for each in found)


@pytest.mark.parametrize(
    ("question", "families"),
    [
        ("all_topics_at", ["topics", "partitions", "configs"]),
        ("configs_at", ["configs"]),
        ("acls_at", ["acls"]),
        ("quotas_at", ["quotas"]),
        ("scram_at", ["scram"]),
        ("tokens_at", ["delegation_tokens"]),
        ("features_at", ["features"]),
    ],
)
def test_a_broker_that_does_not_answer_is_named_and_the_others_tell(
    cluster: Cluster, question: str, families: list[str]
) -> None:
    """Whatever it holds of these families is unknown; one that ended on purpose is not asked."""
    whole = cluster.image()
    for error in (AwaitTimeoutError("answer", 5, "nothing"), ClusterError("refused")):
        cluster.answers[question]["broker-1"] = error
        image = cluster.image()
        assert image.of_brokers["unanswered"] == {key: ["broker-1"] for key in families}
        assert (differences(whole, image), set(image.known)) == ([], set(whole.known))
    cluster.dead.add("broker-1")
    assert cluster.image().of_brokers["unanswered"] == {}


def test_a_family_that_nobody_answers_about_is_not_known(cluster: Cluster) -> None:
    """It is not empty."""
    cluster.answers["quotas_at"] = dict.fromkeys(BROKERS, ClusterError("refused"))
    image = cluster.image()
    assert "quotas" not in image.known
    assert image.of_brokers["unanswered"] == {"quotas": list(BROKERS)}


def test_what_a_broker_has_of_its_own_is_told_by_itself_or_by_nobody(cluster: Cluster) -> None:
    """Whether it ended on purpose or stands still: it is compared with nothing, and the check says so."""
    whole = cluster.image()
    cluster.dead.add("broker-0")
    cluster.answers["configs_at"]["broker-1"] = ClusterError("refused")
    image = cluster.image()
    assert image.silent == {"broker:0", "broker:1"}
    assert (image.configs.keys() & image.silent, differences(whole, image)) == (set(), [])
    assert untold_configs(image, whole) == ["broker:0", "broker:1"]


def test_a_broker_without_authorizer_or_scram_tells_nothing_of_them(cluster: Cluster) -> None:
    """That there is none would be an invented claim; where others report it, none is behind them."""
    for question in ("acls_at", "scram_at"):
        cluster.answers[question] = dict.fromkeys(BROKERS)
    cluster.answers["tokens_at"] = dict.fromkeys(BROKERS, UnsupportedRequestError("does not know it"))
    image = cluster.image()
    assert (image.of_brokers["unanswered"], {"acls", "scram", "delegation_tokens"} & set(image.known)) == ({}, set())
    cluster.answers["scram_at"]["broker-0"] = {("u", 2): 8192}
    assert cluster.image().scram == {"u:SCRAM-SHA-512": {"iterations": 8192}}


def test_a_cluster_without_tokens_knows_none_and_any_other_refusal_is_no_answer(cluster: Cluster) -> None:
    """Only what says that there can be none is taken for that."""
    cluster.answers["tokens_at"] = dict.fromkeys(BROKERS, ("DELEGATION_TOKEN_AUTH_DISABLED", {}))
    assert ("delegation_tokens" in cluster.image().known, cluster.image().of_brokers["unanswered"]) == (False, {})
    cluster.answers["tokens_at"]["broker-0"] = ("UNKNOWN_SERVER_ERROR", {})
    assert cluster.image().of_brokers["unanswered"] == {"delegation_tokens": ["broker-0"]}


def test_a_token_is_told_without_its_password(cluster: Cluster) -> None:
    """Of the HMAC there is a digest."""
    token = Token("t1", b"secret", "User:a", "User:a", (), 1, 2, 3)
    cluster.answers["tokens_at"] = dict.fromkeys(BROKERS, ("NONE", {"t1": token}))
    reported = cluster.image().delegation_tokens["t1"]
    assert (reported["owner"], str(reported["digest"])[:7]) == ("User:a", "hidden:")
    assert b"secret".hex() not in str(reported)
