"""The Java agents loaded into nodes: Jolokia answers for JMX over HTTP, Byteman breaks code at an exact point."""

from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress
from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.manifest import Jar, Manifest

JOLOKIA_JAR = Jar(
    "jolokia-agent-jvm-2.2.9-javaagent.jar",
    677025,
    "f5c4b31eeeb602888346ce7b545a885cb7caf932eff3b1b630e93cc720483429",
    "org.jolokia:jolokia-agent-jvm:2.2.9:javaagent",
)
BYTEMAN_JAR = Jar(
    "byteman-4.0.24.jar",
    859770,
    "d3a5299e42ce0775243818e739ccadfdb24922d11656ca9037f3673055369350",
    "org.jboss.byteman:byteman:4.0.24",
)
AGENTS_FOLDER = "agents"
JOLOKIA = Manifest("jolokia", "2.2.9", (JOLOKIA_JAR,))
BYTEMAN = Manifest("byteman", "4.0.24", (BYTEMAN_JAR,))


def jolokia_jar(progress: Progress) -> Path:
    """The Jolokia JVM agent, for ``-javaagent:``."""
    return _only_jar(JOLOKIA, progress)


def byteman_jar(progress: Progress) -> Path:
    """Byteman, for ``-javaagent:`` with ``script:FILE``."""
    return _only_jar(BYTEMAN, progress)


def take_agents(unpacked: Path, progress: Progress) -> None:
    """Put the agents that ``kmigrate fetch`` laid into an unpacked distribution into the cache: no network needed."""
    folder = unpacked / AGENTS_FOLDER
    if folder.is_dir():
        for lock in (JOLOKIA, BYTEMAN):
            cached_jars(lock, progress, nearby=folder)


def _only_jar(lock: Manifest, progress: Progress) -> Path:
    return cached_jars(lock, progress) / lock.jars[0].name
