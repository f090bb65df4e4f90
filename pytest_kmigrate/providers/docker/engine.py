"""The container engine of this machine, by the docker package."""

import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import docker
import docker.errors
import docker.types

from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError
from pytest_kmigrate.providers.docker.socket_file import UNIX, no_engine, socket_path

_MOST_CONNECTIONS = 256
"""Each running node has one that waits for its end."""
EMPTY_ROOT = "kmigrate-empty-root:1"
"""An image of our own without any file: all that runs in it is mounted."""


class EngineLostError(ClusterError):
    """The engine does not answer any more."""


class Engine:
    """One engine; safe to call from several threads."""

    def __init__(self) -> None:
        """EnvironmentLackError when none answers here, or we may not use it."""
        self.socket = socket_path()
        try:
            self._api = docker.APIClient(
                f"{UNIX}{self.socket}", version="auto", max_pool_size=_MOST_CONNECTIONS, timeout=60
            )
        except docker.errors.DockerException as error:
            raise EnvironmentLackError(no_engine(self.socket, "nothing that answers")) from error

    def close(self) -> None:
        """Give its connections back."""
        self._api.close()

    def make_empty_root(self) -> None:
        """Have the image ``EMPTY_ROOT``."""
        if self._asked(self._api.images, EMPTY_ROOT, quiet=True):
            return
        nothing = io.BytesIO()
        tarfile.open(fileobj=nothing, mode="w").close()
        name, _, tag = EMPTY_ROOT.partition(":")
        self._asked(self._api.import_image_from_data, nothing.getvalue(), repository=name, tag=tag)

    def image_id(self, name: str) -> str | None:
        """The id of an image; None when the engine has none of that name."""
        found = self._asked(self._api.inspect_image, name, quiet=True)
        return None if found is None else str(found["Id"])

    def copied(self, container: str, path: str, to: BinaryIO) -> bool:
        """Copy a folder of a container into a file, as tar; False when there is no such folder."""
        found = self._asked(self._api.get_archive, container, f"{path}/.", quiet=True)
        if found is None:
            return False
        with _in_our_words(self.socket):
            to.writelines(found[0])
        return True

    def make_network(self, name: str, subnet: str, labels: Mapping[str, str]) -> bool:
        """Make a bridge without a way out; False when somebody has an address of it."""
        pool = docker.types.IPAMConfig(pool_configs=[docker.types.IPAMPool(subnet=subnet)])
        try:
            self._asked(self._api.create_network, name, driver="bridge", ipam=pool, internal=True, labels=dict(labels))
        except ClusterError as error:
            if "overlaps" in str(error) or "already exists" in str(error):
                return False
            raise
        return True

    def create(self, image: str, argv: Sequence[str], address: tuple[str, str] | None, **options: Any) -> str:
        """Make a container and return its id; ``address``: its network and its address there.

        ``options`` with a name in lower case are those of a container, others are those of its HostConfig.
        """
        of_host = {name: options.pop(name) for name in list(options) if name[0].isupper()}
        networking = None
        if address is not None:
            at = self._api.create_endpoint_config(ipv4_address=address[1])
            networking = self._api.create_networking_config({address[0]: at})
            of_host["NetworkMode"] = address[0]
        made = self._asked(
            self._api.create_container,
            image,
            list(argv),
            entrypoint=[],
            healthcheck={"test": ["NONE"]},
            host_config={"SecurityOpt": ["no-new-privileges"], **of_host},
            networking_config=networking,
            **options,
        )
        return str(made["Id"])

    def start(self, container: str) -> int:
        """Start it; its process id on this machine, 0 when it has ended already."""
        self._asked(self._api.start, container)
        return int(self._asked(self._api.inspect_container, container)["State"]["Pid"])

    def exit_code(self, container: str, within_s: float | None = None) -> int:
        """Wait for its end; TimeoutError when it has not ended within so many seconds."""
        try:
            return int(self._asked(self._api.wait, container, timeout=within_s)["StatusCode"])
        except EngineLostError as error:
            if within_s is not None and self.answers():
                raise TimeoutError from error
            raise

    def signal(self, container: str, number: int) -> None:
        """Send a signal to its process; nothing when it has ended."""
        self._asked(self._api.kill, container, number, quiet=True)

    def said(self, container: str) -> str:
        """What it wrote on both streams so far."""
        return str(self._asked(self._api.logs, container).decode(errors="replace"))

    def remove(self, container: str) -> None:
        """Remove it, running or not; nothing when it is gone."""
        self._asked(self._api.remove_container, container, force=True, v=True, quiet=True)

    def run_in(self, container: str, argv: Sequence[str], user: str) -> int:
        """Run a program in a container until it ends; its exit code."""
        made = self._asked(self._api.exec_create, container, list(argv), user=user)
        self._asked(self._api.exec_start, made["Id"])
        return int(self._asked(self._api.exec_inspect, made["Id"])["ExitCode"])

    def with_label(self, label: str) -> list[Mapping[str, Any]]:
        """Every container with a label, running or not."""
        return list(self._asked(self._api.containers, all=True, filters={"label": label}))

    def networks_with_label(self, label: str) -> list[Mapping[str, Any]]:
        """Every network with a label."""
        return list(self._asked(self._api.networks, filters={"label": label}))

    def remove_network(self, network: str) -> None:
        """Remove it; nothing when it is gone."""
        self._asked(self._api.remove_network, network, quiet=True)

    def answers(self) -> bool:
        """Whether it is there."""
        try:
            return bool(self._api.ping())
        except OSError:
            return False

    def _asked(self, what: Any, *given: Any, quiet: bool = False, **named: Any) -> Any:
        """Its answer; with ``quiet`` None when what is asked about is not there, or does not run."""
        with _in_our_words(self.socket):
            try:
                return what(*given, **named)
            except docker.errors.APIError as error:
                if quiet and error.status_code in (404, 409):
                    return None
                raise


@contextmanager
def _in_our_words(socket: Path) -> Iterator[None]:
    try:
        yield
    except docker.errors.APIError as error:
        raise ClusterError(f"the container engine refused: {error.explanation or error}") from error
    except OSError as error:  # of any kind that its HTTP client knows
        raise EngineLostError(f"the container engine at {socket} does not answer: {error}") from error
