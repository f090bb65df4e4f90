"""One folder for each document one can certify against; ``document`` finds them by the profile's name.

Packages of others bring documents by an entry point of the group ``kmigrate.documents``.
"""

import importlib
from functools import cache

from pytest_kmigrate.catalogue import Place, place_of, profiles
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import WrongUseError


@cache
def document(profile: str) -> Document:
    """The document of a profile; WrongUseError when there is none of that name, or it cannot be loaded."""
    place = place_of(profile)
    try:
        module = importlib.import_module(f"{place.package}.document")
    # It may be a third party's code: whatever it raises is about this document, and reported with its name.
    except Exception as error:
        raise _unloadable(place, f"{type(error).__name__}: {error}") from error
    found = getattr(module, "DOCUMENT", None)
    if not isinstance(found, Document):
        raise _unloadable(place, f"{found!r} as DOCUMENT" if hasattr(module, "DOCUMENT") else "no DOCUMENT in it")
    if found.id != profile:
        raise _unloadable(place, f"one with the id {found.id!r}")
    return found


def documents() -> tuple[Document, ...]:
    """Every document, in the order of the profiles."""
    return tuple(document(profile) for profile in profiles())


def _unloadable(place: Place, got: str) -> WrongUseError:
    return WrongUseError(
        f"{place.origin}: expected {place.package}.document with DOCUMENT, a Document whose id is {place.profile!r}; "
        f"got {got}: repair it, or uninstall what brings it"
    )
