"""What a container has mounted: everything once, at its own path, and only the cluster's own folders to write to."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from pytest_kmigrate.distributions.distribution import Distribution, Image
from pytest_kmigrate.providers.bench import SMALLEST
from pytest_kmigrate.providers.docker.mounts import Mounts
from pytest_kmigrate.providers.owned.software import Software


def test_software_is_read_only_and_the_clusters_folders_are_not(tmp_path: Path) -> None:
    """A folder that lies in another one is there already; a distribution that comes later is there from then on."""
    program = tmp_path / "cache" / "toxiproxy" / "server"
    jar = tmp_path / "cache" / "libs" / "kafka.jar"
    software = SimpleNamespace(
        java=Path("/usr/lib/jvm/a/bin/java"),
        jolokia=tmp_path / "cache" / "jolokia.jar",
        byteman=program,
        jacoco=None,
        planter=None,
        toxiproxy=program,
        distributions={"3.9.1": Distribution("3.9.1", (jar,), "digest")},
    )
    mounts = Mounts(cast("Software", software), SMALLEST, [tmp_path / "scratch"])
    later = Distribution("3.8.1", (tmp_path / "later" / "libs" / "kafka.jar",), "digest")
    assert mounts.add(later) is later
    found = {each["Target"]: each["ReadOnly"] for each in mounts.options()["Mounts"]}
    assert all(each["Source"] == each["Target"] for each in mounts.options()["Mounts"])
    own = {path: is_read_only for path, is_read_only in found.items() if path.startswith(str(tmp_path))}
    assert own == {
        str(tmp_path / "cache"): True,
        str(tmp_path / "later" / "libs"): True,
        str(tmp_path / "scratch"): False,
    }
    assert "/usr" in found
    assert "/usr/lib/jvm/a" not in found


def test_an_image_keeps_its_system_and_gets_agents(tmp_path: Path) -> None:
    """Whatever lies below /usr there stays; the jars of this machine are none of its nodes'."""
    software = SimpleNamespace(
        java=Path("/usr/lib/jvm/a/bin/java"),
        jolokia=tmp_path / "jolokia" / "agent.jar",
        byteman=tmp_path / "byteman" / "agent.jar",
        jacoco=tmp_path / "jacoco" / "agent.jar",
        planter=None,
        toxiproxy=tmp_path / "toxiproxy" / "server",
        distributions={},
    )
    mounts = Mounts(cast("Software", software), SMALLEST, [tmp_path / "scratch"])
    image = Image("sha256:1", ("/node",), (), ("/tool",), (), frozenset())
    mounts.add(Distribution("3.8.1", (tmp_path / "copies" / "kafka.jar",), "digest", image=image))
    found = {each["Target"]: each["ReadOnly"] for each in mounts.options(has_system=True)["Mounts"]}
    assert found == {
        str(tmp_path / "jolokia"): True,
        str(tmp_path / "byteman"): True,
        str(tmp_path / "jacoco"): True,
        str(tmp_path / "scratch"): False,
    }
    assert str(tmp_path / "copies") not in {each["Target"] for each in mounts.options()["Mounts"]}
