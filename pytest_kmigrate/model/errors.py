"""Everything pytest-kmigrate raises on purpose, each with the exit status the console command ends with.

    KmigrateError
    ├── WrongUseError (2)            what was asked for makes no sense: option, file, name
    │   ├── TopologyError            one topology file, all its mistakes at once
    │   └── UnfitReleaseError        a topology or a step of a document that a release of Kafka cannot run
    ├── EnvironmentLackError (4)     this machine lacks something: Java, memory, a download, a free address
    │   └── DistributionError        a Kafka distribution or agent cannot be had or is damaged
    ├── ClusterError (3)             the cluster under test did not do what was awaited
    │   ├── NodeDiedError            a process ended by itself; carries the error that it logged
    │   ├── AwaitTimeoutError        something never became true; carries what was last seen
    │   └── NoEffectError            a hook that reported success, and changed nothing
    ├── HarnessLostError (3)         a part of the harness is gone, so nothing more can be seen of Kafka
    ├── NotApplicableError (3)       topology, provider or release cannot show it: nothing is said of Kafka
    └── RunFolderError (2)           a run folder is missing, incomplete or damaged
        └── CertificateError         a certificate, or the evidence of one, is damaged, forged or of another release

The numbers are those of ``exit_status.ExitStatus``.
"""

from collections.abc import Sequence

from pytest_kmigrate.model.exit_status import ExitStatus


class KmigrateError(Exception):
    """Base of all; its text is complete: what was expected, what was found, what to do."""

    exit_status = ExitStatus.OPEN


class WrongUseError(KmigrateError):
    """The caller asked for something that cannot be."""

    exit_status = ExitStatus.WRONG_USE


class TopologyError(WrongUseError):
    """One topology file is wrong; ``problems`` holds one sentence per mistake."""

    def __init__(self, file: str, problems: Sequence[str]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{file}: {problem}" for problem in self.problems))


class UnfitReleaseError(WrongUseError):
    """A release of Kafka cannot run this topology, or come to this state; a test is skipped with the reason.

    ``is_general``: it can run no topology of this kind at all, whatever else the file says.
    """

    def __init__(self, text: str, *, is_general: bool = False) -> None:
        self.is_general = is_general
        super().__init__(text)


class EnvironmentLackError(KmigrateError):
    """This machine lacks something the run needs."""

    exit_status = ExitStatus.LACKING


class DistributionError(EnvironmentLackError):
    """A Kafka distribution or an agent is missing, damaged or cannot be downloaded."""


class ClusterError(KmigrateError):
    """The cluster under test did not do what was awaited; by itself no verdict about Kafka.

    ``is_recorded``: the run's history has it, as a step that failed, an expectation that was not met or a node that
    ended. Checks judge that, and a known bug may explain it. Otherwise nothing explains that a test ended by it.
    """

    is_recorded = False


class NodeDiedError(ClusterError):
    """A node's process ended unexpectedly; ``said`` is the error that it logged."""

    def __init__(self, node: str, exit_code: int | None, said: str) -> None:
        self.node = node
        self.exit_code = exit_code
        super().__init__(f"{node} died with exit code {exit_code}: {said}")


class AwaitTimeoutError(ClusterError):
    """A condition never became true; says what was awaited, for how long, and what was last seen."""

    def __init__(self, awaited: str, within_s: float, last_seen: object) -> None:
        self.awaited = awaited
        self.within_s = within_s
        self.last_seen = last_seen
        super().__init__(f"{awaited}: not within {within_s:g} s; last seen: {last_seen}")


class NoEffectError(ClusterError):
    """What was done to a node reported success, and nothing came of it."""


class HarnessLostError(KmigrateError):
    """A part of the harness is gone; the run is INCONCLUSIVE."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: nothing is judged by what comes after that; run the test again")


class NotApplicableError(KmigrateError):
    """The topology, the provider or the release cannot show it; a test is skipped with the reason."""


class RunFolderError(WrongUseError):
    """A run folder is not one of ours, incomplete or damaged."""


class CertificateError(RunFolderError):
    """A certificate is none, damaged, forged or written by another release; or its evidence is not what it states."""
