"""The metadata log of a node that somebody else runs: its files by a command, decoded here by Kafka's own tool."""

import re
import shutil
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.history import Batch
from pytest_kmigrate.model.protocols import Record
from pytest_kmigrate.providers.attach.commands import said_by
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.metadata_log import PARTITION, decoded, snapshots_in
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.tools import dumped
from pytest_kmigrate.providers.raft_batches import batches_of

_FILE = re.compile(r"[0-9]{20}(\.log|-[0-9]{10}\.checkpoint)")
_CHANGED_MEANWHILE = 1
"""How tar ends when a file grew while it was read: what was there before is whole."""


class MetadataLogs:
    """Those of one site; ClusterError where the command of its file gives none."""

    def __init__(self, site: Site, notify: Callable[[str], None]) -> None:
        """``notify`` gets a line about a download: the tool belongs to the release that the file claims."""
        self._site = site
        self._notify = notify

    def records(self, node: str) -> Sequence[Record]:
        """Every record, decoded and without secrets."""
        tool = resolve(self._site.file.kafka, progress=self._notify)
        with self._fetched(node) as log_dir:
            jvm = Jvm(java=find_java().path, jolokia=log_dir, byteman=log_dir, rules=None, etc=log_dir / "etc")
            jvm.write_files()
            return decoded(log_dir, partial(dumped, jvm, tool), log_dir)

    def snapshots(self, node: str) -> Sequence[str]:
        """The names of the snapshots, in order."""
        with self._fetched(node) as log_dir:
            return snapshots_in(log_dir)

    def batches(self, node: str) -> Sequence[Batch]:
        """Batch by batch."""
        with self._fetched(node) as log_dir:
            return batches_of(log_dir)

    @contextmanager
    def _fetched(self, node: str) -> Iterator[Path]:
        """A folder that holds the partition's, for as long as the block runs."""
        table = self._site.file.metadata_log
        assert table is not None, "without a command the capability is not offered"
        command = [self._site.filled(word, node) for word in table.command]
        with TemporaryDirectory(prefix="kmigrate-metadata-") as scratch:
            folder = Path(scratch) / PARTITION
            folder.mkdir()
            with (Path(scratch) / "printed.tar").open("w+b") as printed:
                try:
                    said_by(command, table.within_s, "metadata_log.within_s", printed, (0, _CHANGED_MEANWHILE))
                    _take_out(printed, folder)
                except ClusterError as error:
                    raise ClusterError(f"{self._site.path}: metadata_log.command of {node}: {error}") from error
            yield Path(scratch)


def _take_out(printed: IO[bytes], folder: Path) -> None:
    """Segments and snapshots, whatever folders they are in there."""
    printed.seek(0)
    try:
        with tarfile.open(fileobj=printed, mode="r:*") as tar:
            for member in tar:
                name = Path(member.name).name
                if member.isfile() and _FILE.fullmatch(name) and (content := tar.extractfile(member)):
                    with content, (folder / name).open("wb") as file:
                        shutil.copyfileobj(content, file)
    except (tarfile.TarError, EOFError) as error:
        raise ClusterError(f"expected a tar of {PARTITION}; got something else: {error}") from error
    if not any(folder.iterdir()):
        raise ClusterError(f"expected a tar of {PARTITION}; got one without a segment and without a snapshot")
