"""The brokers' image: every broker is asked, and who is behind, silent or dead shows as what it is."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kmigrate.checkers.differences import differences
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.running import broker_images
from pytest_kmigrate.running.broker_images import agreed, image_of_brokers
from pytest_kmigrate.workloads.delegation_tokens import Token
from pytest_kmigrate.workloads.raw_describing import ToldTopic

TOKEN = {"owner": "User:a", "expires_ms": 1}
LOG = MetadataImage("log", delegation_tokens={"t": TOKEN})
PARTITION: dict[str, object] = {"replicas": [0], "isr": [0], "leader": 0, "leader_epoch": 1}
BROKERS = ("broker-0", "broker-1", "broker-2")


def test_what_all_brokers_tell_is_told() -> None:
    """Three brokers that tell the same are one."""
    assert agreed({f"broker-{number}": {"t": TOKEN} for number in range(3)}) == {"t": TOKEN}


def test_a_broker_that_does_not_know_a_token_is_a_difference() -> None:
    """Each field says which broker told what, so that no side equals it."""
    told = agreed({"broker-0": {"t": TOKEN}, "broker-1": {}})
    assert told["t"]["owner"] == {"broker-0": "User:a", "broker-1": None}
    found = differences(LOG, MetadataImage("brokers", delegation_tokens=told))
    assert [each.part for each in found] == ["expires_ms", "owner"]


def test_a_broker_that_missed_a_renewal_is_a_difference() -> None:
    """The fields that all tell alike stay as they are."""
    told = agreed({"broker-0": {"t": TOKEN}, "broker-1": {"t": {**TOKEN, "expires_ms": 2}}})
    assert told == {"t": {"owner": "User:a", "expires_ms": {"broker-0": 1, "broker-1": 2}}}


class Cluster:
    """Brokers that answer as they are told to: question -> broker -> answer, or the error it ends with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, mode: BrokerMode = BrokerMode.KRAFT) -> None:
        self.dead: set[str] = set()
        self.mode = mode
        self.answers: dict[str, dict[str, Any]] = {
            "all_topics_at": {key: {"t": ToldTopic("x", {0: PARTITION})} for key in BROKERS},
            "default_broker_configs_at": {key: {"a": "1", "ssl.key.password": None} for key in BROKERS},
            "quotas_at": {key: [({"client-id": None, "user": "a"}, {"producer_byte_rate": 1.0})] for key in BROKERS},
            "tokens_at": dict.fromkeys(BROKERS, ("NONE", {})),
            "features_at": {key: {"metadata.version": 21, "kraft.version": 1} for key in BROKERS},
        }
        for question in self.answers:
            monkeypatch.setattr(broker_images, question, self._answering(question))
        admin = MetadataImage("admin", known=("configs",), configs={"broker:1": {"b": "2"}}, extra={"brokers": [1]})
        monkeypatch.setattr(broker_images, "image_from_admin", lambda _: admin)

    def _answering(self, question: str) -> Callable[..., Any]:
        def answer(peer: str, *, within_s: float) -> Any:
            assert within_s < 10
            told = self.answers[question][peer]
            if isinstance(told, Exception):
                raise told
            return told

        return answer

    def image(self) -> MetadataImage:
        """What they tell."""
        nodes = [SimpleNamespace(name=name, alive=name not in self.dead, mode=self.mode) for name in BROKERS]
        cluster = SimpleNamespace(client_connection=dict, nodes=lambda _: nodes, peer=lambda name: name)
        return image_of_brokers(cluster)  # type: ignore[arg-type]  # a stand-in


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Three brokers in KRaft mode that tell the same."""
    return Cluster(monkeypatch)


def test_what_every_broker_can_know_is_in_the_image(cluster: Cluster) -> None:
    """Topics with ids, partitions, default configs beside the others, quotas, tokens, features but the quorum's own."""
    image = cluster.image()
    assert set(image.known) == {"configs", "topics", "partitions", "quotas", "delegation_tokens", "features"}
    assert image.topics == {"t": {"id": "x"}}
    assert image.partitions == {"t-0": PARTITION}
    assert image.configs == {"broker:1": {"b": "2"}, "broker:<default>": {"a": "1", "ssl.key.password": "[hidden]"}}
    assert image.quotas == {"user=a,client-id=<default>": {"producer_byte_rate": 1.0}}
    assert image.features == {"metadata.version": 21}
    assert image.extra == {"brokers": [1], "unanswered": {}}


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
        ("quotas_at", [], ["quotas user=a,client-id=<default> producer_byte_rate"]),
        ("features_at", {"metadata.version": 19}, ["features metadata.version"]),
        ("features_at", {}, ["features metadata.version"]),
    ],
    ids=["keeps a topic", "another leader", "no quota", "another level", "no features"],
)
def test_one_broker_that_is_behind_is_a_difference_that_names_it(
    cluster: Cluster, question: str, answer: Any, subjects: list[str]
) -> None:
    """What the others tell and the metadata log holds it does not outvote (kmigrate-13)."""
    log = cluster.image()
    cluster.answers[question]["broker-2"] = answer
    found = differences(log, cluster.image())
    assert [each.subject for each in found] == subjects
    assert all("broker-2" in str(each.right) for each in found)


@pytest.mark.parametrize(
    ("question", "families"),
    [
        ("all_topics_at", ["topics", "partitions"]),
        ("default_broker_configs_at", ["configs"]),
        ("quotas_at", ["quotas"]),
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
        assert image.unanswered == {key: ["broker-1"] for key in families}
        assert (differences(whole, image), set(image.known)) == ([], set(whole.known))
    cluster.dead.add("broker-1")
    assert cluster.image().unanswered == {}


def test_a_family_that_nobody_answers_about_is_not_known(cluster: Cluster) -> None:
    """It is not empty."""
    cluster.answers["quotas_at"] = dict.fromkeys(BROKERS, ClusterError("refused"))
    image = cluster.image()
    assert "quotas" not in image.known
    assert image.unanswered == {"quotas": list(BROKERS)}


def test_default_configs_that_nobody_tells_are_no_difference(cluster: Cluster) -> None:
    """They may be as they are elsewhere; the check says that they were not told."""
    whole = cluster.image()
    cluster.answers["default_broker_configs_at"] = dict.fromkeys(BROKERS, ClusterError("refused"))
    image = cluster.image()
    assert image.silent == {"broker:<default>"}
    assert (image.configs, differences(whole, image)) == ({"broker:1": {"b": "2"}}, [])


def test_a_cluster_without_tokens_knows_none_and_any_other_refusal_is_no_answer(cluster: Cluster) -> None:
    """Only what says that there can be none is taken for that."""
    cluster.answers["tokens_at"] = dict.fromkeys(BROKERS, ("DELEGATION_TOKEN_AUTH_DISABLED", {}))
    assert ("delegation_tokens" in cluster.image().known, cluster.image().unanswered) == (False, {})
    cluster.answers["tokens_at"]["broker-0"] = ("UNKNOWN_SERVER_ERROR", {})
    assert cluster.image().unanswered == {"delegation_tokens": ["broker-0"]}


def test_a_token_is_told_without_its_password(cluster: Cluster) -> None:
    """Of the HMAC there is a digest."""
    token = Token("t1", b"secret", "User:a", "User:a", (), 1, 2, 3)
    cluster.answers["tokens_at"] = dict.fromkeys(BROKERS, ("NONE", {"t1": token}))
    told = cluster.image().delegation_tokens["t1"]
    assert (told["owner"], str(told["digest"])[:7]) == ("User:a", "sha256:")
    assert b"secret".hex() not in str(told)
