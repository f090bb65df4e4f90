"""Reads adapters: TOML in, how an image is run out, or one error with every mistake of the file."""

import hashlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_kmigrate.distributions.distribution import Image
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.providers.docker.adapters.format import TABLES, AdapterFile
from pytest_kmigrate.topology.loading import text_of, validated

SHIPPED = Path(__file__).parent
_FROM_THE_HUB = ("docker.io/library/", "docker.io/")


@dataclass(frozen=True)
class Adapter:
    """How one image is run; ``digest`` is that of the adapter's own text."""

    path: Path
    file: AdapterFile
    digest: str

    def image(self, image_id: str) -> Image:
        """The image of this id, as it is run by this adapter."""
        commands = self.file.commands
        return Image(
            id=image_id,
            kafka=tuple(commands.kafka),
            zookeeper=tuple(commands.zookeeper or ()),
            tool=tuple(commands.tool),
            environment=tuple(self.file.environment.items()),
            cannot=frozenset(self.file.cannot),
        )


def adapter_for(image: str) -> Adapter:
    """The first shipped adapter that is for an image of this name; WrongUseError when none is."""
    repository = repository_of(image)
    shipped = [adapter_at(path) for path in sorted(SHIPPED.glob("*.toml"))]
    for adapter in shipped:
        if any(fnmatchcase(repository, pattern) for pattern in adapter.file.images):
            return adapter
    known = ", ".join(each.path.stem for each in shipped)
    raise WrongUseError(
        f"image:{image}: expected an image that an adapter is for, got {repository}, which none of {known} is for; "
        f"write one and name it: --kmigrate-kafka image:{image}#ADAPTER.toml"
    )


def adapter_at(path: Path) -> Adapter:
    """The adapter in a file; TopologyError with every mistake of it."""
    text = text_of(path)
    file = validated(AdapterFile, TABLES, path, text)
    return Adapter(path, file, hashlib.sha256(text.encode()).hexdigest())


def repository_of(image: str) -> str:
    """The name of an image without tag and digest, and without the registry that is meant where none is named."""
    for prefix in _FROM_THE_HUB:
        image = image.removeprefix(prefix)
    folder, slash, last = image.partition("@")[0].rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"
