"""The Toxiproxy server: taken from PATH, else built, with a newer compiler where Go is too old."""

from pathlib import Path

import pytest

from pytest_kmigrate.distributions.toxiproxy import go_version, toxiproxy_server
from pytest_kmigrate.model.errors import DistributionError, EnvironmentLackError

FAKE_GO = """#!/bin/sh
echo "$0 $@" >> "{log}"
case "$1" in
  version) echo "go version {version} linux/amd64" ;;
  env) printf 'linux\\namd64\\n' ;;
  mod) printf '{{"Dir": "{compiler}"}}' ;;
  install) {install} ;;
esac
"""

TELLS_ITS_VERSION = "echo toxiproxy-server version 2.12.0"
MAKES_A_SERVER = f'printf "#!/bin/sh\\n{TELLS_ITS_VERSION}\\n" > "$GOBIN/server"; chmod 755 "$GOBIN/server"'


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of ours on PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr("shutil.which", lambda name: str(folder / name) if (folder / name).exists() else None)
    return folder


def fake_go(folder: Path, tmp_path: Path, version: str, install: str) -> Path:
    """A Go that records how it is called and whose install runs the given shell command."""
    compiler, log = tmp_path / "compiler", tmp_path / "log"
    (compiler / "pkg" / "tool").mkdir(parents=True, exist_ok=True)
    for go in (folder / "go", compiler / "bin" / "go"):
        go.parent.mkdir(exist_ok=True)
        go.write_text(FAKE_GO.format(log=log, version=version, compiler=compiler, install=install))
    (folder / "go").chmod(0o755)
    return log


def server_that(folder: Path, does: str) -> Path:
    """A Toxiproxy that does this, whatever it is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    server = folder / "toxiproxy-server"
    server.write_text(f"#!/bin/sh\n{does}\n")
    server.chmod(0o755)
    return server


@pytest.mark.parametrize("does", [TELLS_ITS_VERSION, "echo flag provided but not defined: -version >&2; exit 2"])
def test_the_one_on_path_is_used(only_path: Path, said: list[str], does: str) -> None:
    """Nothing is built where there is a server already, also one that is so old that it cannot report its version."""
    server_that(only_path, does)
    assert toxiproxy_server(said.append) == only_path / "toxiproxy-server"
    assert said == []


def test_built_once(only_path: Path, tmp_path: Path, cache: Path, said: list[str]) -> None:
    """Go builds it into the cache; the second time nothing is run."""
    log = fake_go(only_path, tmp_path, "go1.23.0", MAKES_A_SERVER)
    assert toxiproxy_server(said.append) == cache / "toxiproxy/2.12.0/toxiproxy-server"
    calls = log.read_text()
    assert toxiproxy_server(said.append).exists()
    assert log.read_text() == calls
    assert "mod download" not in calls


def test_old_go_fetches_a_compiler(only_path: Path, tmp_path: Path, cache: Path, said: list[str]) -> None:
    """Go 1.19, as in Debian 12, cannot build it: the compiler it can fetch does."""
    log = fake_go(only_path, tmp_path, "go1.19.8", MAKES_A_SERVER)
    assert toxiproxy_server(said.append).exists()
    assert [line.split()[0] for line in log.read_text().splitlines() if " install " in line] == [
        str(tmp_path / "compiler" / "bin" / "go")
    ]


@pytest.mark.parametrize("damage", ["kill -SEGV $$", "exit 2", ""])
def test_a_damaged_one_is_told_with_its_cure(only_path: Path, cache: Path, said: list[str], damage: str) -> None:
    """One that crashes, fails, or is no program: of the cache it is built again, another is the user's."""
    built = server_that(cache / "toxiproxy/2.12.0", damage)
    if not damage:
        built.write_bytes(b"\x7fELF")
    with pytest.raises(DistributionError, match=f"so it is damaged; .* builds it again: rm -r {built.parent}"):
        toxiproxy_server(said.append)
    built.rename(only_path / built.name)
    with pytest.raises(DistributionError, match=f"{only_path}.*so it is damaged; install it anew, or take it off PATH"):
        toxiproxy_server(said.append)


def test_no_go(only_path: Path, cache: Path, said: list[str]) -> None:
    """Neither a server nor Go: the message says what to install."""
    with pytest.raises(EnvironmentLackError, match="apt-get install -y golang-go"):
        toxiproxy_server(said.append)


def test_failed_build(only_path: Path, tmp_path: Path, cache: Path, said: list[str]) -> None:
    """A build that fails shows Go's words and leaves nothing in the cache."""
    fake_go(only_path, tmp_path, "go1.24.1", 'touch "$GOBIN/half"; echo "dial tcp: refused" >&2; exit 1')
    with pytest.raises(EnvironmentLackError, match=r"(?s)dial tcp: refused.*GOPROXY"):
        toxiproxy_server(said.append)
    assert list((cache / "toxiproxy").iterdir()) == []


def test_versions_of_go() -> None:
    """Released and development versions; anything else is unknown."""
    assert go_version("go version go1.19.8 linux/amd64") == (1, 19)
    assert go_version("go version go2.0 linux/arm64") == (2, 0)
    assert go_version("nonsense") is None
