"""Features of one node, asked and changed by requests as they are on the wire."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from kio.schema.api_versions.v3 import response as asked
from kio.schema.errors import ErrorCode
from kio.schema.update_features.v0 import response as updated_v0
from kio.schema.update_features.v1 import response as updated
from kio.schema.update_features.v2 import response as updated_v2
from kio.static.primitive import i16, i64

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.wire.features import (
    SAFE_DOWNGRADE,
    FeatureAnswer,
    NodeFeatures,
    features_asked_again,
    node_features_at,
    update_features_at,
)
from tests.unit.wire.test_describing import AT_ONCE
from tests.unit.workloads.played_broker import answer_on, played_broker, request_on

SAID = asked.ApiVersionsResponse(
    error_code=ErrorCode.none,
    api_keys=(asked.ApiVersion(api_key=i16(57), min_version=i16(0), max_version=i16(1)),),
    throttle_time=AT_ONCE,
    supported_features=(asked.SupportedFeatureKey(name="metadata.version", min_version=i16(1), max_version=i16(21)),),
    finalized_features_epoch=i64(8),
    finalized_features=(
        asked.FinalizedFeatureKey(name="metadata.version", max_version_level=i16(7), min_version_level=i16(7)),
    ),
)


@contextmanager
def answering(answer: Any, requests: list[bytes], times: int = 1) -> Iterator[str]:
    """A broker that answers so many requests on one connection with this message, and then hangs up."""
    tagged = b"" if isinstance(answer, asked.ApiVersionsResponse) else bytes(1)

    def play(connection: socket.socket) -> None:
        for _ in range(times):
            requests.append(request_on(connection))
            answer_on(connection, bytes([0, 0, 0, 1]) + tagged, answer)

    with played_broker(play) as address:
        yield address


def test_a_node_says_what_it_supports_and_what_is_finalized() -> None:
    """Ranges by feature and by the key of a request."""
    with answering(SAID, []) as address:
        seen = node_features_at(address)
    level = {"metadata.version": (7, 7)}
    assert seen == NodeFeatures({"metadata.version": (1, 21)}, level, 8, {57: (0, 1)})


def test_a_node_that_knows_no_version_4_is_asked_by_its_last() -> None:
    """Kafka 3.7 and before answer an unknown version by one that cannot be read as any other."""
    last = asked.ApiVersion(api_key=i16(18), min_version=i16(0), max_version=i16(3))
    requests: list[bytes] = []
    said = replace(SAID, api_keys=(*SAID.api_keys, last))

    def play(connection: socket.socket) -> None:
        requests.append(request_on(connection))
        answer_on(connection, bytes([0, 0, 0, 1]), said)

    with played_broker(play, play) as address:
        assert node_features_at(address, version=4).finalized == {"metadata.version": (7, 7)}
    assert [request[:4] for request in requests] == [bytes([0, 18, 0, 3])] * 2


def test_one_connection_is_asked_again_until_it_is_closed() -> None:
    """Whether a broker closes it is what a test wants to know."""
    with answering(SAID, [], times=2) as address, features_asked_again(address) as ask:
        assert ask().epoch == ask().epoch == 8
        with pytest.raises(AwaitTimeoutError, match=r"the broker closed the connection|ConnectionReset"):
            ask()


def test_an_update_is_answered_for_all_and_for_each() -> None:
    """The error of one feature is the first one where the whole request has none."""
    bad = updated.UpdatableFeatureResult(feature="x", error_code=ErrorCode.invalid_update_version, error_message="no")
    answer = updated.UpdateFeaturesResponse(
        throttle_time=AT_ONCE, error_code=ErrorCode.none, error_message=None, results=(bad,)
    )
    requests: list[bytes] = []
    with answering(answer, requests) as address:
        seen = update_features_at(address, {"x": 3}, SAFE_DOWNGRADE, dry_run=True)
    assert seen == FeatureAnswer("NONE", "", {"x": ("INVALID_UPDATE_VERSION", "no")})
    assert seen.first_error == "INVALID_UPDATE_VERSION"
    assert b"\x02x\x00\x03\x02" in requests[0], "level 3 by a safe downgrade"


def test_an_answer_without_results_has_one_error() -> None:
    """As from version 2 on."""
    answer = updated_v2.UpdateFeaturesResponse(
        throttle_time=AT_ONCE, error_code=ErrorCode.invalid_update_version, error_message="no"
    )
    with answering(answer, []) as address:
        seen = update_features_at(address, {"x": 3}, version=2)
    assert (seen.first_error, seen.text, seen.of_each) == ("INVALID_UPDATE_VERSION", "no", {})


def test_the_first_version_knows_a_boolean_only() -> None:
    """A downgrade of any kind is allowed by it, and it has no dry run."""
    answer = updated_v0.UpdateFeaturesResponse(
        throttle_time=AT_ONCE, error_code=ErrorCode.none, error_message=None, results=()
    )
    requests: list[bytes] = []
    with answering(answer, requests) as address:
        assert update_features_at(address, {"x": 3}, SAFE_DOWNGRADE, version=0).first_error == "NONE"
    assert b"\x02x\x00\x03\x01" in requests[0]
