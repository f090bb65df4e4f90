"""What can be done with a standing cluster: asked of the cluster, not believed of its file."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pytest_kmigrate.distributions.releases import SHAPE, known_releases
from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError, WrongUseError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.attach.cluster import Readers
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.hooks import brought
from pytest_kmigrate.providers.attach.metrics import MetricsReader
from pytest_kmigrate.providers.attach.trials import WITHIN_S, UnreachableError, trials
from pytest_kmigrate.wire.admin import cluster_at, cluster_id_at
from pytest_kmigrate.wire.describing import default_config_at
from pytest_kmigrate.wire.request import peers

_PROTOCOL = "inter.broker.protocol.version"
LEFT_BEHIND = (
    "sessions of ours at ZooKeeper, which its log keeps; connections and logins, where brokers log these; "
    "requests that brokers count in their metrics"
)
"""What looking at a cluster cannot avoid to leave."""
LEFT_BY_TRAFFIC = (
    "; of clients also a block of producer ids, ended offsets of their groups in __consumer_offsets, and the topics "
    "__consumer_offsets and __transaction_state where there were none"
)
_DIGEST = "not known: no file of a node can be read from outside, so the release is what nodes report"


@dataclass(frozen=True)
class Answer:
    """What was found out about one thing; ``is_offered`` is None for a fact that is no capability."""

    name: str
    is_offered: bool | None
    why: str


@dataclass(frozen=True)
class Asked:
    """All answers: facts first, then each capability."""

    answers: Sequence[Answer]

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Those that are offered."""
        return frozenset(Capability(each.name) for each in self.answers if each.is_offered)

    @property
    def lacking(self) -> Mapping[Capability, str]:
        """The reason why each of the others is not."""
        return {Capability(each.name): each.why for each in self.answers if each.is_offered is False}


def ask(site: Site, readers: Readers) -> Asked:
    """Ask everything there is to ask.

    ClusterError when no broker of the bootstrap list lets us in, or what the file names does not answer; WrongUseError
    when the file says what is not so.
    """
    brought(site)
    left_behind = LEFT_BEHIND + (LEFT_BY_TRAFFIC if "traffic" in site.file.allow else "")
    facts = [*_bootstrap(site), _release(site, readers.metrics)]
    facts += [Answer("digest", None, _DIGEST), Answer("left behind", None, left_behind)]
    tried = trials(site, readers)
    try:
        return Asked([*facts, *(_tried(each, tried.get(each)) for each in Capability)])
    except UnreachableError as error:
        raise ClusterError(f"{site.path}: {error}") from error


def _tried(capability: Capability, trial: Callable[[], str] | None) -> Answer:
    if trial is None:
        return Answer(capability, is_offered=False, why="somebody else runs this cluster, and its file leads to none")
    try:
        return Answer(capability, is_offered=True, why=trial())
    except UnreachableError:
        raise  # a file that names something is not about a cluster without it
    except (ClusterError, EnvironmentLackError) as error:
        return Answer(capability, is_offered=False, why=str(error))


def _bootstrap(site: Site) -> list[Answer]:
    """The cluster's id, and the brokers that it knows itself; they must be those of the file."""
    refusals = []
    for peer in peers({"bootstrap.servers": ",".join(site.file.bootstrap), **site.client}):
        try:
            _, known = cluster_at(peer, within_s=WITHIN_S)
        except ClusterError as error:
            refusals.append(str(error))
        else:
            _require_listed(site, known)
            return [
                Answer("bootstrap", None, f"{peer.address} lets us in and knows {len(known)} brokers"),
                Answer("cluster id", None, cluster_id_at(peer, within_s=WITHIN_S)),
            ]
    raise ClusterError(f"{site.path}: bootstrap: expected a broker that lets us in; got: {'; '.join(refusals)}")


def _require_listed(site: Site, known: frozenset[int]) -> None:
    listed = {each.id for each in site.file.broker}
    if unlisted := sorted(known - listed):
        raise WrongUseError(
            f"{site.path}: broker: expected a table for each broker of the cluster, got none for id "
            f"{', '.join(map(str, unlisted))}: add it, since one that is not asked may be behind"
        )


def _release(site: Site, metrics: MetricsReader) -> Answer:
    """The release that nodes say they run, as precisely as they say it."""
    claimed = site.file.kafka
    found = dict(_releases(site, metrics))
    for node, release in found.items():
        if not _may_be(claimed, release):
            raise WrongUseError(
                f"{site.path}: kafka: expected the release that nodes run; the file has {claimed!r}, "
                f"{node} reports {release}: correct it"
            )
    if not found:
        return Answer("release", None, f"{claimed} by the file; no node reports any")
    reported = ", ".join(f"{node} {release}" for node, release in found.items())
    return Answer("release", None, f"{claimed} by the file, and nodes report: {reported}")


def _may_be(claimed: str, reported: str) -> bool:
    """Whether nodes that report this may run the release that the file claims.

    They may report less than it, or a build of it (``3.9.1-acme-2``). A vendor's own count, such as ``7.7.0-ccs``, is
    above all releases of Kafka and contradicts none.
    """
    if f"{claimed}.".startswith(f"{reported}."):
        return True
    is_of_a_build = SHAPE.fullmatch(reported) is None
    is_of_it = re.match(rf"{re.escape(claimed)}(?!\d)", reported) is not None
    return is_of_a_build and (is_of_it or numbers_of(reported).major > numbers_of(known_releases()[-1]).major)


def _releases(site: Site, metrics: MetricsReader) -> Iterator[tuple[str, str]]:
    for spec in site.topology.of_role(Role.BROKER):
        if release := metrics.release(spec.name):
            yield spec.name, release
            continue
        with suppress(ClusterError):
            peer = Peer(str(site.addresses[spec.name]), site.client)
            if default := default_config_at(peer, spec.node_id, _PROTOCOL, within_s=WITHIN_S):
                yield spec.name, default.partition("-")[0]
    for spec in site.topology.of_role(Role.CONTROLLER):
        if release := metrics.release(spec.name):
            yield spec.name, release
