"""Locking: how the lists in ``locks/`` are made.

To add a release: ``python -m pytest_kmigrate.distributions.locking 4.3.0``.
A lock names every jar of one Kafka release with its SHA-256. Here Ivy walks the poms and checks SHA-1 sums; users
download exactly what was locked.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

from pytest_kmigrate.distributions.ivy import FILE_PATTERN, Artifact, module_file, run_ivy, settings_file
from pytest_kmigrate.distributions.manifest import Jar, Manifest, sha256_of

LOCKS = Path(__file__).parent / "locks"
WITH_POMS_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <property name="ivy.maven.lookup.sources" value="false"/>
  <property name="ivy.maven.lookup.javadoc" value="false"/>
  <resolvers>
    <ibiblio name="central" m2compatible="true" useMavenMetadata="false" checksums="sha1"/>
  </resolvers>
</ivysettings>
"""
# Connect's runtime brings a web server and 40 jars that no node, command or check of ours ever loads.
LEFT_OUT = '<exclude org="org.apache.kafka" module="connect-runtime"/>'
LOG4J = "org.apache.logging.log4j"
# From 4.0 the poms name at most log4j-core and nothing that ties slf4j to it: without these a node logs nothing.
LOG_BINDING = ("log4j-api", "log4j-core", "log4j-slf4j-impl", "log4j-1.2-api")
LOG4J_WHERE_UNNAMED = "2.24.3"


def lock(version: str, work: Path) -> Manifest:
    """Resolve one Kafka release by its poms and write down exactly what it consists of."""
    artifacts = _resolved(version, work)
    bound = _log_binding(artifacts)
    if bound:
        module = module_file((_dependency(extra, transitive=False) for extra in bound), work / f"log-{version}.xml")
        _retrieve(module, work, work / version)
    jars = [_jar(artifact, work / version) for artifact in [*artifacts, *bound]]
    return Manifest("kafka", version, tuple(sorted(jars, key=lambda jar: jar.name)))


def _log_binding(artifacts: list[Artifact]) -> list[Artifact]:
    """The jars that must be added so that what the release logs appears somewhere; none up to 3.9 (reload4j)."""
    revisions = {artifact.module: artifact.revision for artifact in artifacts}
    if "slf4j-reload4j" in revisions:
        return []
    log4j = revisions.get("log4j-core", LOG4J_WHERE_UNNAMED)
    return [Artifact(LOG4J, module, log4j) for module in LOG_BINDING if module not in revisions]


def _resolved(version: str, work: Path) -> list[Artifact]:
    wanted = [Artifact("org.apache.kafka", module, version) for module in ("kafka_2.13", "kafka-tools")]
    dependencies = [*(_dependency(artifact, transitive=True) for artifact in wanted), LEFT_OUT]
    module = module_file(dependencies, work / f"kafka-{version}.xml")
    _retrieve(module, work, work / version)
    report = ET.parse(work / "cache" / f"pytest-kmigrate-{module.stem}-default.xml")  # noqa: S314  # Ivy wrote it
    return [
        Artifact(found.get("organisation", ""), found.get("name", ""), revision.get("name", ""))
        for found in report.iter("module")
        for revision in found.iter("revision")
        if revision.find("artifacts/artifact") is not None
    ]


def _dependency(artifact: Artifact, *, transitive: bool) -> str:
    return (
        f'<dependency org="{artifact.organisation}" name="{artifact.module}" rev="{artifact.revision}" '
        f'transitive="{str(transitive).lower()}" conf="default->runtime,master"/>'
    )


def _retrieve(module: Path, work: Path, libs: Path) -> None:
    arguments = ["-settings", str(settings_file(work, WITH_POMS_SETTINGS)), "-ivy", str(module)]
    arguments += ["-cache", str(work / "cache"), "-types", "jar", "bundle"]
    run_ivy([*arguments, "-retrieve", f"{libs}/{FILE_PATTERN}"], lambda _line: None)


def _jar(artifact: Artifact, libs: Path) -> Jar:
    file = libs / artifact.file_name
    return Jar(file.name, file.stat().st_size, sha256_of(file), str(artifact))


def _lock_all(versions: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="kmigrate-lock-") as folder:
        for version in versions:
            manifest = lock(version, Path(folder))
            (LOCKS / f"{version}.json").write_text(manifest.text())
            sys.stdout.write(f"{version}: {len(manifest.jars)} jars\n")
            shutil.rmtree(Path(folder) / version)


if __name__ == "__main__":
    _lock_all(sys.argv[1:])
