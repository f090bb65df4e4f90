"""What can be done with a standing cluster: asked of the cluster, not believed of its file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoAuthError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.metrics import CATALOGUES
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.attach.format import ACTIONS, Allowed
from pytest_kmigrate.providers.attach.hooks import Hooks
from pytest_kmigrate.providers.attach.loading import Site
from pytest_kmigrate.providers.attach.looking import greeting
from pytest_kmigrate.providers.attach.metrics import MetricsReader
from pytest_kmigrate.wire.admin import cluster_at
from pytest_kmigrate.wire.describing import broker_config_at, default_config_at
from pytest_kmigrate.wire.request import api_versions, peers

_WITHIN_S = 5.0
_PROTOCOL = "inter.broker.protocol.version"
_ANY_METRIC = ("ActiveControllerCount", "BrokerState")
"""One of them every node of Kafka has."""
_SECRET_ZNODE = "/config/users"  # noqa: S105 - the path of one that Kafka protects
LEFT_BEHIND = (
    "sessions of ours at ZooKeeper, which its log keeps; connections and logins, where brokers log these; "
    "requests that brokers count in their metrics"
)
"""What looking at a cluster cannot avoid to leave."""


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


def ask(site: Site, metrics: MetricsReader) -> Asked:
    """Ask everything there is to ask.

    ClusterError when no broker of the bootstrap list lets us in; WrongUseError when the file says what is not so.
    """
    facts = [_bootstrap(site), _release(site, metrics), Answer("left behind", None, LEFT_BEHIND)]
    tried: Mapping[Capability, Callable[[], str]] = {
        Capability.REQUESTS: lambda: _requests(site),
        Capability.ZNODES: lambda: _znodes(site),
        Capability.METRICS: lambda: _metrics(site, metrics),
        Capability.ZNODE_WRITES: lambda: _allowed(site, "znodes") + "; " + _znodes(site),
        Capability.START: lambda: _allowed(site, "start"),
        Capability.KILL: lambda: _allowed(site, "kill"),
        Capability.PAUSE: lambda: _allowed(site, "pause"),
        Capability.RECONFIGURE: lambda: _allowed(site, "reconfigure"),
    }
    Hooks(site).check()
    return Asked([*facts, *(_tried(each, tried.get(each)) for each in Capability)])


class _LackingError(Exception):
    """Why a capability is not there."""


def _tried(capability: Capability, trial: Callable[[], str] | None) -> Answer:
    if trial is None:
        return Answer(capability, is_offered=False, why="somebody else runs this cluster, and its file leads to none")
    try:
        return Answer(capability, is_offered=True, why=trial())
    except (_LackingError, ClusterError) as error:
        return Answer(capability, is_offered=False, why=str(error))


def _allowed(site: Site, what: Allowed) -> str:
    """Whether the file allows it; hooks change something, so they are not tried."""
    if what not in site.file.allow:
        raise _LackingError(f'"{what}" is not among what the file allows')
    hooks = [f"hooks.{each}" for each in ACTIONS[what]]
    return f"allowed; {' and '.join(hooks)} are not tried" if hooks else "allowed"


def _bootstrap(site: Site) -> Answer:
    """The brokers that the cluster itself knows; they must be those of the file."""
    refusals = []
    for peer in peers({"bootstrap.servers": ",".join(site.file.bootstrap), **site.client}):
        try:
            _, known = cluster_at(peer, within_s=_WITHIN_S)
        except ClusterError as error:
            refusals.append(str(error))
        else:
            _require_listed(site, known)
            return Answer("bootstrap", None, f"{peer.address} lets us in and knows {len(known)} brokers")
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
        if not f"{claimed}.".startswith(f"{release}."):
            raise WrongUseError(
                f"{site.path}: kafka: expected the release that nodes run; the file has {claimed!r}, "
                f"{node} reports {release}: correct it"
            )
    if not found:
        return Answer("release", None, f"{claimed} by the file; no node reports any")
    reported = ", ".join(f"{node} {release}" for node, release in found.items())
    return Answer("release", None, f"{claimed} by the file, and nodes report: {reported}")


def _releases(site: Site, metrics: MetricsReader) -> Iterator[tuple[str, str]]:
    for spec in site.topology.of_role(Role.BROKER):
        if release := metrics.release(spec.name):
            yield spec.name, release
            continue
        with suppress(ClusterError):
            peer = Peer(str(site.addresses[spec.name]), site.client)
            if default := default_config_at(peer, spec.node_id, _PROTOCOL, within_s=_WITHIN_S):
                yield spec.name, default.partition("-")[0]
    for spec in site.topology.of_role(Role.CONTROLLER):
        if release := metrics.release(spec.name):
            yield spec.name, release


def _requests(site: Site) -> str:
    """Each broker answers at its own address, and as itself."""
    for spec in site.topology.of_role(Role.BROKER):
        broker_config_at(Peer(str(site.addresses[spec.name]), site.client), spec.node_id, within_s=_WITHIN_S)
    up = [spec.name for spec in site.topology.of_role(Role.CONTROLLER) if _answers(site, spec.name)]
    return f"each broker answers as itself; of the controllers {', '.join(up) or 'none'} answers now"


def _answers(site: Site, controller: str) -> bool:
    try:
        api_versions(Peer(str(site.addresses[controller]), greeting(site, Role.CONTROLLER)), within_s=_WITHIN_S)
    except ClusterError:
        return False
    return True


def _metrics(site: Site, metrics: MetricsReader) -> str:
    """Every broker shows some; a controller that is down may come later."""
    if site.file.metrics is None:
        raise _LackingError("the file has no [metrics]")
    silent, names = [], set[str]()
    for spec in site.topology.of_role(Role.BROKER):
        shown = {name for name, value in metrics.read(spec.name, CATALOGUES[spec.role]).items() if value is not None}
        names |= shown
        if not shown.intersection(_ANY_METRIC):
            silent.append(f"{spec.name} at {site.filled(site.file.metrics.url, spec.name)}")
    if silent:
        raise _LackingError(f"no metrics of {', '.join(silent)}")
    absent = sorted(CATALOGUES["broker"].keys() - names)
    return f"each broker shows some, {len(names)} of the catalogue's; absent: {', '.join(absent) or 'none'}"


def _znodes(site: Site) -> str:
    """Kafka's znodes are where the file says, and none that Kafka protects is hidden."""
    if site.file.zookeeper is None:
        raise _LackingError("the file has no [zookeeper]")
    login, (servers, _, chroot) = site.zookeeper_login, site.zookeeper_connect.partition("/")
    root = f"/{chroot}" if chroot else ""
    client = KazooClient(servers, timeout=_WITHIN_S, auth_data=[("digest", login)] if login else None)
    with closing(client):
        try:
            client.start(timeout=_WITHIN_S)
            client.get(f"{root}/brokers/ids")
            with suppress(NoNodeError):
                for user in client.get_children(f"{root}{_SECRET_ZNODE}"):
                    client.get(f"{root}{_SECRET_ZNODE}/{user}")
        except NoNodeError:
            text = f"no znodes of Kafka at {site.zookeeper_connect}: check the chroot"
            raise _LackingError(text) from None
        except NoAuthError:
            raise _LackingError(f"ACLs hide {_SECRET_ZNODE}: name a login that may read it") from None
        except (KazooException, KazooTimeoutError) as error:
            text = f"{site.zookeeper_connect} does not answer: {type(error).__name__} {error}".rstrip()
            raise _LackingError(text) from None
        finally:
            client.stop()
    return f"read at {site.zookeeper_connect}"
