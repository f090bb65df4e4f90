"""What the values of a topology file may be: pydantic's types for ids, counts, releases, names and paths."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from pytest_kmigrate.distributions import versions
from pytest_kmigrate.distributions.distribution import RUNS_IMAGES, is_image, laid_down, unpacked_at
from pytest_kmigrate.distributions.releases import known_releases, nearest_releases
from pytest_kmigrate.model.errors import DistributionError
from pytest_kmigrate.model.topology import Listener, SecurityProtocol

NO_ZOOKEEPER_FROM = (4, 0, 0)
MOST_NODES = 199
"""The numbers above are those of clients: each link's address is made of two numbers."""
LARGEST_ID = 2_147_483_647
LARGEST_SERVER_ID = 255
MOST_EXTRA_LISTENERS = 5
LONGEST_NAME = 100

_VERSION = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_LEVEL = re.compile(r"[34]\.[0-9]{1,2}(-IV[0-9]{1,2})?")
_CLASS = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+")
_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._-]+)*")
_LISTENER = re.compile(r"[A-Z][A-Z0-9_]*")
VOTERS = (1, 3, 5)
"""How many nodes an ensemble or a quorum may have."""


def matching(pattern: re.Pattern[str], expected: str) -> AfterValidator:
    """Lets the texts through that are of this pattern; ``expected`` is what the mistake says of the others."""

    def checked(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(checked)


def version_of(kafka: str) -> tuple[int, int, int] | None:
    """The release that a ``kafka`` key names, or the jars in the folder it leads to; None if they name no release."""
    named = _VERSION.fullmatch(kafka)
    match = named or (_VERSION.match(_version_in(kafka)) if unpacked_at(kafka) else None)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _version_in(path: str) -> str:
    """The version of an unpacked distribution; empty if its jars are of no Kafka, which is reported when it is used."""
    try:
        return versions.version_of(path)
    except DistributionError:
        return ""


def _release_or_place(kafka: str) -> str:
    releases = known_releases()
    if is_image(kafka) and laid_down(kafka) is None:
        raise ValueError(f"expected a release or a path (an image is named by an option, with provider {RUNS_IMAGES})")
    if kafka in releases or laid_down(kafka) or kafka.startswith((".", "~")) or "/" in kafka:
        return kafka
    if _VERSION.fullmatch(kafka):
        nearest = ", ".join(nearest_releases(kafka))
        raise ValueError(f"expected a release from {releases[0]} to {releases[-1]} (nearest: {nearest})")
    if kafka[:1].isdigit():
        raise ValueError('expected a release with three numbers, such as "3.9.1"')
    raise ValueError('expected a release such as "3.9.1" or a path such as "./kafka"')


def _fit_for_a_folder(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("expected small letters, digits, dots and dashes (run folders are named after it)")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"expected at most {LONGEST_NAME} characters")
    return name


def _options(jvm: list[str]) -> list[str]:
    if not all(option.startswith("-") for option in jvm):
        raise ValueError('expected JVM options, each with its dash, such as "-XX:+UseG1GC"')
    if any(option.startswith("-Xmx") for option in jvm):  # the plan counts the memory that heap_mb names
        raise ValueError("expected no -Xmx, because heap_mb sets it")
    return jvm


def _among(number: int) -> int:
    # not a Literal, which would let true and 1.0 through, since both equal 1
    if number not in VOTERS:
        raise ValueError("expected " + " or ".join(map(str, VOTERS)))
    return number


def _each_once(ids: list[int]) -> list[int]:
    doubled = sorted({each for each in ids if ids.count(each) > 1})
    if doubled:
        raise ValueError(f"expected each id once and found {', '.join(map(str, doubled))} again")
    return ids


def _true_or_class(authorizer: object) -> object:
    # before the union of types is tried, which would give one mistake for each of them
    if not isinstance(authorizer, bool) and not (isinstance(authorizer, str) and _CLASS.fullmatch(authorizer)):
        raise ValueError('expected true, false or the name of a class such as "org.example.MyAuthorizer"')
    return authorizer


def _listener_names(extra: dict[str, SecurityProtocol]) -> dict[str, SecurityProtocol]:
    taken = [name for name in extra if name in tuple(Listener) or not _LISTENER.fullmatch(name)]
    if taken:
        raise ValueError(
            "expected names of capitals, digits and underscores, such as EXTERNAL, "
            f"besides {', '.join(Listener)}, and found {', '.join(map(repr, taken))}"
        )
    if len(extra) > MOST_EXTRA_LISTENERS:
        raise ValueError(f"expected at most {MOST_EXTRA_LISTENERS} listeners and found {len(extra)}")
    return extra


Kafka = Annotated[str, AfterValidator(_release_or_place)]
Properties = dict[str, str]
JvmOptions = Annotated[list[str], AfterValidator(_options)]
VoterCount = Annotated[int, AfterValidator(_among), Field(json_schema_extra={"enum": list(VOTERS)})]
NodeId = Annotated[int, Field(ge=0, le=LARGEST_ID)]
ServerId = Annotated[int, Field(ge=1, le=LARGEST_SERVER_ID)]
NodeIds = Annotated[list[NodeId], AfterValidator(_each_once), Field(min_length=1, max_length=MOST_NODES)]
ServerIds = Annotated[list[ServerId], AfterValidator(_each_once), Field(min_length=1, max_length=MOST_NODES)]
LogDirs = Annotated[int, Field(ge=1, le=16)]
Level = Annotated[str, matching(_LEVEL, 'a metadata.version such as "3.8" or "3.8-IV0"')]
Name = Annotated[str, AfterValidator(_fit_for_a_folder)]
Chroot = Annotated[str, matching(_PATH, 'the path of a znode without a slash at its end, such as "/kafka/prod"')]
Authorizer = Annotated[bool | str, BeforeValidator(_true_or_class)]
Release = Annotated[str, matching(_VERSION, 'a release with three numbers, such as "3.5.0"')]
ExtraListeners = Annotated[dict[str, SecurityProtocol], AfterValidator(_listener_names)]
Start = Literal["at-once", "later", "by-migration"]
HeapMb = Annotated[int, Field(ge=64, le=65536)]
