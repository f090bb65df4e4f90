"""Results that were reported twice count once: copies of files, one session by two tools. The others are set aside."""

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.foreign.attempts import foreign_rows
from pytest_kmigrate.analysis.foreign.labels import Label, require_found
from pytest_kmigrate.analysis.foreign.other_formats import TESTNG
from pytest_kmigrate.analysis.schemas.columns import CONDITION
from pytest_kmigrate.model.verdict import Kind, Outcome

_PLACE = ("folder", "file", "place")
_SUITE = ("folder", "file", "neutral_id", "started_at", "until")
"""The attempts of one test in one suite."""

_COPIES = "%d of its results are copies of ones in %s, which are counted"
_TWO_TOOLS = "reported by two tools: %d of its results are in %s, too, and counted there"
_SAME = "%s; the same holds for %d more files"
_ALONE = f"{TESTNG}: not read, and there is no JUnit XML of the same results beside it; let TestNG write junitreports"
_ODD_TIMES = '%d results have a start time that was not understood, such as "%s": they count, but have no order'
_ONE_BY_HOST = "%s fails on some hosts and passes on all others: --label host=hostname distinguishes its runs"
_BY_HOST = (
    "%d tests fail on some hosts and pass on all others, such as %s: --label host=hostname distinguishes their runs"
)
_FEWEST_RUNS = 3
"""Of a test on one host, before its answers are said to go with that."""


def foreign_attempts(
    files: DataFrame, keep: Callable[[DataFrame], DataFrame], labels: Sequence[Label] = ()
) -> DataFrame:
    """One row per attempt of a test in the files (columns of ``FILES``), in the shape of the fact ``attempts``.

    Staged like everything else: rows with a ``reason`` are what is not counted, and ``is_doubt`` marks those on which
    a verdict may hang. A ``folder`` is the file and the attempt's place in it, for attempts are distinguished by their
    folders. ``keep`` holds on to what is used more than once. Raises WrongUseError for a label that no result has.
    """
    rows = keep(foreign_rows(files, labels))
    if labels:
        _require_labels(rows, labels)
    results = rows.where(F.col("test_id").isNotNull())
    counted = keep(_by_one_tool(_once(_with_setups(results, rows))))
    good = counted.where(F.col("counted_in").isNull())
    aside = [
        _reported_twice(counted.where(F.col("counted_in").isNotNull())),
        rows.where(F.col("reason").isNotNull() & F.col("sort").isNull()),
        _by_sort(_alone(rows.where(F.col("sort").isNotNull()), results)),
        _odd_times(good),
        _parted_by_host(good),
    ]
    staged = _numbered(good).drop("counted_in", "how")
    for each in aside:
        staged = staged.unionByName(each, allowMissingColumns=True)
    return staged


def _require_labels(rows: DataFrame, labels: Sequence[Label]) -> None:
    there = rows.agg(
        F.array_distinct(F.flatten(F.collect_set("labels"))), F.array_distinct(F.flatten(F.collect_set("properties")))
    )
    found, properties = there.head() or ((), ())
    require_found(labels, found, properties)


def _with_setups(results: DataFrame, rows: DataFrame) -> DataFrame:
    """Allure's results, without an answer where a container says that the setup failed: the test did not run."""
    broken = rows.select(F.explode("broken").alias("uuid")).distinct().withColumn("_is_setup", F.lit(col=True))
    joined = results.join(F.broadcast(broken), "uuid", "left")
    is_setup = F.col("_is_setup").isNotNull() & (F.col("outcome") == Outcome.VIOLATES.name)
    instead = {"outcome": Outcome.INCONCLUSIVE.name, "kind": Kind.HARNESS.value}
    return joined.withColumns(
        {name: F.when(is_setup, value).otherwise(F.col(name)) for name, value in instead.items()}
    ).drop("_is_setup")


def _once(results: DataFrame) -> DataFrame:
    """Results with the file in which a copy of each is ``counted_in``: of the same run in several, the first."""
    same = Window.partitionBy("run_id").orderBy(*_PLACE)
    first = F.when(F.row_number().over(same) > 1, F.first(_path()).over(same))
    return results.withColumn("counted_in", first).withColumn("how", F.when(first.isNotNull(), _COPIES))


def _by_one_tool(results: DataFrame) -> DataFrame:
    """The same, with what a richer report of the same session has: ducktape's JSON beside its XML; Allure for JUnit."""
    is_left = F.col("counted_in").isNull()
    has_json = F.bool_or((F.col("tool") == "ducktape") & is_left).over(Window.partitionBy("folder"))
    of_session = F.when((F.col("tool") == "ducktape-xml") & has_json, F.concat_ws("/", "folder", F.lit("report.json")))
    joined = results.join(_in_allure(results.where(is_left)), list(_SUITE), "left")
    elsewhere = F.coalesce(of_session, F.when(F.col("tool") == "junit", F.col("_in_allure")))
    return joined.withColumns(
        {
            "counted_in": F.coalesce("counted_in", elsewhere),
            "how": F.coalesce("how", F.when(elsewhere.isNotNull(), F.lit(_TWO_TOOLS))),
        }
    ).drop("_in_allure")


def _in_allure(results: DataFrame) -> DataFrame:
    """The tests of JUnit suites for which Allure has as many results, begun while the suite ran: where these are."""
    of_junit = results.where((F.col("tool") == "junit") & F.col("started_at").isNotNull())
    suites = of_junit.groupBy(*_SUITE).agg(F.count("*").alias("_attempts"))
    of_allure = results.where(F.col("tool") == "allure").select(
        "neutral_id", F.col("started_at").alias("_at"), _path().alias("_path")
    )
    begins = (F.col("_at") >= F.expr("started_at - interval 1 second")) & (
        F.col("_at") <= F.expr("until + interval 1 second")
    )
    met = suites.join(of_allure, "neutral_id").where(begins)
    enough = met.groupBy(*_SUITE, "_attempts").agg(F.count("*").alias("_found"), F.min("_path").alias("_in_allure"))
    return enough.where(F.col("_found") >= F.col("_attempts")).select(*_SUITE, "_in_allure")


