"""Reading run folders with Spark: which files of which runs, as whole texts or as numbered lines."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas, staging
from pytest_kmigrate.analysis.schemas.consistency import PARTS
from pytest_kmigrate.reports.ingestion.discovery import FoundRun
from pytest_kmigrate.reports.ingestion.operations import is_part, operation_parts
from pytest_kmigrate.reports.ingestion.paths import literal, path_of

MOST_WHOLE_BYTES = 32 * 1024 * 1024
"""A longer file is read line by line, by several tasks if need be; a shorter one as one text, which is quicker."""

MOST_HEADER_BYTES = 4 * 1024 * 1024
"""A longer ``run.json`` or metadata image is none."""


@dataclass(frozen=True)
class Kind:
    """Files of a run that are read alike: all of one name, or all below a folder with the same ending."""

    start: str
    ending: str = ""
    depth: int = 0
    """How many levels below ``start`` they lie."""

    @property
    def levels(self) -> int:
        """How many parts such a path has below the run folder."""
        return self.start.count("/") + 1 + self.depth

    def has(self, path: str) -> bool:
        """Whether a file of a run is of this kind."""
        if not self.ending:
            return path == self.start
        return path.startswith(f"{self.start}/") and path.endswith(self.ending) and path.count("/") == self.levels - 1


_HEADER = Kind(staging.RUN_FILE)
_IMAGES = Kind(staging.IMAGES_FOLDER, ".json", 1)
_LOGS = Kind(staging.LOGS_FOLDER, ".log", 2)
_FOREIGN = Kind("any name")


class RunFiles:
    """The files of some runs below one root."""

    def __init__(
        self, spark: SparkSession, root: str, runs: Iterable[FoundRun], parts: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._spark = spark
        self._root = root
        self._runs = tuple(runs)
        self._parts = parts

    def has(self, start: str) -> bool:
        """Whether any run has this file, or any file in this folder."""
        return any(file.path == start or file.path.startswith(f"{start}/") for run in self._runs for file in run.files)

    def folders(self, digests: Mapping[str, str]) -> DataFrame:
        """One row per run folder; ``digests`` are what each is known by."""
        rows = [(run.folder, run.is_complete, run.timeline, digests[run.folder]) for run in self._runs]
        return self._spark.createDataFrame(rows, schemas.FOLDERS)

    def headers(self) -> DataFrame:
        """Every ``run.json``, whole."""
        return self._whole(_HEADER, MOST_HEADER_BYTES)

    def images(self) -> DataFrame:
        """Every metadata image, whole."""
        return self._whole(_IMAGES, MOST_HEADER_BYTES)

    def lines(self, file: str) -> DataFrame:
        """The lines of one kind of file."""
        return self._lines(Kind(file))

    def logs(self) -> DataFrame:
        """The logs of all nodes: a file in one piece, a long one line by line; ``line`` is the number of the first."""
        whole = self._whole(_LOGS, MOST_WHOLE_BYTES)
        return self._with_long(_LOGS, whole.select("folder", "file", F.lit(1).cast("long").alias("line"), "text"))

    def operation_parts(self, unsettled: Collection[str]) -> DataFrame:
        """The parts of client operations; ``unsettled`` are the folders of runs whose workloads did not all end."""
        with_parts = [run.folder for run in self._runs if any(is_part(file.path) for file in run.files)]
        if not with_parts:
            return self._spark.createDataFrame([], PARTS)
        settled = {folder: folder not in unsettled for folder in with_parts}
        return operation_parts(self._spark, self._root, settled, self._parts)

    def foreign(self, paths: Iterable[str]) -> DataFrame:
        """Results of other tools, whole, from files in no run."""
        return self._texts(_FOREIGN, [literal(f"{self._root}/{path}") for path in paths])

    def _lines(self, kind: Kind) -> DataFrame:
        whole = self._whole(kind, MOST_WHOLE_BYTES)
        split = whole.select("folder", "file", F.posexplode(F.split("text", "\n")).alias("position", "text"))
        numbered = split.select("folder", "file", (F.col("position") + 1).cast("long").alias("line"), "text")
        return self._with_long(kind, numbered).where(F.trim("text") != "")

    def _with_long(self, kind: Kind, others: DataFrame) -> DataFrame:
        """The lines of files that are too long to be read whole, beside those of the others."""
        long = sorted(set(self._paths(kind)) - set(self._paths(kind, MOST_WHOLE_BYTES)))
        return others.unionByName(self._line_by_line(kind, long)) if long else others

    def _line_by_line(self, kind: Kind, paths: list[str]) -> DataFrame:
        """Lines of files of any length: read in blocks, numbered in the order of blocks and of lines in them."""
        placed = (
            self._spark.read.option("lineSep", "\n")
            .text(paths)
            .select(
                *self._origin(kind),
                F.col("_metadata.file_block_start").alias("_block"),
                F.monotonically_increasing_id().alias("_place"),
                F.col("value").alias("text"),
            )
        )
        number = F.row_number().over(Window.partitionBy("folder", "file").orderBy("_block", "_place"))
        return placed.select("folder", "file", number.cast("long").alias("line"), "text")

    def _whole(self, kind: Kind, most_bytes: int) -> DataFrame:
        return self._texts(kind, self._paths(kind, most_bytes))

    def _texts(self, kind: Kind, paths: list[str]) -> DataFrame:
        if not paths:
            return self._spark.createDataFrame([], schemas.FILES)
        text = self._spark.read.text(paths, wholetext=True)
        return text.select(*self._origin(kind), F.col("value").alias("text"))

    def _paths(self, kind: Kind, most_bytes: int | None = None) -> list[str]:
        return [
            literal(f"{self._root}/{run.path(file.path)}")
            for run in self._runs
            for file in run.files
            if kind.has(file.path) and (most_bytes is None or file.size_bytes <= most_bytes)
        ]

    def _origin(self, kind: Kind) -> list[Column]:
        """The run folder and the file in it that a row was read from."""
        # Spark gives the path percent-encoded; url_decode would also turn a plus sign into a space.
        decoded = F.url_decode(F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B")))
        # No pattern here: it would be matched once for every row.
        file = F.substring_index(decoded, "/", -kind.levels)
        root = path_of(self._root)
        # After ``file:`` Spark may write one slash or three; so the root is looked for, but not in the authority.
        authority = self._root.removesuffix(root).rstrip("/")
        begin = F.locate(f"{root}/", decoded, len(authority) + 1) + len(root) + 1
        length = F.length(decoded) - F.length(file) - begin
        folder = F.substr(decoded, begin, length)
        return [F.when(length > 0, folder).otherwise(".").alias("folder"), file.alias("file")]
