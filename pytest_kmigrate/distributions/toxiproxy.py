"""The Toxiproxy server: the one on ``PATH``, else one that was fetched, else built once from its source by Go.

Toxiproxy needs Go 1.23; Debian 12 and Ubuntu 22.04 have an older one. New compilers are published as Go modules too,
so an old Go can fetch one, checked against Go's checksum database, and have it build.
"""

import functools
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from os import W_OK, access, environ
from pathlib import Path

from pytest_kmigrate.distributions.cache import CACHE_VARIABLE, Progress, cache_dir, entry
from pytest_kmigrate.distributions.java import allows_programs, bound_to_us
from pytest_kmigrate.model.errors import DistributionError, EnvironmentLackError

TOXIPROXY_VERSION = "2.12.0"
SOURCE = f"github.com/Shopify/toxiproxy/v2/cmd/server@v{TOXIPROXY_VERSION}"
SERVER = "toxiproxy-server"
NEEDED_GO = (1, 23)
COMPILER = "golang.org/toolchain@v0.0.1-go1.23.4"
TOXIPROXY_CURE = "apt-get install -y golang-go"
BUILD_WITHIN_S = 900.0
_IN_CACHE = f"toxiproxy/{TOXIPROXY_VERSION}"


def toxiproxy_server(progress: Progress) -> Path:
    """The server's program file; one that does not run is reported with its cure."""
    on_path = shutil.which(SERVER)
    if on_path is not None:
        _must_run(Path(on_path), f"install it anew, or take it off PATH, and {TOXIPROXY_VERSION} is built instead")
        return Path(on_path)
    folder = entry(_IN_CACHE, lambda folder: _build(folder, progress), progress)
    _must_run(folder / SERVER, f"remove it and repeat the command, which builds it again: rm -r {folder}")
    return folder / SERVER


def take_server(laid: Path, progress: Progress) -> None:
    """Put a server that ``kmigrate fetch`` laid down into the cache, unless there is one: no Go, no network needed."""

    def copied(folder: Path) -> None:
        shutil.copy(laid, folder / SERVER)

    if laid.is_file() and shutil.which(SERVER) is None:
        entry(_IN_CACHE, copied, progress)


def go_version(answer: str) -> tuple[int, int] | None:
    """Major and minor number from what ``go version`` prints."""
    found = re.search(r"go(\d+)\.(\d+)", answer)
    return (int(found.group(1)), int(found.group(2))) if found else None


@functools.cache
def _must_run(program: Path, cure: str) -> None:
    """At most once per process while it succeeds: what a disk or a copy damaged would fail each start of a cluster."""
    try:
        answer = subprocess.run([str(program), "-version"], capture_output=True, timeout=60, check=False)
        runs = answer.returncode == 0 or b"not defined: -version" in answer.stderr  # which old ones do not know
        got = None if runs else f"status {answer.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        if not allows_programs(program.parent) and isinstance(error, PermissionError):
            raise EnvironmentLackError(
                f"{program}: expected a folder whose programs can be run, got one that is mounted with noexec; name "
                f"another by {CACHE_VARIABLE}, or put a {SERVER} on PATH"
            ) from error
        got = str(error)
    if got is not None:
        raise DistributionError(f"{program} -version: expected status 0, got {got}, so it is damaged; {cure}")


def _build(folder: Path, progress: Progress) -> None:
    go = shutil.which("go")
    if go is None:
        raise EnvironmentLackError(
            f"expected a {SERVER} on PATH, or Go to build one, got neither; on Debian or Ubuntu: {TOXIPROXY_CURE}; "
            f"elsewhere install Go {NEEDED_GO[0]}.{NEEDED_GO[1]}+ or Toxiproxy {TOXIPROXY_VERSION}"
        )
    version = go_version(_said(["version"], go, {}))
    if version is None or version < NEEDED_GO:
        progress(f"toxiproxy: Go here is too old to build it; fetching a newer compiler ({COMPILER})")
        go = _newer_go(go)
    progress(f"toxiproxy {TOXIPROXY_VERSION}: building it (once, about 30 s)")
    _said(["install", SOURCE], go, {"GOBIN": str(folder)})
    (folder / "server").rename(folder / SERVER)


def _newer_go(go: str) -> str:
    system, machine = _said(["env", "GOOS", "GOARCH"], go, {}).split()
    answer = json.loads(_said(["mod", "download", "-json", f"{COMPILER}.{system}-{machine}"], go, {}))
    root = Path(answer["Dir"])
    # Modules carry no permissions; Go itself sets them the same way when it fetches a compiler.
    for program in (
        *(root / "bin").iterdir(),
        *(file for file in (root / "pkg" / "tool").rglob("*") if file.is_file()),
    ):
        program.chmod(0o755)
    return str(root / "bin" / "go")


def _caches_of_go() -> dict[str, str]:
    """Where Go keeps what it downloads and builds, where there is no home that can be written to."""
    home = environ.get("HOME", "")
    if home and access(home, W_OK):
        return {}
    ours = cache_dir() / "go"
    return {"GOPATH": str(ours / "path"), "GOCACHE": str(ours / "build")}


def _said(arguments: Sequence[str], go: str, extra: Mapping[str, str]) -> str:
    # GOROOT would tie the newer compiler to the old one's library, GOTOOLCHAIN=local is what we want of either.
    # Without cgo no C compiler is needed.
    inherited = {name: value for name, value in environ.items() if name != "GOROOT"}
    environment = {**_caches_of_go(), **inherited, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", **extra}
    try:
        answer = subprocess.run(
            bound_to_us([go, *arguments]),
            capture_output=True,
            text=True,
            timeout=BUILD_WITHIN_S,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentLackError(
            f"{error.cmd}: expected an end within {BUILD_WITHIN_S:g} s, got none; check the network, then try again"
        ) from error
    if answer.returncode != 0:
        raise EnvironmentLackError(
            f"go {' '.join(arguments)}: expected exit code 0, got {answer.returncode}:\n{answer.stderr[-1500:]}\n"
            f"Check the network and GOPROXY, or put a {SERVER} on PATH"
        )
    return str(answer.stdout)
