"""Apache Ivy, whose jar lies here unchanged: it talks to Maven Central, or to the mirror that its settings name.

We state no address: Ivy knows its default repository. Jars we know by SHA-256 need no poms, which are nine tenths
of the requests, and are independent of each other: so a few Ivy processes share them (6 s instead of 90 s).
"""

import concurrent.futures
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies
from xml.sax.saxutils import quoteattr

from pytest_kmigrate.distributions.java import bound_to_us, find_java, java_environment
from pytest_kmigrate.model.errors import DistributionError, WrongUseError

IVY = Path(__file__).parent / "vendored" / "ivy-2.5.3.jar"
"""Licensed under Apache-2.0; its licence and notice are in its META-INF."""
IVY_SHA256 = "9502aa5aabf0b1484924a13ef4b5d24f121f7f91aab6768f11cc9d0906c0803b"
SETTINGS_VARIABLE = "KMIGRATE_IVY_SETTINGS"
PROCESSES = 3
FILE_PATTERN = "[artifact]-[revision](-[classifier]).[ext]"
# No poms: the lists of jars are complete. No SHA-1 sums: the SHA-256 of every jar is known and checked afterwards.
JARS_ONLY_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers>
    <ibiblio name="central" m2compatible="true" usepoms="false" useMavenMetadata="false" checksums=""/>
  </resolvers>
</ivysettings>
"""
_EXCEPTION = 'Exception in thread "main" '
_REASON = re.compile(
    rf"^({_EXCEPTION}|Server access error|SERVER ERROR|Host \S+ not found|\[FAILED|Unrecognized option)|proxy requires"
)
"""The lines that say why a download failed, among those that only say that it did."""
_NO_REASON = re.compile(r"at \S+\(|\.\.\. \d+ more|Caused by: |:: USE VERBOSE|Picked up ")
"""Stack frames, and advice that is none to us."""


@dataclass(frozen=True)
class Artifact:
    """One jar by its Maven coordinate."""

    organisation: str
    module: str
    revision: str
    classifier: str = ""

    @classmethod
    def parsed(cls, source: str) -> "Artifact":
        """From ``organisation:module:revision`` or ``organisation:module:revision:classifier``."""
        return cls(*source.split(":"))

    def __str__(self) -> str:
        return ":".join(part for part in (self.organisation, self.module, self.revision, self.classifier) if part)

    @property
    def file_name(self) -> str:
        """The name Ivy gives the downloaded jar."""
        return "-".join(part for part in (self.module, self.revision, self.classifier) if part) + ".jar"


def download(artifacts: Sequence[Artifact], libs: Path, work: Path, on_jar: Callable[[], None]) -> None:
    """Download the jars into ``libs``; ``work`` is scratch space, ``on_jar`` is called as each one arrives."""
    slices = [part for part in (artifacts[first::PROCESSES] for first in range(PROCESSES)) if part]
    settings = settings_file(work, JARS_ONLY_SETTINGS)
    with concurrent.futures.ThreadPoolExecutor(max_workers=PROCESSES) as pool:
        runs = [pool.submit(_download_slice, part, libs, work / str(n), settings, on_jar)
                for n, part in enumerate(slices)]  # fmt: skip
        for run in runs:
            run.result()


def settings_file(work: Path, own: str) -> Path:
    """The settings Ivy is run with: the user's where the environment names them (a mirror), else ``own``."""
    named = os.environ.get(SETTINGS_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise WrongUseError(f"{SETTINGS_VARIABLE}: expected the path of an ivysettings.xml, got no file: {named}")
        return Path(named)
    file = work / "ivysettings.xml"
    file.write_text(own)
    return file


def run_ivy(arguments: Sequence[str], on_line: Callable[[str], None]) -> None:
    """Run Ivy to its end; DistributionError with the reason it gives when it fails."""
    flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", *_proxies(getproxies())]
    command = bound_to_us([str(find_java().path), *flags, "-jar", str(IVY), *arguments])
    said: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=java_environment()
    ) as process:
        try:
            for line in process.stdout or ():
                said.append(line.strip())
                on_line(line)
        except BaseException:  # also Ctrl-C: nothing may go on downloading behind our back
            process.kill()
            raise
    if process.returncode != 0:
        raise DistributionError(_failure(said))


def _proxies(named: Mapping[str, str]) -> list[str]:
    """Java's options for the proxies that the environment names, which Java itself does not read."""
    options = []
    for scheme in ("http", "https"):
        place = urlsplit(named.get(scheme, ""))
        if place.hostname:
            options += [f"-D{scheme}.proxyHost={place.hostname}", f"-D{scheme}.proxyPort={place.port or 80}"]
    return options


def module_file(dependencies: Iterable[str], file: Path) -> Path:
    """Write an Ivy module that depends on what is given as XML."""
    file.write_text(
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">\n'
        f'<info organisation="pytest-kmigrate" module={quoteattr(file.stem)} revision="1"/>\n'
        '<configurations><conf name="default"/></configurations>\n<dependencies>\n'
        + "\n".join(dependencies)
        + "\n</dependencies></ivy-module>\n"
    )
    return file


def _download_slice(
    artifacts: Sequence[Artifact], libs: Path, work: Path, settings: Path, on_jar: Callable[[], None]
) -> None:
    work.mkdir()
    module = module_file((_exactly(artifact) for artifact in artifacts), work / "jars.xml")
    arguments = ["-settings", str(settings), "-ivy", str(module), "-cache", str(work / "cache")]
    run_ivy(
        [*arguments, "-retrieve", f"{libs}/{FILE_PATTERN}"],
        lambda line: on_jar() if "[SUCCESSFUL ]" in line else None,
    )


def _exactly(artifact: Artifact) -> str:
    name, classifier = quoteattr(artifact.module), quoteattr(artifact.classifier)
    only = f'<artifact name={name} type="jar" ext="jar" m:classifier={classifier}/>' if artifact.classifier else ""
    return (
        f"<dependency org={quoteattr(artifact.organisation)} name={name} rev={quoteattr(artifact.revision)} "
        f'transitive="false" conf="default->default">{only}</dependency>'
    )


def _failure(said: Iterable[str]) -> str:
    """One sentence: of a jar that cannot be had Ivy says a dozen lines, and they all look alike."""
    lines = [line for line in said if line.strip(":").strip() and not _NO_REASON.match(line)]
    if any("No space left on device" in line for line in lines):
        return "the disk is full: expected room for about 150 MB in the cache folder, got none; free some"
    reason = next((line for line in lines if _REASON.search(line)), lines[-1] if lines else "nothing at all")
    return (
        f"Ivy could not download everything, and says: {reason.removeprefix(_EXCEPTION).strip(': ')}; "
        f"check the network; behind a mirror set {SETTINGS_VARIABLE} to an ivysettings.xml that names it; "
        "without any network use a folder made elsewhere by: kmigrate fetch VERSION --to DIR"
    )
