"""What tables of an analysis call a Kafka."""

from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.model.provider import Artifact


def name_of(kafka: str) -> str:
    """A release by its number, a build by that and what distinguishes it; ``kafka`` is a release or a path."""
    made = resolve(kafka, progress=lambda _: None, archive=False)
    return Artifact(made.version, made.digest, made.build).name
