"""What a run makes in a cluster that somebody else runs: under names of ours only, noted before, removed after."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from pytest_kmigrate.model.capabilities import Own
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.journal import Journal, Remove
from pytest_kmigrate.waiting import NotYet, until

_ANSWER_WITHIN_S = 10.0
_REMOVED_WITHIN_S = 60.0
"""A group whose members ended without a goodbye stands for its session's time."""
_GONE = ("UNKNOWN_TOPIC_OR_PART", "GROUP_ID_NOT_FOUND")


class Making:
    """What is ours in one site's cluster."""

    def __init__(self, site: Site, journal: Journal) -> None:
        self._site = site
        self._journal = journal

    @property
    def own(self) -> Own:
        """As the file has it."""
        return _own(self._site)

    def note(self, topics: Sequence[str], group: str) -> None:
        """These are made now; WrongUseError when they are not named as ours, ClusterError when one is there already."""
        own = self.own
        strange = [each for each in topics if not each.startswith(own.topics)]
        strange += [] if group.startswith(own.groups) else [group]
        if strange:
            raise WrongUseError(
                f"{self._site.path}: own: expected topics that begin with {own.topics} and a group that begins with "
                f"{own.groups}; got {', '.join(strange)}: name them so"
            )
        if there := sorted(self._topics_there() & set(topics)):
            raise ClusterError(
                f"{self._site.path}: own.topics: expected to make {', '.join(there)}, and it is there already: "
                "remove it, or choose another prefix"
            )
        self._journal.note(Remove(tuple(topics), group))

    def _topics_there(self) -> set[str]:
        try:
            return set(admin_of(self._site).list_topics(timeout=_ANSWER_WITHIN_S).topics)
        except KafkaException as error:
            raise ClusterError(f"expected the cluster to list its topics; got {error.args[0].str()}") from error


def admin_of(site: Site) -> AdminClient:
    """An admin of a site's cluster, which connects when it is used."""
    return AdminClient({"bootstrap.servers": ",".join(site.file.bootstrap), **site.client})


def try_out(site: Site) -> str:
    """Whether a topic of ours may be made, in words; nothing is. ClusterError when the cluster refuses."""
    own, admin = _own(site), admin_of(site)
    topic = NewTopic(f"{own.topics}check", num_partitions=1, replication_factor=1)
    refused = _refused(admin.create_topics([topic], validate_only=True))
    if refused:
        raise ClusterError(f"making a topic is refused: {', '.join(refused.values())}")
    return f"allowed; topics {own.topics}*, groups {own.groups}*, removed when a run ends"


def remove(site: Site, made: Remove) -> None:
    """Return when nothing of what a run made is left; ClusterError names what cannot be removed."""
    admin = admin_of(site)
    topics, groups = list(made.topics), [made.group]
    _until_gone(site, "group", lambda: admin.delete_consumer_groups(groups))
    _until_gone(site, "topic", lambda: admin.delete_topics(topics, operation_timeout=_ANSWER_WITHIN_S))


def _own(site: Site) -> Own:
    file = site.file
    return Own(file.own.topics, file.own.groups, file.limits.records_per_s)


def _until_gone(site: Site, what: str, ask: Callable[[], Mapping[str, Future[object]]]) -> None:
    def gone() -> bool | NotYet:
        refused = _refused(ask())
        return NotYet(", ".join(f"{name} {why}" for name, why in refused.items())) if refused else True

    awaited = f"{site.path}: own: the end of each {what} that this run made"
    until(gone, awaited=awaited, within_s=_REMOVED_WITHIN_S, every_s=0.5)


def _refused(futures: Mapping[str, Future[object]]) -> dict[str, str]:
    """What was not done, with Kafka's name of the error; what is not there is done."""
    refused = {}
    for name, future in futures.items():
        try:
            future.result(_ANSWER_WITHIN_S)
        except KafkaException as error:
            if (why := error.args[0].name()) not in _GONE:
                refused[name] = why
        except TimeoutError:
            refused[name] = "no answer"
    return refused
