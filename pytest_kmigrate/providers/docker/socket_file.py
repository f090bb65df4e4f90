"""The socket of the container engine on this machine. To look for it costs nothing."""

import os
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError, WrongUseError

_NAMED_BY = "DOCKER_HOST"
_DEFAULT = "unix:///var/run/docker.sock"
UNIX = "unix://"


def socket_path() -> Path:
    """The socket of the engine; EnvironmentLackError when there is none that we may use."""
    named = os.environ.get(_NAMED_BY) or _DEFAULT
    if not named.startswith(UNIX):
        raise WrongUseError(
            f"{_NAMED_BY}: expected the socket of an engine on this machine (unix:///PATH), got {named}: containers "
            "elsewhere cannot be reached from here; run pytest where the engine is"
        )
    path = Path(named.removeprefix(UNIX))
    if not path.exists():
        raise EnvironmentLackError(no_engine(path, "no such file"))
    if not os.access(path, os.R_OK | os.W_OK):
        raise EnvironmentLackError(
            f"{path}: expected a container engine that this user may use, got no right to; "
            "join its group (usermod -aG docker USER, then log in anew), or take --kmigrate-provider process"
        )
    return path


def no_engine(path: Path, got: str) -> str:
    """The sentence about an engine that is not there."""
    return (
        f"{path}: expected a container engine, got {got}; start it (systemctl start docker), "
        f"name its socket by {_NAMED_BY}, or take --kmigrate-provider process"
    )
