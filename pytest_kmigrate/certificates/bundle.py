"""The evidence of a certificate: one archive of run folders and sessions, without reports and without secrets."""

import hashlib
import shutil
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path, PurePosixPath

from pytest_kmigrate.certificates.scanning import must_hold_no_secret
from pytest_kmigrate.model.errors import CertificateError, EnvironmentLackError, RunFolderError
from pytest_kmigrate.recording.reading import digests_of
from pytest_kmigrate.recording.run_folder import RunFolder, is_derived
from pytest_kmigrate.recording.sessions import SESSIONS

WITHHELD = ("allure-results/", "timeline.html")
"""What is left out of each run, as the certificate names it."""

_STARTED = (1980, 1, 1, 0, 0, 0)
"""The earliest time of a member: the same evidence makes the same archive."""
_MOST_BYTES_OF_A_FILE = 2**30
_MOST_BYTES = 2**36
_BINARY = (".parquet",)


@dataclass(frozen=True)
class Packed:
    """What became of an archive."""

    sha256: str
    size_bytes: int


def pack(root: Path, folders: Sequence[RunFolder], sessions: Sequence[Path], file: Path) -> Packed:
    """Write the archive of these run folders and files of sessions; WrongUseError if a secret is in any of them.

    RunFolderError for a link in a run.
    """
    partial = file.with_name(f".{file.name}.partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for path in _members(folders, sessions):
                content = path.read_bytes()
                must_hold_no_secret(path, content)
                member = zipfile.ZipInfo(path.relative_to(root).as_posix(), _STARTED)
                member.compress_type = zipfile.ZIP_STORED if path.suffix in _BINARY else zipfile.ZIP_DEFLATED
                archive.writestr(member, content)
        partial.replace(file)
    except OSError as error:
        raise EnvironmentLackError(
            f"{file}: the evidence cannot be written: {error.strerror}; make room, or name another file by --out"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return packed(file)


def packed(file: Path) -> Packed:
    """Digest and size of an archive; CertificateError if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return Packed(hashlib.file_digest(stream, "sha256").hexdigest(), file.stat().st_size)
    except OSError as error:
        raise CertificateError(
            f"{file}: expected the evidence of the certificate, got {error.strerror}; give it by --evidence"
        ) from error


def unpack(file: Path, into: Path) -> list[RunFolder]:
    """The run folders of an archive; CertificateError for an archive that ``pack`` does not write.

    No member leaves the folder, is a link or is there twice; each belongs to a run's manifest, or is one of sessions.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _must_be_plain(file, members)
            _must_have_room(file, into, members)
            archive.extractall(into)
    except (zipfile.BadZipFile, zlib.error, LZMAError, OSError, EOFError, ValueError, RuntimeError) as error:
        raise CertificateError(f"{file}: expected an archive of run folders, got another file: {error}") from error
    folders = [RunFolder(path.parent) for path in sorted(into.rglob("manifest.json"))]
    _must_belong(file, into, folders, [into / each.filename for each in members])
    return folders


def _members(folders: Sequence[RunFolder], sessions: Sequence[Path]) -> Iterator[Path]:
    yield from sessions
    for folder in folders:
        names, _ = digests_of(folder)
        yield folder.manifest
        yield from (_plain(folder, name) for name in sorted(names) if not is_derived(name))


def _plain(folder: RunFolder, name: str) -> Path:
    """A file of a run; RunFolderError for a link, by which a file of this machine would get into the evidence."""
    file = folder.path / name
    if file.is_symlink():
        raise RunFolderError(f"{file}: expected a file of the run, got a link to another: run its test again")
    return file


def _must_be_plain(file: Path, members: Iterable[zipfile.ZipInfo]) -> None:
    seen, size = set[str](), 0
    for each in members:
        path = PurePosixPath(each.filename)
        kind = stat.S_IFMT(each.external_attr >> 16)
        if (
            path.is_absolute()
            or ".." in path.parts
            or "\\" in each.filename
            or path.as_posix() != each.filename
            or kind not in (0, 0o100000)
            or each.is_dir()
        ):
            raise CertificateError(
                f"{file}: expected plain files in the archive, got {each.filename!r}; do not unpack it"
            )
        if (name := _folded(each.filename)) in seen:
            raise CertificateError(f"{file}: expected each file once, got {each.filename!r} twice; do not trust it")
        seen.add(name)
        size += each.file_size
        if each.file_size > _MOST_BYTES_OF_A_FILE or size > _MOST_BYTES:
            raise CertificateError(f"{file}: expected evidence, got {size} bytes or more in it; do not unpack it")


def _folded(name: str) -> str:
    """The name as file systems compare it that know neither capitals nor several spellings of one letter."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _must_have_room(file: Path, into: Path, members: Iterable[zipfile.ZipInfo]) -> None:
    """Before anything is written, as a small archive may hold a great deal."""
    size, free = sum(each.file_size for each in members), shutil.disk_usage(into).free
    if size > free:
        raise EnvironmentLackError(
            f"{file}: expected room for {size // 2**20} MB, got {free // 2**20} MB in {into.parent}: make room, or "
            "name another folder by TMPDIR"
        )


def _must_belong(file: Path, root: Path, folders: Sequence[RunFolder], members: Sequence[Path]) -> None:
    known = {folder.path / name for folder in folders for name in digests_of(folder)[0]}
    known |= {folder.manifest for folder in folders}
    foreign = [each for each in members if each not in known and each.name != SESSIONS]
    if foreign:
        name = foreign[0].relative_to(root)
        raise CertificateError(f"{file}: expected only evidence of runs, got {name}, which no manifest names")
