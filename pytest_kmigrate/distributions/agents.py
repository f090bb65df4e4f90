"""The Java agents loaded into nodes.

Jolokia answers for JMX over HTTP, Byteman breaks code at an exact point, JaCoCo records which code is executed.
"""

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
JACOCO_JAR = Jar(
    "org.jacoco.agent-0.8.14-runtime.jar",
    306809,
    "3fb76eea65f81bd9415202bab34b6571728841dff1ab8e6bbe81adc2e299face",
    "org.jacoco:org.jacoco.agent:0.8.14:runtime",
)
AGENTS_FOLDER = "agents"
JOLOKIA = Manifest("jolokia", "2.2.9", (JOLOKIA_JAR,))
BYTEMAN = Manifest("byteman", "4.0.24", (BYTEMAN_JAR,))
JACOCO = Manifest("jacoco", "0.8.14", (JACOCO_JAR,))


def jolokia_jar(progress: Progress) -> Path:
    """The Jolokia JVM agent, for ``-javaagent:``."""
    return _only_jar(JOLOKIA, progress)


def byteman_jar(progress: Progress) -> Path:
    """Byteman, for ``-javaagent:`` with ``script:FILE``."""
    return _only_jar(BYTEMAN, progress)


def jacoco_jar(progress: Progress) -> Path:
    """JaCoCo's agent, for ``-javaagent:`` with the classes to watch; downloaded when it is first asked for."""
    return _only_jar(JACOCO, progress)


def take_agents(unpacked: Path, progress: Progress) -> None:
    """Put the agents that ``kmigrate fetch`` laid into an unpacked distribution into the cache: no network needed."""
    folder = unpacked / AGENTS_FOLDER
    if folder.is_dir():
        for lock in (JOLOKIA, BYTEMAN, JACOCO):
            if all((folder / jar.name).is_file() for jar in lock.jars):  # of an older release some are not there
                cached_jars(lock, progress, nearby=folder)


def _only_jar(lock: Manifest, progress: Progress) -> Path:
    return cached_jars(lock, progress) / lock.jars[0].name
