"""Circumstances of a run: what its header says besides whose run it is, with types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_kmigrate.model.fields import fields_of


@dataclass(frozen=True)
class Circumstances:
    """The keys of ``extra`` in ``run.json``; a key that a folder lacks, or holds otherwise, has its default."""

    command: Sequence[str] = ()
    """The words that the program was called with."""
    reproduce: str = ""
    """The command that does the run again, for a shell."""
    topology_digest: str | None = None
    distribution_digests: Mapping[str, str] | None = None
    """By version or path that the topology has, the digest of each Kafka."""
    distribution_classes: Mapping[str, str] | None = None
    images: Mapping[str, str] | None = None
    capabilities: Sequence[str] | None = None
    """What the provider offers; None: the folder is older than the table of them."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """By capability that the provider does not offer, why."""
    harness_digest: str | None = None
    pytest_kmigrate: str | None = None
    """Version of the plugin."""
    python: str = ""
    observed: bool = False
    """Whether an operator was watched, and nothing was tested."""
    source_digest: str | None = None
    byteman: str | None = None
    """The rules that were loaded into every JVM."""
    mutant: object = None
    """The class that was planted into every JVM, if one was."""
    exercise: Sequence[str] | None = None
    commit: str | None = None
    schedule: Mapping[str, object] | None = None
    """What the run carried out, if it was a schedule."""
    night: Mapping[str, object] | None = None
    """Which line of which night that was."""
    member: Sequence[str] = ()
    """The command of the member under test."""
    cold: bool | None = None
    """Whether its test began in a state that no checkpoint was taken for."""
    checkpoint: Mapping[str, object] | None = None
    scene: Mapping[str, object] | None = None
    session: str | None = None
    host: Mapping[str, object] = field(default_factory=dict)
    evidence: int = 0
    states: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By name of each state of the document, its values in their order."""


def circumstances_in(extra: Mapping[str, object]) -> Circumstances:
    """What the keys say."""
    known = {each.name: extra[each.name] for each in fields_of(Circumstances) if each.name in extra}
    fitting = {each.name for each in fields_of(Circumstances) if each.name in known and each.fits(known[each.name])}
    return Circumstances(**{name: value for name, value in known.items() if name in fitting})  # type: ignore[arg-type]
