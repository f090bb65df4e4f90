"""How each capability is tried on a standing cluster: why it is there, in words; ClusterError says why it is not."""

import logging
from collections.abc import Callable, Mapping
from contextlib import closing, suppress

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoAuthError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.metrics import CATALOGUES
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.attach.cluster import Readers
from pytest_kmigrate.providers.attach.file.format import ACTIONS, Allowed
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.logs import try_logs
from pytest_kmigrate.providers.attach.looking import greeting
from pytest_kmigrate.providers.attach.making import try_out
from pytest_kmigrate.providers.attach.metrics import MetricsReader
from pytest_kmigrate.wire.describing import broker_config_at
from pytest_kmigrate.wire.request import api_versions

WITHIN_S = 5.0
"""How long anything that is asked may take to answer."""
_QUIET = logging.getLogger("pytest_kmigrate.asking")
_QUIET.setLevel(logging.CRITICAL)  # what does not answer is said once, by the error
_ANY_METRIC = ("ActiveControllerCount", "BrokerState")
"""One of them every node of Kafka has."""
_SECRET_ZNODE = "/config/users"  # noqa: S105 - the path of one that Kafka protects


class UnreachableError(ClusterError):
    """What the file names does not answer at all."""

    def __init__(self, key: str, expected: str, got: str) -> None:
        super().__init__(f"{key}: expected {expected}; got {got}: correct it, or leave the table out")


Trials = Mapping[Capability, Callable[[], str]]


def trials(site: Site, readers: Readers) -> Trials:
    """What can be there at all, each with how it is tried. Hooks change something, so they are not."""
    return {
        Capability.REQUESTS: lambda: _requests(site),
        Capability.ZNODES: lambda: _znodes(site),
        Capability.METRICS: lambda: _metrics(site, readers.metrics),
        Capability.LOGS: lambda: _logs(site),
        Capability.METADATA_LOG: lambda: _metadata_log(site, readers),
        Capability.ZNODE_WRITES: lambda: _allowed(site, "znodes") + "; " + _znodes(site),
        Capability.TRAFFIC: lambda: _traffic(site),
        Capability.START: lambda: _allowed(site, "start"),
        Capability.KILL: lambda: _allowed(site, "kill"),
        Capability.PAUSE: lambda: _allowed(site, "pause"),
        Capability.RECONFIGURE: lambda: _allowed(site, "reconfigure"),
        Capability.CUTS: lambda: _allowed(site, "cut"),
        Capability.CHANGE: _change,
        Capability.EXERCISE: _exercise,
    }


def _change() -> str:
    """Nothing that a file could allow."""
    raise ClusterError(
        "changes touch configs of brokers and of the cluster, which have no names of ours; and whom ACLs and "
        "credentials of ours would let in is not known"
    )


def _exercise() -> str:
    """Nothing that a file could allow."""
    raise ClusterError("what records the executed code is loaded into a node as it is started, and these nodes run")


def _allowed(site: Site, what: Allowed) -> str:
    """Whether the file allows it."""
    if what not in site.file.allow:
        raise ClusterError(f'"{what}" is not among what the file allows')
    hooks = [f"hooks.{each}" for each in ACTIONS[what]]
    return f"allowed; {' and '.join(hooks)} are not tried" if hooks else "allowed"


def _traffic(site: Site) -> str:
    _allowed(site, "traffic")
    return try_out(site)


def _logs(site: Site) -> str:
    if site.file.logs is None:
        raise ClusterError("the file has no [logs]")
    return try_logs(site)


def _metadata_log(site: Site, readers: Readers) -> str:
    """That of the first controller that answers; before a migration there may be none yet."""
    if site.file.metadata_log is None:
        raise ClusterError("the file has no [metadata_log]")
    up = next((spec.name for spec in site.topology.of_role(Role.CONTROLLER) if _answers(site, spec.name)), None)
    if up is None:
        return "not tried, as no controller answers yet"
    return f"{len(readers.metadata.records(up))} records of {up} read"


def _requests(site: Site) -> str:
    """Each broker answers at its own address, and as itself."""
    for spec in site.topology.of_role(Role.BROKER):
        broker_config_at(Peer(str(site.addresses[spec.name]), site.client), spec.node_id, within_s=WITHIN_S)
    up = [spec.name for spec in site.topology.of_role(Role.CONTROLLER) if _answers(site, spec.name)]
    return f"each broker answers as itself; of the controllers {', '.join(up) or 'none'} answers now"


def _answers(site: Site, controller: str) -> bool:
    try:
        api_versions(Peer(str(site.addresses[controller]), greeting(site, Role.CONTROLLER)), within_s=WITHIN_S)
    except ClusterError:
        return False
    return True


def _metrics(site: Site, metrics: MetricsReader) -> str:
    """Every broker shows some; a controller that is down may come later."""
    if site.file.metrics is None:
        raise ClusterError("the file has no [metrics]")
    silent, names = dict[str, str](), set[str]()
    for spec in site.topology.of_role(Role.BROKER):
        shown = {name for name, value in metrics.read(spec.name, CATALOGUES[spec.role]).items() if value is not None}
        names |= shown
        if not shown.intersection(_ANY_METRIC):
            silent[spec.name] = site.filled(site.file.metrics.url, spec.name)
    if len(silent) == len(site.topology.of_role(Role.BROKER)):
        got = f"none at {', '.join(silent.values())}"
        raise UnreachableError("metrics.url", f"{site.file.metrics.kind} in each broker", got)
    if silent:
        raise ClusterError(f"no metrics of {', '.join(f'{name} at {url}' for name, url in silent.items())}")
    absent = sorted(CATALOGUES["broker"].keys() - names)
    return f"each broker shows some, {len(names)} of the catalogue's; absent: {', '.join(absent) or 'none'}"


def _znodes(site: Site) -> str:
    """Kafka's znodes are where the file says, and none that Kafka protects is hidden."""
    if site.file.zookeeper is None:
        raise ClusterError("the file has no [zookeeper]")
    login, tls, (servers, _, chroot) = site.zookeeper_login, site.zookeeper_tls, site.zookeeper_connect.partition("/")
    root = f"/{chroot}" if chroot else ""
    auth = [("digest", login)] if login else None
    options = tls.for_kazoo() if tls else {}
    client = KazooClient(servers, timeout=WITHIN_S, auth_data=auth, logger=_QUIET, **options)
    with closing(client):
        try:
            client.start(timeout=WITHIN_S)
            client.get(f"{root}/brokers/ids")
            with suppress(NoNodeError):
                for user in client.get_children(f"{root}{_SECRET_ZNODE}"):
                    client.get(f"{root}{_SECRET_ZNODE}/{user}")
        except NoNodeError:
            where = f"no /brokers/ids at {site.zookeeper_connect}"
            raise UnreachableError("zookeeper.connect", "servers and the chroot of Kafka", where) from None
        except NoAuthError:
            text = f"ACLs hide {_SECRET_ZNODE}: name a login of scheme digest that may read it; we make none by SASL"
            raise ClusterError(text) from None
        except (KazooException, KazooTimeoutError) as error:
            got = f"no answer of {site.zookeeper_connect} ({type(error).__name__} {error})".replace(" )", ")")
            raise UnreachableError("zookeeper.connect", "servers that answer", got) from None
        finally:
            client.stop()
    return f"read at {site.zookeeper_connect}"
