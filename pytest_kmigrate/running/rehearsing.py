"""A rehearsal of an implementation under test: a cluster, a small script, and what is missing."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_kmigrate.model.document import Document, Rehearsal
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.running.header import Claim, RunSettings
from pytest_kmigrate.running.run import open_run
from pytest_kmigrate.topology.loading import find, load


def rehearse(
    document: Document, command: Sequence[str], provider: Provider, kafka: str | None, notify: Callable[[str], None]
) -> Rehearsal:
    """Run the command by the document's script; WrongUseError for a document without members."""
    if document.members is None or document.members.script is None:
        raise WrongUseError(f"--profile: expected a document about consumer groups, such as kip-125; got {document.id}")
    topology = load(find(document.members.topology), kafka=kafka, option="--kafka")
    with tempfile.TemporaryDirectory(prefix="kmigrate-rehearsal-") as folder:
        settings = RunSettings(runs=Path(folder), seed=1, profile=document.id, member=command)
        notify(f"starting {topology.name} on Kafka {topology.kafka}")
        with open_run(settings, provider, topology, Claim("rehearsal"), lambda _folder: None) as run:
            notify("members run")
            return document.members.script(run.scene, run.members, run.traffic)
