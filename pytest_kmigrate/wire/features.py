"""Features of one chosen node, such as ``metadata.version``: what it supports, what is finalized, and how to change it.

Errors are those of ``wire.ask``.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kio.static.primitive import i8, i16

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, CLIENT_ID, as_timeout, ask, conversation, named

Range = tuple[int, int]
"""The lowest and the highest."""

_API_VERSIONS = 18
"""Kafka's number of the request."""
_KNOWN_TO_ALL = 3

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
"""Kafka's types of an update, from version 1 of the request on."""


@dataclass(frozen=True)
class NodeFeatures:
    """What a node answers to an ApiVersions request."""

    supported: Mapping[str, Range]
    """By feature. Version 3 of the answer leaves out those whose minimum is 0."""
    finalized: Mapping[str, Range]
    """By feature, the levels in force; Kafka answers the same one twice."""
    epoch: int
    """Of the finalized features; -1 if the node knows of none."""
    requests: Mapping[int, Range]
    """The versions that the node takes of each request, by its key."""


@dataclass(frozen=True)
class FeatureAnswer:
    """The answer to an UpdateFeatures request: error by Kafka's name (or ``NONE``) and text, of all and of each."""

    error: str
    text: str
    of_each: Mapping[str, tuple[str, str]]
    """By feature, error and text; empty where an answer has no results, as from version 2 on."""

    @property
    def first_error(self) -> str:
        """The error of the whole request, else the first of a feature, else ``NONE``."""
        errors = [self.error, *(error for error, _ in self.of_each.values())]
        return next((each for each in errors if each != "NONE"), "NONE")


def node_features_at(peer: Peer | str, *, version: int = 3, within_s: float = ANSWER_WITHIN_S) -> NodeFeatures:
    """What a node supports and takes for finalized, by this version (3 or 4) of the ApiVersions request.

    A node of Kafka 3.7 or before, which knows no version 4, is asked by the highest that it knows.
    """

    def asked(version: int) -> NodeFeatures:
        return _features_asked(lambda request, answer_type: ask(peer, request, answer_type, within_s), version)

    if version == _KNOWN_TO_ALL:
        return asked(version)
    return asked(min(version, asked(_KNOWN_TO_ALL).requests[_API_VERSIONS][1]))


@contextmanager
def features_asked_again(peer: Peer | str) -> Iterator[Callable[[], NodeFeatures]]:
    """A function that asks a node for its features on one connection, held for as long as the block lasts.

    Errors are those of ``wire.conversation``.
    """
    with conversation(peer) as on_it:
        yield lambda: _features_asked(on_it, 3)


def _features_asked(asked: Callable[[Any, Any], Any], version: int) -> NodeFeatures:
    request, answers = _schemas("api_versions", version)
    names = {"client_software_name": CLIENT_ID, "client_software_version": "1"}
    answer = asked(request.ApiVersionsRequest(**names), answers.ApiVersionsResponse)
    return NodeFeatures(
        {each.name: (int(each.min_version), int(each.max_version)) for each in answer.supported_features},
        {each.name: (int(each.min_version_level), int(each.max_version_level)) for each in answer.finalized_features},
        int(answer.finalized_features_epoch),
        {int(each.api_key): (int(each.min_version), int(each.max_version)) for each in answer.api_keys},
    )


def update_features_at(
    peer: Peer | str,
    levels: Mapping[str, int],
    kind: int = UPGRADE,
    *,
    dry_run: bool = False,
    version: int = 1,
    within_s: float = ANSWER_WITHIN_S,
) -> FeatureAnswer:
    """Set features to levels in one request; ``dry_run`` only asks whether it could be done.

    Version 0 of the request knows neither ``dry_run`` nor kinds: any kind but an upgrade is its AllowDowngrade.
    """
    schema, answers = _schemas("update_features", version)
    keys = tuple(
        schema.FeatureUpdateKey(feature=name, max_version_level=i16(level), **_kind(version, kind))
        for name, level in levels.items()
    )
    later = {} if version == 0 else {"validate_only": dry_run}
    request = schema.UpdateFeaturesRequest(timeout=as_timeout(within_s), feature_updates=keys, **later)
    answer = ask(peer, request, answers.UpdateFeaturesResponse, within_s)
    results = getattr(answer, "results", ())
    of_each = {each.feature: (named(each.error_code), each.error_message or "") for each in results}
    return FeatureAnswer(named(answer.error_code), answer.error_message or "", of_each)


def _kind(version: int, kind: int) -> dict[str, object]:
    return {"allow_downgrade": kind != UPGRADE} if version == 0 else {"upgrade_type": i8(kind)}


def _schemas(message: str, version: int) -> tuple[Any, Any]:
    request, response = (import_module(f"kio.schema.{message}.v{version}.{part}") for part in ("request", "response"))
    return request, response
