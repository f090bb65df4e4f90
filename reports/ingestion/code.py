"""The lines of Kafka's code that runs watched: read from the distributions that they ran, on this machine."""

from collections.abc import Callable, Iterator, Sequence

from pyspark.sql import DataFrame

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.catalogue import profiles
from pytest_kmigrate.catalogue.code import code_of
from pytest_kmigrate.distributions.class_names import classes_in
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java_tools.lines import code_lines
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.reports.ingestion.discovery import Notice
from pytest_kmigrate.reports.ingestion.tables import TableFolder

Progress = Callable[[str], None]


def watched_code(tables: TableFolder, progress: Progress) -> tuple[DataFrame, list[Notice]]:
    """The table ``code_lines`` of all runs that recorded what is executed, and what could not be read of it."""
    runs = tables["runs"].where("watched is not null")
    watched = runs.select("profile", "kafka", "watched", "software").distinct().collect()
    rows: dict[tuple[object, ...], tuple[object, ...]] = {}
    notices: list[Notice] = []
    for each in watched:
        try:
            distribution = _distribution(each.kafka, each.software, progress)
            for row in _lines(each.profile, each.kafka, each.watched, distribution, progress):
                rows[row[:3] + row[5:7]] = row
            notices += [(".", reported, False) for reported in _lacking(each.profile, each.watched, distribution)]
        except KmigrateError as error:
            notices.append((".", f"which lines of Kafka {each.kafka} were executed is not known: {error}", False))
    return tables.spark.createDataFrame(list(rows.values()), schemas.TABLES["code_lines"]), notices


def _distribution(kafka: str, software: Sequence[str], progress: Progress) -> Distribution:
    """What the runs ran; of several distributions the one of the release that they are about."""
    named = next((each for each in software if each == kafka), software[0])
    return resolve(named, progress=progress, archive=False)


def _lines(
    profile: str, kafka: str, patterns: Sequence[str], distribution: Distribution, progress: Progress
) -> Iterator[tuple[object, ...]]:
    """Rows of the table."""
    for each in code_lines(distribution, patterns, progress):
        place = (each.class_name, each.class_id, each.source, each.method, each.line)
        yield (profile, kafka, *place, list(each.probes))


def _lacking(profile: str, patterns: Sequence[str], distribution: Distribution) -> Iterator[str]:
    """A sentence for each pattern of classes that the distribution lacks, though its release has such classes."""
    known = {each.id: each for each in code_of(profile)} if profile in profiles() else {}
    for pattern in patterns:
        is_expected = pattern not in known or known[pattern].is_in(distribution.version)
        if is_expected and not any(True for _ in classes_in(distribution.jars, [pattern])):
            yield (
                f"Kafka {distribution.version}: expected classes {pattern} to watch, got none in its jars; if they "
                "have other names there, give those by --kmigrate-classes"
            )
