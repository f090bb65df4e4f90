"""Storage wherever Hadoop reaches: s3a, hdfs, abfss, ...; reached through the JVM that Spark has anyway.

Which credentials and which file systems there are is Hadoop's configuration (``spark.hadoop.*``), as for any Spark job.
"""

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.reports.ingestion.paths import literal, path_of
from pytest_kmigrate.reports.ingestion.storage import Copies, Entry

_FEW = 16
"""Up to here a round trip per file costs less than a Spark job."""


class HadoopStorage:
    """A folder of any file system that Hadoop knows.

    Listing and reading of many files are Spark jobs: the executors do them in parallel, and what comes back comes in
    one piece; asking the JVM file by file would cost a round trip each.
    """

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self._spark = spark
        jvm: Any = spark.sparkContext._jvm  # noqa: SLF001  # PySpark has no public door to Hadoop's file systems
        self._path_class = jvm.org.apache.hadoop.fs.Path
        self._read_all = jvm.org.apache.commons.io.IOUtils.toByteArray
        root = self._path_class(uri)
        configuration = spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
        self._files = root.getFileSystem(configuration)
        self._uri = str(self._files.makeQualified(root).toString())

    @property
    def uri(self) -> str:
        """See Storage."""
        return self._uri

    def kind(self) -> str | None:
        """See Storage."""
        root = self._at("")
        if not self._files.exists(root):
            return None
        return "folder" if self._files.getFileStatus(root).isDirectory() else "file"

    def entries(self, deepest: int, copies: Copies) -> Iterator[Entry]:
        """See Storage. Of folders only those right below, and the deepest, are listed: an object store has none."""
        yield from self._top()
        listed = self._bytes([literal(self._uri)]).select("path", "length", F.unix_millis("modificationTime"))
        rows = [(self._below(uri), size_bytes, modified_ms) for uri, size_bytes, modified_ms in listed.collect()]
        marked = {posixpath.dirname(path) for path, *_ in rows if posixpath.basename(path) in copies.beside}
        too_deep: set[str] = set()
        for path, size_bytes, modified_ms in rows:
            parts = path.split("/")
            if any(part[0] == "." for part in parts) or _is_copy(parts, copies.names, marked):
                continue
            if len(parts) > deepest:
                too_deep.add("/".join(parts[:deepest]))
            else:
                yield Entry(path, False, size_bytes, modified_ms)  # noqa: FBT003  # a row
        yield from (Entry(folder, is_folder=True) for folder in sorted(too_deep))

    def _top(self) -> Iterator[Entry]:
        for status in self._files.listStatus(self._at("")):
            name = str(status.getPath().getName())
            if status.isDirectory() and not name.startswith("."):
                yield Entry(name, is_folder=True)

    def names(self, path: str) -> list[str]:
        """See Storage."""
        folder = self._at(path)
        if not self._files.exists(folder):
            return []
        return sorted(str(status.getPath().getName()) for status in self._files.listStatus(folder))

    def contents(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """See Storage. A few are asked for one by one, many by Spark."""
        if len(paths) <= _FEW:
            return {path: bytes(self._read_all(self._files.open(self._at(path)))) for path in paths}
        rows = self._bytes([literal(f"{self._uri}/{path}") for path in paths]).select("path", "content").collect()
        return {self._below(uri): bytes(content) for uri, content in rows}

    def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        """See Storage."""
        if not paths:
            return {}
        files = self._bytes([literal(f"{self._uri}/{path}") for path in paths])
        return {self._below(uri): digest for uri, digest in files.select("path", F.sha2("content", 256)).collect()}

    def place(self, path: str) -> "RemotePlace":
        """See Storage."""
        return RemotePlace(self, path)

    def write(self, path: str, content: bytes) -> None:
        """See Storage. For a moment there may be no file at all: few stores can replace one."""
        partial = f"{path}.partial"
        stream = self._files.create(self._at(partial), True)  # noqa: FBT003  # overwrite, in Java
        stream.write(bytearray(content))
        stream.close()
        self.delete(path)
        self.move(partial, path)

    def move(self, path: str, to: str) -> None:
        """See Storage."""
        self._files.mkdirs(self._at(to).getParent())
        if not self._files.rename(self._at(path), self._at(to)):
            raise OSError(f"{self._uri}: expected {path} to become {to}, but the file system refused")

    def delete(self, path: str) -> None:
        """See Storage."""
        self._files.delete(self._at(path), True)  # noqa: FBT003  # recursive, in Java

    def _bytes(self, paths: list[str]) -> DataFrame:
        """Files as rows; without their content nothing but the listing is done."""
        return self._spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(paths)

    def _at(self, path: str) -> Any:
        return self._path_class(f"{self._uri}/{path}" if path else self._uri)

    def _below(self, uri: str) -> str:
        """The path below the root; whether Spark wrote ``file:/`` or ``file:///`` does not matter."""
        return path_of(uri)[len(path_of(self._uri)) :].lstrip("/")


def _is_copy(parts: Sequence[str], names: frozenset[str], marked: Collection[str]) -> bool:
    """Whether a path lies in a folder of copies, right in one of the marked folders."""
    return any(part in names and "/".join(parts[:place]) in marked for place, part in enumerate(parts))


@dataclass(frozen=True)
class RemotePlace:
    """Something that was written into a storage; the JVM through which it is read stays when Spark stops."""

    storage: HadoopStorage
    path: str

    def __str__(self) -> str:
        return f"{self.storage.uri}/{self.path}"

    def exists(self) -> bool:
        """See Place."""
        folder, _, name = self.path.rpartition("/")
        return name in self.storage.names(folder)

    def read_text(self, encoding: str | None = None) -> str:
        """See Place."""
        return self.storage.contents([self.path])[self.path].decode(encoding or "utf-8")

    def resolve(self) -> "RemotePlace":
        """See Place."""
        return self
