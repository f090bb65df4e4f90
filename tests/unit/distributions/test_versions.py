"""Which release jars are of, by their names and by their code."""

import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.versions import release_in
from pytest_kmigrate.model.errors import DistributionError
from tests.unit.distributions.conftest import small_jar

LEVELS = "org/apache/kafka/server/common/MetadataVersion.class"


def kafka(folder: Path, version: str, *levels: str) -> Path:
    """The jars of a Kafka that calls itself by this version, and knows these levels of metadata."""
    small_jar(folder, f"kafka-clients-{version}.jar")
    with zipfile.ZipFile(folder / f"kafka-server-common-{version}.jar", "w") as archive:
        if levels:
            archive.writestr(LEVELS, b"\x01".join(f"IBP_{level}_IV0".encode() for level in levels))
    return folder


@pytest.mark.parametrize(
    ("version", "levels", "release"),
    [
        ("3.9.1", ("3_8", "3_9", "4_0"), "3.9.1"),
        ("3.6.2", ("3_5", "3_6"), "3.6.2"),
        ("3.4.1", ("3_4",), "3.4.1"),
        ("3.9.1-acme-7", ("3_9", "4_0"), "3.9.1-acme-7"),
        ("7.9.0-ccs", ("3_8", "3_9", "4_0"), "3.9.0"),
        ("7.6.1-ccs", ("3_5", "3_6"), "3.6.0"),
        ("3.2.3", (), "3.2.3"),
    ],
)
def test_a_number_of_a_vendor_is_read_as_a_release(
    tmp_path: Path, version: str, levels: tuple[str, ...], release: str
) -> None:
    """By the levels that the code knows: from 3.7 on one more than its own line. The vendor's patch is his own."""
    assert release_in(kafka(tmp_path, version, *levels)) == release


@pytest.mark.parametrize(("version", "levels"), [("3.9.1", ("3_5", "3_6")), ("3.6.2", ("3_8", "3_9", "4_0"))])
def test_a_release_that_the_code_is_not_of_is_refused(tmp_path: Path, version: str, levels: tuple[str, ...]) -> None:
    """It would be judged by the known bugs and deviations of another one."""
    with pytest.raises(DistributionError, match=rf"expected the code of Kafka {version}, .* got code of Kafka 3\."):
        release_in(kafka(tmp_path, version, *levels))
