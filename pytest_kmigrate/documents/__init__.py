"""One folder for each document one can certify against; ``document`` finds them by the profile's name."""

import importlib
from functools import cache

from pytest_kmigrate.catalogue import PROFILES
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import WrongUseError


@cache
def document(profile: str) -> Document:
    """The document of a profile; WrongUseError when there is none of that name."""
    if profile not in PROFILES:
        raise WrongUseError(f"profile: expected one of {', '.join(PROFILES)}, got {profile!r}")
    module = importlib.import_module(f"pytest_kmigrate.documents.{profile.replace('-', '_')}.document")
    found: Document = module.DOCUMENT
    return found


def documents() -> tuple[Document, ...]:
    """Every document, in the order of the profiles."""
    return tuple(document(profile) for profile in PROFILES)
