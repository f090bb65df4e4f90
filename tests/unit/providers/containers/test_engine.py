"""What is reported where there is no container engine, or one that cannot be used; none is needed to see it."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import EnvironmentLackError, WrongUseError
from pytest_kmigrate.providers.docker.engine import Engine


def test_without_an_engine_the_user_reads_how_to_have_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path, and three ways out."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    expected = (
        rf"{tmp_path}/engine.sock: expected a container engine, got no such file; start it .*DOCKER_HOST.*process"
    )
    with pytest.raises(EnvironmentLackError, match=expected):
        Engine()


def test_an_engine_elsewhere_is_no_engine_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its containers have addresses and files there."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://engine.example:2375")
    with pytest.raises(WrongUseError, match=r"DOCKER_HOST: expected .*unix:///PATH.*, got tcp://engine.example:2375"):
        Engine()


def test_without_the_right_to_the_socket_the_user_reads_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group."""
    path = tmp_path / "engine.sock"
    path.touch()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(EnvironmentLackError, match="expected a container engine that this user may use, got no right"):
        Engine()


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Path]:
    """A socket whose owner closes each connection."""
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def close_each() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=close_each)
        thread.start()
        yield path
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_something_that_is_no_engine_is_one_sentence(silent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no stack trace of an HTTP client."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{silent}")
    with pytest.raises(EnvironmentLackError, match="expected a container engine, got nothing that answers; start it"):
        Engine()