def _reported_twice(results: DataFrame) -> DataFrame:
    """One row for all results that are counted in one other file, and that file."""
    of_files = results.groupBy("folder", "file", "counted_in", "how").agg(F.count("*").alias("_results"))
    grouped = of_files.groupBy("counted_in", "how").agg(
        F.min(F.struct("folder", "file", "_results")).alias("_first"), F.count("*").alias("_files")
    )
    reported = [
        F.when(F.col("how") == how, F.format_string(how, "_first._results", "counted_in"))
        for how in (_COPIES, _TWO_TOOLS)
    ]
    return _with_number(grouped.withColumn("_reason", F.coalesce(*reported)), F.lit(col=False))


def _alone(rows: DataFrame, results: DataFrame) -> DataFrame:
    """The same; a report of TestNG's own leaves the verdict open if there is no JUnit XML in its folder or below."""
    of_testng, others = rows.where(F.col("sort") == TESTNG), rows.where(F.col("sort") != TESTNG)
    folders = results.where(F.col("tool") == "junit").select(F.concat("folder", F.lit("/")).alias("_of")).distinct()
    is_there = F.startswith("_of", F.concat("folder", F.lit("/")))
    beside, alone = (of_testng.join(F.broadcast(folders), is_there, how) for how in ("left_semi", "left_anti"))
    doubted = {"reason": F.lit(_ALONE), "sort": F.lit(_ALONE), "is_doubt": F.lit(col=True)}
    return others.unionByName(beside).unionByName(alone.withColumns(doubted))


def _by_sort(rows: DataFrame) -> DataFrame:
    """One row for all files of a sort."""
    grouped = rows.groupBy("sort").agg(
        F.min(F.struct("folder", "file", "reason", "is_doubt")).alias("_first"), F.count("*").alias("_files")
    )
    return _with_number(grouped.withColumn("_reason", F.col("_first.reason")), F.col("_first.is_doubt"))


def _with_number(grouped: DataFrame, is_doubt: Column) -> DataFrame:
    """The first file of each group with its reason, and for how many more that stands."""
    more = F.format_string(_SAME, "_reason", F.col("_files") - 1)
    reason = F.when(F.col("_files") > 1, more).otherwise(F.col("_reason"))
    return grouped.select("_first.folder", "_first.file", reason.alias("reason"), is_doubt.alias("is_doubt"))


def _odd_times(results: DataFrame) -> DataFrame:
    """One row for all results whose start was not understood; none if there is no such result."""
    odd = results.where(F.col("odd_time").isNotNull())
    counted = odd.agg(
        F.min(F.struct("folder", "file", "odd_time")).alias("_first"), F.count("*").alias("_results")
    ).where("_results > 0")
    reason = F.format_string(_ODD_TIMES, "_results", F.col("_first.odd_time"))
    return counted.select("_first.folder", "_first.file", reason.alias("reason"), F.lit(col=False).alias("is_doubt"))


def _parted_by_host(results: DataFrame) -> DataFrame:
    """One row if there are tests whose answers go with the host that they ran on: they look flaky, and are not."""
    failed, passed = (F.count_if(F.col("outcome") == each.name) for each in (Outcome.VIOLATES, Outcome.CONFORMS))
    cell = ("test_id", *CONDITION)
    on_hosts = results.groupBy(*cell, "host").agg(
        failed.alias("_failed"), passed.alias("_passed"), F.min(F.struct("folder", "file")).alias("_file")
    )
    # A host of its own for each run would part the answers of any test.
    is_sure = F.col("host").isNotNull() & (F.col("_failed") + F.col("_passed") >= _FEWEST_RUNS)
    is_parted = F.bool_and(is_sure & ((F.col("_failed") == 0) | (F.col("_passed") == 0)))
    tests = (
        on_hosts.where("_failed + _passed > 0")
        .groupBy(*cell)
        .agg(
            is_parted.alias("_is_parted"),
            F.sum("_failed").alias("_red"),
            F.sum("_passed").alias("_green"),
            F.min("_file").alias("_file"),
        )
    )
    found = tests.where("_is_parted and _red > 0 and _green > 0").agg(
        F.min(F.struct("test_id", "_file")).alias("_first"), F.count("*").alias("_tests")
    )
    of_one, of_many = (
        F.format_string(_ONE_BY_HOST, "_first.test_id"),
        F.format_string(_BY_HOST, "_tests", "_first.test_id"),
    )
    reason = F.when(F.col("_tests") == 1, of_one).otherwise(of_many).alias("reason")
    where = (F.col("_first._file.folder"), F.col("_first._file.file"))
    return found.where("_tests > 0").select(*where, reason, F.lit(col=False).alias("is_doubt"))


def _numbered(results: DataFrame) -> DataFrame:
    """Attempts in the order they were made, among those of the same test under the same conditions."""
    alike = Window.partitionBy("test_id", *CONDITION).orderBy("started_at", "run_id")
    # A file has many attempts, and each is known by its folder.
    place = F.format_string("%s#%d", _path(), F.col("place"))
    return results.withColumn("attempt", F.row_number().over(alike)).withColumn("folder", place)


def _path() -> Column:
    return F.concat_ws("/", "folder", "file")
