"""A manifest: which jars make up one distribution, each with its size and SHA-256; written last, always checked."""

import concurrent.futures
import functools
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_kmigrate.model.errors import DistributionError
from pytest_kmigrate.model.keeping import kept

MANIFEST_FILE = "manifest.json"
FORMAT = 1


@dataclass(frozen=True)
class Jar:
    """One jar; ``source`` is its Maven coordinate, ``organisation:module:revision[:classifier]``."""

    name: str
    size: int
    sha256: str
    source: str


@dataclass(frozen=True)
class Manifest:
    """All jars of one thing (``name``: kafka, jolokia, byteman) in one version, sorted by file name."""

    name: str
    version: str
    jars: tuple[Jar, ...]

    def text(self) -> str:
        """The manifest as JSON with one jar per line, so that two of them can be compared by eye."""
        head = f'{{"format": {FORMAT}, "name": "{self.name}", "version": "{self.version}", "jars": [\n'
        return head + ",\n".join(json.dumps(asdict(jar)) for jar in self.jars) + "\n]}\n"

    @kept
    def digest(self) -> str:
        """One SHA-256 for the whole: over the names and sums, so the same wherever the jars lie."""
        return digest_of((jar.name, jar.sha256) for jar in self.jars)


def digest_of(names_and_sums: Iterable[tuple[str, str]]) -> str:
    """SHA-256 over pairs of file name and SHA-256, in order of name."""
    lines = "".join(f"{name} {sha256}\n" for name, sha256 in sorted(names_and_sums))
    return hashlib.sha256(lines.encode()).hexdigest()


def parsed(text: str | bytes, where: str) -> Manifest:
    """Read what ``Manifest.text`` wrote; ``where`` names it in the message when it cannot be read."""
    try:
        fields = json.loads(text)
        if fields["format"] != FORMAT:
            raise DistributionError(
                f"{where}: expected a manifest of format {FORMAT}, got {fields['format']}; "
                "it was written by another version of pytest-kmigrate: fetch it again with this one"
            )
        return Manifest(fields["name"], fields["version"], tuple(Jar(**jar) for jar in fields["jars"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DistributionError(
            f"{where}: expected a manifest of pytest-kmigrate, got something unreadable ({error})"
        ) from error


def sha256_of(file: Path) -> str:
    """SHA-256 of one file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_of_all(files: Sequence[Path]) -> list[str]:
    """SHA-256 of many files; hashing frees the interpreter lock, so a few threads use all cores."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(sha256_of, files))


def verify(manifest: Manifest, folder: Path, cure: str) -> None:
    """Check every jar in ``folder``; all that is wrong is reported at once, together with the command that cures it."""
    wrong = _problems(manifest, folder)
    if wrong:
        lines = "\n".join(f"  {problem}" for problem in wrong)
        raise DistributionError(f"{manifest.name} {manifest.version} in {folder} is damaged:\n{lines}\n{cure}")


@functools.cache
def verify_once(manifest: Manifest, folder: Path, cure: str) -> None:
    """``verify``, at most once per process while it succeeds (a failure is not remembered)."""
    verify(manifest, folder, cure)


def _problems(manifest: Manifest, folder: Path) -> list[str]:
    listed = {jar.name for jar in manifest.jars}
    present = {file.name for file in folder.glob("*.jar") if file.is_file()}  # a pipe would be waited for
    problems = [f"{name}: expected by the manifest, but missing" for name in sorted(listed - present)]
    problems += [f"{name}: lies there, but the manifest does not list it" for name in sorted(present - listed)]
    jars = [jar for jar in manifest.jars if jar.name in present]
    sums = sha256_of_all([folder / jar.name for jar in jars])
    for jar, found in zip(jars, sums, strict=True):
        if found != jar.sha256:
            size = (folder / jar.name).stat().st_size
            problems.append(
                f"{jar.name}: corrupt, expected {jar.size} bytes with SHA-256 {jar.sha256}, got {size} with {found}"
            )
    return problems
