"""A vendor's image on an engine of the tests' own: a stand-in that is laid out otherwise than anything of ours."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.evidence_of_runs import evidence_of
from pytest_kmigrate.providers.bench import SMALLEST
from pytest_kmigrate.providers.owned.software import software_for
from tests.real.providers import images_in_containers
from tests.real.providers.private_engine import PrivateEngine, private_engine
from tests.real.providers.stand_in.building import ADAPTER, IMAGE, build, forget
from tests.real.providers.test_containers import WHOLE

QUICK = "not TestImage"
MIGRATION = "pytest_kmigrate.suites.kip_866.test_live_migration::test_live_migration_survives_a_crash_and_a_cut_link"


@pytest.fixture
def engine() -> Iterator[PrivateEngine]:
    """It has the image; what is fetched is fetched before, as in the engine's namespace there is no way out."""
    software_for(SMALLEST, print)
    with private_engine() as started:
        image_id = build(started.socket)
        yield started
    forget(image_id)


def test_a_vendors_image_is_run_as_it_is(engine: PrivateEngine, tmp_path: Path) -> None:
    """The contract of providers holds for it, and one that cannot be run is reported in a sentence."""
    chosen = [] if WHOLE else ["-k", QUICK]
    engine.pytest(tmp_path / "state", str(images_in_containers.__file__), *chosen)


@pytest.mark.nightly
def test_a_vendors_image_is_migrated(engine: PrivateEngine, tmp_path: Path) -> None:
    """Under faults, from ZooKeeper to the end; its header has what a certificate needs."""
    runs, kafka = tmp_path / "runs", f"image:{IMAGE}#{ADAPTER}"
    options = ["--kmigrate-provider", "docker", "--kmigrate-kafka", kafka, "--kmigrate-runs", str(runs)]
    engine.pytest(tmp_path / "state", "--pyargs", MIGRATION, *options)
    (header,) = (json.loads(file.read_bytes()) for file in runs.glob("*/run.json"))
    assert (header["kafka"], header["provider"]) == ("3.9.1", "docker")
    more = header["extra"]
    assert more["images"].keys() == more["distribution_digests"].keys() == {kafka}
    assert os.fspath(ADAPTER) in more["reproduce"]
    certified = evidence_of(runs, "kip-866")
    assert certified.image is not None
    assert (certified.image.name, certified.digest) == (IMAGE, more["distribution_digests"][kafka])
