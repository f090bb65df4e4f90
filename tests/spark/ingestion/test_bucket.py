"""Runs and reports in a bucket: a real S3 store, started here, that verifies signatures."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.owned.supervisor import die_with_parent
from tests.spark.commands import counted, kmigrate, small_session
from tests.spark.elsewhere import analyzed, copied, killed_then_whole_then_again, write_night
from tests.spark.s3_store import OWNER, READER, Store, s3, submit_arguments

NIGHTS, NOBODYS, NO_BUCKET = "nights", "nobodys", "no-bucket"
WRONG_SECRET, UNKNOWN, READ_ONLY = "wrong-secret", "unknown", "read-only"

OF_BUCKETS = {
    f"{NIGHTS}.access.key": OWNER.id,
    f"{NIGHTS}.secret.key": OWNER.secret,
    f"{NO_BUCKET}.access.key": OWNER.id,
    f"{NO_BUCKET}.secret.key": OWNER.secret,
    f"{WRONG_SECRET}.access.key": OWNER.id,
    f"{WRONG_SECRET}.secret.key": READER.secret,
    f"{UNKNOWN}.access.key": "nobody",
    f"{UNKNOWN}.secret.key": OWNER.secret,
    f"{READ_ONLY}.access.key": READER.id,
    f"{READ_ONLY}.secret.key": READER.secret,
}
"""The client's settings of single buckets, by which these tests use many keys in one session."""

_while_this_process_lives = ExitStack()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A running store with all buckets that there are."""
    with s3(tmp_path_factory.mktemp("s3"), NIGHTS, NOBODYS, WRONG_SECRET, UNKNOWN, READ_ONLY) as running:
        yield running


@pytest.fixture(scope="module")
def pool(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessPoolExecutor]:
    """A process with a session of its own: the other tests' session has no client of S3, and one of them says so."""
    environment = {
        # Where a machine of Amazon's would ask for keys; here is none, and no other is to be asked.
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1",
        "PYSPARK_SUBMIT_ARGS": submit_arguments(store, {f"bucket.{name}": value for name, value in OF_BUCKETS.items()}),
    }
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    with ProcessPoolExecutor(1, get_context("spawn"), _begin, (environment, log)) as started:
        yield started


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a night on this machine."""
    folder = tmp_path_factory.mktemp("night")
    write_night(folder / "runs")
    return folder


def _begin(environment: dict[str, str], log: Path) -> None:
    """Start the session; the process keeps it until it ends, which is when pytest does, however that does."""
    die_with_parent()
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(environment)
    _while_this_process_lives.enter_context(small_session(log, writes_here=False))


def _uploaded(folder: Path, to: str) -> None:
    session = SparkSession.getActiveSession()
    assert session is not None
    copied(session, folder, to)


def test_a_bucket_gives_the_answers_of_this_machine(pool: ProcessPoolExecutor, night: Path) -> None:
    """Read from there and written there: killed before the new ledger has its name, then whole, then without news.

    Marts are written as these tables are, by the code that an HDFS has seen.
    """
    pool.submit(_uploaded, night / "runs", f"s3a://{NIGHTS}/runs").result()
    first, again = pool.submit(killed_then_whole_then_again, f"s3a://{NIGHTS}", counted).result()
    local = pool.submit(analyzed, str(night), counted).result()

    assert first.answers == local.answers
    assert again.answers == local.answers
    assert local.attempts != []
    assert (local.read, first.read, again.read, again.outcome) == (5, 5, 0, Outcome.VIOLATES)
    assert again.page == f"s3a://{NIGHTS}/report/index.html"


@pytest.mark.parametrize(
    ("bucket", "status", "reported", "requests"),
    [
        (WRONG_SECRET, 4, "Status Code: 403); check the address", 1),
        (UNKNOWN, 4, "Status Code: 403); check the address", 1),
        (NOBODYS, 4, "No AWS Credentials provided by ", 0),
        (NO_BUCKET, 2, "Status Code: 404); give a bucket that exists", 2),
    ],
)
@pytest.mark.parametrize("is_out", [False, True])
def test_a_bucket_that_refuses_is_told_before_anything_is_read(
    pool: ProcessPoolExecutor,
    store: Store,
    night: Path,
    tmp_path: Path,
    bucket: str,
    status: int,
    reported: str,
    requests: int,
    is_out: bool,
) -> None:
    """One line and the exit status, for runs and report alike; the store is not asked again and again."""
    before = store.requests(bucket)
    runs, out = (night / "runs", f"s3a://{bucket}/report") if is_out else (f"s3a://{bucket}/runs", tmp_path / "out")

    ended, printed = pool.submit(kmigrate, "analyze", runs, "--out", out).result()

    assert (ended, len(printed.splitlines())) == (status, 2), printed
    assert printed.startswith("starting Spark")
    assert reported in printed
    assert store.requests(bucket) - before == requests


def test_keys_that_may_not_write_are_told_in_one_line(pool: ProcessPoolExecutor, night: Path) -> None:
    """A store that refuses the first table: exit status 4, what it said, no stack trace."""
    status, printed = pool.submit(kmigrate, "analyze", night / "runs", "--out", f"s3a://{READ_ONLY}/report").result()

    assert status == 4
    assert "expected to read and write files, got " in printed.splitlines()[-1]
    assert "Traceback" not in printed
    assert "\tat " not in printed
