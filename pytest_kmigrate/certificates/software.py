"""The software of a reader, as digests: whether a certificate is about the jars or the image that one has."""

import re
from dataclasses import dataclass

from pytest_kmigrate.certificates.statement import Artifact
from pytest_kmigrate.distributions.classes import digest_of_classes
from pytest_kmigrate.distributions.distribution import is_image
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.model.errors import CertificateError, WrongUseError

_SHA256 = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Digests:
    """What one Kafka is known by; empty: not known."""

    sha256: str
    classes: str = ""
    image: str = ""
    """The id of the container image that it comes in."""


def digests_of_software(given: str) -> Digests:
    """The digests of an unpacked Kafka, a release or an image; WrongUseError for anything else."""
    if match := _SHA256.fullmatch(given.lower()):
        return Digests(match[1])
    if given.lower().startswith("sha256:"):
        raise WrongUseError(f"{given!r}: expected sha256: and 64 hexadecimal digits, a folder, a release or image:NAME")
    if is_image(given):
        from pytest_kmigrate.providers.docker.images import brought  # noqa: PLC0415 - few readers have an engine

        found = brought(given, lambda _: None)
    else:
        found = resolve(given, progress=lambda _: None, archive=False)
    image = found.image.id.removeprefix("sha256:") if found.image else ""
    return Digests(found.digest, digest_of_classes(found.jars), image)


def must_be_of(given: str, artifact: Artifact, where: str) -> None:
    """CertificateError unless a certificate is about this software; a digest may be that of its image."""
    own = digests_of_software(given)
    if own.sha256 == artifact.sha256 and own.classes and artifact.classes not in ("", own.classes):
        raise CertificateError(
            f"{where}: expected the digest {own.classes[:12]} of the classes of {given}, got {artifact.classes[:12]}: "
            "the seeds of its challenge do not follow from its software"
        )
    tested = {artifact.sha256, *({artifact.image.sha256} if artifact.image else ())}
    if own.sha256 not in tested or (own.image and artifact.image and own.image != artifact.image.sha256):
        got = f"sha256:{own.image if own.sha256 in tested else own.sha256}"
        alike = "; its classes are the same, other files in its jars are not" if _alike(own, artifact) else ""
        raise CertificateError(
            f"{where}: expected a certificate of {given} ({got}), got one of {artifact.name} "
            f"(sha256:{artifact.sha256}){alike}: it is about other software"
        )


def _alike(own: Digests, artifact: Artifact) -> bool:
    return bool(own.classes) and own.classes == artifact.classes and own.sha256 != artifact.sha256
