"""Builds the image without a registry, from the Java, shell and Kafka of this machine; run it to give an engine one."""

import io
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import docker

from pytest_kmigrate.distributions.cache import cache_dir
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.providers.docker.socket_file import UNIX, socket_path

IMAGE = "stream-house/kafka:7.1"
ADAPTER = Path(__file__).with_name("adapter.toml")
JARS = "srv/stream/jars"
_RUNTIME = "srv/stream/runtime"
_SCRIPTS = ("node", "ensemble", "ask")
_LEFT_OUT = ("jmods", "include", "man", "legal", "demo", "docs", "src.zip", "ct.sym")
_LIBRARY = re.compile(r"(/\S+) \(0x")
_CHANGES = ("USER 4711", 'ENTRYPOINT ["/bin/sh", "-c", "exit 99"]', "ENV JAVA_HOME=/nowhere")


def build(socket: Path, kafka: str = "3.9.1", name: str = IMAGE) -> str:
    """Put the image, of a release or the build in a folder, into the engine at a socket; returns its id."""
    files = {**shell(), **runtime()}
    files |= {f"{JARS}/{jar.name}": jar for jar in resolve(kafka, progress=print, archive=False).jars}
    return put(socket, name, files)


def put(socket: Path, name: str, files: Mapping[str, Path | bytes]) -> str:
    """Put an image of these files into an engine, by their paths in it; links are followed. Returns its id."""
    repository, _, tag = name.partition(":")
    with tempfile.NamedTemporaryFile(suffix=".tar") as packed, closing(docker.APIClient(f"{UNIX}{socket}")) as engine:
        with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
            for path, content in files.items():
                if isinstance(content, Path):
                    archive.add(content, path, recursive=False)
                else:
                    member = tarfile.TarInfo(path)
                    member.size, member.mode = len(content), 0o755
                    archive.addfile(member, io.BytesIO(content))
        packed.flush()
        engine.import_image_from_file(packed.name, repository, tag, changes=list(_CHANGES))
        return str(engine.inspect_image(name)["Id"])


def forget(image_id: str) -> None:
    """Remove from the cache what was copied out of an image, which has another id when it is built again."""
    short = image_id.removeprefix("sha256:")[:12]
    for copied in (*cache_dir().glob(f"images/{short}-*"), *cache_dir().glob(f"locks/images-{short}-*")):
        shutil.rmtree(copied) if copied.is_dir() else copied.unlink()


def shell() -> dict[str, Path | bytes]:
    """A shell, and the scripts that need it."""
    dash = Path("/bin/sh").resolve()
    scripts = {f"srv/stream/bin/{name}": Path(__file__).with_name(name).read_bytes() for name in _SCRIPTS}
    return {"bin/sh": dash, **_libraries(dash), **scripts}


def runtime() -> dict[str, Path | bytes]:
    """A Java that needs nothing of the machine."""
    home = find_java().path.parent.parent
    own = [path for path in _below(home) if path.parent != home / "bin" or path.name == "java"]
    libraries = [path for path in own if path.suffix == ".so" or path.name == "java"]
    return {f"{_RUNTIME}/{path.relative_to(home)}": path for path in own} | _libraries(*libraries)


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _LEFT_OUT:
            continue
        if path.is_dir():
            yield from _below(path)
        elif path.is_file():
            yield path


def _libraries(*programs: Path) -> dict[str, Path | bytes]:
    """What programs are linked with besides each other, at its own paths."""
    done = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False)
    found = {Path(each) for each in _LIBRARY.findall(done.stdout)} - set(programs)
    return {str(path).lstrip("/"): path for path in found}


if __name__ == "__main__":
    build(socket_path())
    print(f"docker has {IMAGE}; try it: --kmigrate-provider docker --kmigrate-kafka image:{IMAGE}#{ADAPTER}")  # noqa: T201
